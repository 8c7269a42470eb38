package agentlists

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/internal/agentlists/sqllist"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

// Bounds of the calls that are followed.
const (
	maxQueries = 256 << 10 // bytes of arguments and results
	maxCalls   = 1000
)

// table is the list of a tool that keeps it in a table, with which Copilot CLI works. Its
// statements are replayed as long as the results confirm them.
type table struct {
	tools   []toolcall.Name
	tool    string // of the newest call
	calls   []sqllist.Call
	unread  int  // bytes of arguments and results that may still be read
	written bool // in the current user turn
}

// Look notes a call whose statements are followed when the search has ended, oldest first.
func (t *table) Look(call todo.Call) (about, last bool) {
	if !toolcall.AnyNames(t.tools, call.Name) || !sqllist.Mentions(call.Arguments) {
		return false, false
	}
	size := len(call.Arguments) + len(call.Result)
	if size > t.unread || len(t.calls) == maxCalls {
		return true, true
	}
	t.unread -= size
	fields, err := toolcall.Fields(call.Arguments)
	query, ok := toolcall.Field(fields, "query", "sql").(string)
	if err != nil || !ok || toolcall.ReportsFailure(call.Result) {
		return true, false
	}
	if t.tool == "" {
		t.tool = strings.Clone(call.Name)
	}
	t.written = t.written || call.UserMessagesAfter == 0 && changesTable(query)
	t.calls = append(t.calls, sqllist.Call{Query: query, Result: call.Result})
	return true, false
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

// List returns the rows of the table.
func (t *table) List(iter.Seq[todo.Call]) ([]todo.Todo, todo.Origin, error) {
	origin := todo.Origin{Place: origins.ToolCalls, Tool: t.tool, Written: origins.Earlier}
	if t.written {
		origin.Written = origins.Now
	}
	if len(t.calls) == 0 {
		return nil, origin, todo.ErrNoList
	}
	rows, err := sqllist.Rows(func(yield func(sqllist.Call) bool) {
		for _, call := range slices.Backward(t.calls) {
			if !yield(call) {
				return
			}
		}
	})
	if err != nil {
		return nil, origin, err
	}
	list := make([]todo.Todo, len(rows))
	for i, row := range rows {
		list[i] = todo.Todo{ID: row.ID, Content: row.Title, Status: todo.Status(row.Status)}
	}
	return list, origin, nil
}
