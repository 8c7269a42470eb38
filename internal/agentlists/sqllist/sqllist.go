// Package sqllist follows the todo list that Copilot CLI keeps in a table of SQLite.
//
// The model sends statements to a tool named sql, and the tool tells how many rows
// each of them has inserted, changed or deleted:
//
//	INSERT INTO todos (id, title) VALUES ('a', 'Write a.txt'), ('b', 'Write b.txt')
//	2 row(s) inserted. Last inserted row ID: 2.
//
//	UPDATE todos SET status = 'done' WHERE id = 'a'
//	1 row(s) updated.
//
// A statement can do anything to a table. This package reads the forms that models
// use for a list, and compares its own rows with the tool's counts. If a statement has
// another form, or a count differs, the rows are unknown until the model reads the
// whole table or empties it. It never guesses.
package sqllist

import (
	"errors"
	"iter"
)

// Call is one call of the tool.
type Call struct {
	Query  string // one statement or several
	Result string // the tool's answer
}

// Row is a row of the table.
type Row struct {
	ID, Title string
	Status    string // as the model wrote it; "pending" if it wrote none
}

// maxRows is how many rows are followed. A statement may compare each of them with
// each of its constants.
const maxRows = 500

// Errors of Rows.
var (
	errEarlier   = errors.New("it has rows that the conversation does not hold")
	errStatement = errors.New("one of its SQL statements is of a kind that carryon does not read")
	errResult    = errors.New("the result of an SQL statement does not confirm what the statement says")
	errTooLong   = errors.New("it has more than 500 rows")
)

// Mentions reports whether the rows may depend on a query, so that it belongs to the
// calls of Rows.
func Mentions(query string) bool { return containsFold(query, todos) }

// Rows returns the rows of the table after calls, oldest first. It fails if they are
// not known. The strings are parts of the calls' strings.
func Rows(calls iter.Seq[Call]) ([]Row, error) {
	t := table{unknown: errEarlier}
	for call := range calls {
		t.run(&call)
	}
	return t.state()
}
