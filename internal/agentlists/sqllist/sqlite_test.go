package sqllist_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/agentlists/sqllist"
)

// Random programs run in SQLite. Rows must know the table as SQLite has it, or say
// that it does not know it.
func TestRowsAreThoseOfSQLite(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no sqlite3")
	}
	programs := make([][]sql, 1500)
	for i := range programs {
		programs[i] = newProgram(rand.New(rand.NewPCG(uint64(i), 0)))
	}
	command := exec.CommandContext(t.Context(), path, "-batch", "-noheader")
	command.Stdin = strings.NewReader(script(programs))
	out, _ := command.CombinedOutput() // it fails if a statement fails
	answers := strings.Split(string(out), "@program\n")[1:]
	require.Len(t, answers, len(programs))
	known := 0
	for i, program := range programs {
		parts := strings.Split(answers[i], "@\n")[1:]
		require.Len(t, parts, len(program)+1, answers[i])
		var calls []string
		for at, s := range program {
			calls = append(calls, s.text, s.result(parts[at]))
		}
		got, err := rows(t, calls...)
		if err != nil {
			continue
		}
		known++
		assert.Equal(t, byID(rowsOf(t, parts[len(program)])), byID(got), strings.Join(calls, "\n"))
	}
	assert.Greater(t, known, len(programs)/6)
}

// sql is a statement, and what the tool says of it: "inserted" with a count, for
// example.
type sql struct{ text, verb string }

// result returns the tool's answer. output has the errors, the number of rows that
// were changed, and the last row's id.
func (s sql) result(output string) string {
	if strings.Contains(output, "rror") {
		return "SQL Error: " + output
	}
	changes, last, _ := strings.Cut(strings.TrimSpace(output), "|")
	switch s.verb {
	case "":
		return "Schema operation completed successfully."
	case "inserted":
		return changes + " row(s) inserted. Last inserted row ID: " + last + "."
	}
	return changes + " row(s) " + s.verb + "."
}

// script returns the programs for the shell of SQLite.
func script(programs [][]sql) string {
	var b strings.Builder
	b.WriteString(".mode list\n")
	for _, program := range programs {
		b.WriteString(".print @program\nDROP TABLE IF EXISTS todos; DROP TABLE IF EXISTS notes;\n" +
			"CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT, status TEXT NOT NULL DEFAULT 'pending'\n" +
			"  CHECK (status IN ('pending', 'in_progress', 'done', 'blocked')), created_at TEXT, updated_at TEXT);\n" +
			"CREATE TABLE notes (id TEXT, title TEXT);\n")
		for _, s := range program {
			b.WriteString(".print @\n" + s.text + ";\nSELECT changes(), last_insert_rowid();\n")
		}
		b.WriteString(".print @\nSELECT json_group_array(json_object('ID', id, 'Title', title, 'Status', status)) FROM todos;\n")
	}
	return b.String()
}

func rowsOf(t *testing.T, array string) (all []sqllist.Row) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(array), &all))
	return all
}

func byID(rows []sqllist.Row) []sqllist.Row {
	sorted := append([]sqllist.Row{}, rows...)
	slices.SortFunc(sorted, func(a, b sqllist.Row) int { return strings.Compare(a.ID, b.ID) })
	return sorted
}

// newProgram returns statements that a model might write, and some that it would not.
func newProgram(r *rand.Rand) []sql {
	g := generator{r}
	program := []sql{g.insert()}
	for range 1 + r.IntN(6) {
		program = append(program, g.statement())
	}
	return program
}

type generator struct{ *rand.Rand }

func (g generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g generator) statement() sql {
	switch n := g.IntN(20); {
	case n < 5:
		return g.insert()
	case n < 13:
		return g.update()
	case n < 17:
		return sql{"DELETE FROM " + g.table() + g.where(), "deleted"}
	case n < 18:
		return sql{fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS t AFTER INSERT ON notes BEGIN %s UPDATE %s SET status = 'blocked'; END",
			g.one("", "DELETE FROM notes;"), g.table()), ""}
	}
	return sql{"INSERT INTO notes VALUES ('todos', 'todos')", "inserted"}
}

// table returns a name of the table, and sometimes that of another one.
func (g generator) table() string {
	if g.IntN(3) > 0 {
		return "todos"
	}
	return g.one("TODOS", "'todos'", "'Todos'", `"todos"`, "[todos]", "`Todos`", "main.todos", "'main'.'Todos'", "notes")
}

func (g generator) id() string { return g.one("'a'", "'b'", "'c'", "'d'", "1") }

func (g generator) text() string { return g.one("'x'", "'y; z'", "'it''s'", "7") }

func (g generator) status() string {
	return g.one("'pending'", "'in_progress'", "'done'", "'blocked'", "'done'", "'done'", "lower('DONE')")
}

// value returns an expression for a column.
func (g generator) value(column string) string {
	switch strings.ToLower(strings.Trim(column, `"'[]`)) {
	case "id":
		return g.id()
	case "status":
		return g.status()
	}
	return g.text()
}

func (g generator) insert() sql {
	columns := []string{g.one("id", "id", "id", "ID", `"id"`, "[id]"), "title"}
	for range g.IntN(3) {
		columns = append(columns, g.one("status", "status", "status", "description", "created_at", "updated_at", "id", "title"))
	}
	g.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	rows := make([]string, 1+g.IntN(3))
	for i := range rows {
		values := make([]string, len(columns))
		for at, column := range columns {
			values[at] = g.value(column)
		}
		rows[i] = "(" + strings.Join(values, ", ") + ")"
	}
	return sql{
		"INSERT " + g.one("", "", "OR IGNORE ", "OR REPLACE ") + "INTO " + g.table() + " (" + strings.Join(columns, ", ") + ") VALUES " +
			strings.Join(rows, ", "), "inserted",
	}
}

func (g generator) update() sql {
	sets := make([]string, 1+g.IntN(3))
	for i := range sets {
		column := g.one("status", "status", "title", "description", "updated_at", "STATUS", `"status"`)
		sets[i] = column + " = " + g.value(column)
	}
	return sql{"UPDATE " + g.table() + " SET " + strings.Join(sets, ", ") + g.where(), "updated"}
}

func (g generator) where() string {
	if g.IntN(5) == 0 {
		return ""
	}
	tests := make([]string, 1+g.IntN(3))
	for i := range tests {
		column := g.one("id", "id", "id", "status", "status", "title", "[id]", "'id'")
		tests[i] = column + g.one(" = ", " == ", " != ", " <> ") + g.value(column)
		if g.IntN(3) == 0 {
			tests[i] = column + g.one(" IN (", " NOT IN (") + g.value(column) + ", " + g.value(column) + ")"
		}
	}
	var joined strings.Builder
	joined.WriteString(" WHERE " + tests[0])
	for _, test := range tests[1:] {
		joined.WriteString(g.one(" AND ", " OR ") + test)
	}
	return joined.String()
}
