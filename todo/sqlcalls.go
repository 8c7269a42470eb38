package todo

import (
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/todo/internal/sqllist"
)

// sqlCalls are the calls of a tool that keeps the list in a table, newest first.
type sqlCalls struct {
	tool  string
	calls []sqllist.Call
}

// mayUseSQL reports whether a call of a tool for SQL belongs to the list: it names the
// table, and no other tool has a newer list.
func (s *search) mayUseSQL(call *Call) bool {
	return s.origin.Tool == "" && sqllist.Mentions(call.Arguments)
}

// lookAtSQL notes a call whose statements are followed when the search has ended,
// oldest first.
func (s *search) lookAtSQL(call *Call) (last bool) {
	size := len(call.Arguments) + len(call.Result)
	if size > s.unread {
		s.cut = true
		return true
	}
	s.unread -= size
	fields, err := itemFields(call.Arguments)
	query, ok := field(fields, "query", "sql").(string)
	if err != nil || !ok || reportsFailure(call.Result) {
		return false
	}
	if s.sql.tool == "" {
		s.sql.tool = strings.Clone(call.Name)
	}
	s.wrote = s.wrote || call.UserMessagesAfter == 0 && changesTable(query)
	s.sql.calls = append(s.sql.calls, sqllist.Call{Query: query, Result: call.Result})
	return false
}

// changesTable reports whether a text has a statement that may change a table. It may be
// wrong for one that quotes such a statement.
func changesTable(query string) bool {
	for _, word := range strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch strings.ToLower(word) {
		case "insert", "update", "delete", "replace":
			return true
		}
	}
	return false
}

// list returns the rows of the table as a normalized list.
func (c *sqlCalls) list() ([]Todo, error) {
	rows, err := sqllist.Rows(func(yield func(sqllist.Call) bool) {
		for _, call := range slices.Backward(c.calls) {
			if !yield(call) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	list := make([]Todo, len(rows))
	for i, row := range rows {
		list[i] = Todo{ID: row.ID, Content: row.Title, Status: Status(row.Status)}
	}
	return list, normalize(list)
}
