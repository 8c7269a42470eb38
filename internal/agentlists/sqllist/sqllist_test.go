package sqllist_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/agentlists/sqllist"
)

// The results in this file are what Copilot CLI 1.0.102 answers.

const (
	insertTwo = "INSERT INTO todos (id, title, description, status) VALUES ('a', 'Write a', 'It''s a', 'pending'), ('b', 'Write b', NULL, 'done')"
	saysTwo   = "2 row(s) inserted. Last inserted row ID: 2."
	saysOne   = "1 row(s) updated."
)

var (
	a = sqllist.Row{ID: "a", Title: "Write a", Status: "pending"}
	b = sqllist.Row{ID: "b", Title: "Write b", Status: "done"}
	c = sqllist.Row{ID: "c", Title: "Write c", Status: "pending"}
)

// with returns row with another status.
func with(status string, row sqllist.Row) sqllist.Row {
	row.Status = status
	return row
}

// rows runs calls, given as pairs of a query and its result.
func rows(t *testing.T, pairs ...string) ([]sqllist.Row, error) {
	t.Helper()
	require.Zero(t, len(pairs)%2)
	return sqllist.Rows(func(yield func(sqllist.Call) bool) {
		for pair := range slices.Chunk(pairs, 2) {
			if !yield(sqllist.Call{Query: pair[0], Result: pair[1]}) {
				return
			}
		}
	})
}

func TestRows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		calls []string
		want  []sqllist.Row
	}{
		"inserted": {[]string{insertTwo, saysTwo}, []sqllist.Row{a, b}},
		"updated": {
			[]string{insertTwo, saysTwo, "UPDATE todos SET status = 'done', updated_at = datetime('now') WHERE id = 'a';", saysOne},
			[]sqllist.Row{with("done", a), b},
		},
		"several at once": {
			[]string{insertTwo, saysTwo, "UPDATE todos SET status='in_progress' WHERE id IN ('a', 'b')", "2 row(s) updated."},
			[]sqllist.Row{with("in_progress", a), with("in_progress", b)},
		},
		"all": {
			[]string{insertTwo, saysTwo, "update TODOS set STATUS = 'done'", "2 row(s) updated."},
			[]sqllist.Row{with("done", a), b},
		},
		"by status": {
			[]string{insertTwo, saysTwo, "UPDATE todos SET status = 'done' WHERE status != 'done' AND id NOT IN ('b') OR id = 'x'", saysOne},
			[]sqllist.Row{with("done", a), b},
		},
		"nothing was updated": {
			[]string{insertTwo, saysTwo, "UPDATE todos SET status = 'done' WHERE id = 'nope'", "0 row(s) updated."},
			[]sqllist.Row{a, b},
		},
		"renamed": {
			[]string{insertTwo, saysTwo, `UPDATE "todos" SET title = 'Write c' WHERE [id] = 'a'`, saysOne},
			[]sqllist.Row{{ID: "a", Title: "Write c", Status: "pending"}, b},
		},
		"the table's name as a string": {
			[]string{
				insertTwo, saysTwo, "UPDATE 'Todos' SET status = 'done' WHERE id = 'a'", saysOne,
				"REPLACE INTO notes VALUES ('todos')", "Query executed successfully. Rows affected: 1.",
			},
			[]sqllist.Row{with("done", a), b},
		},
		"deleted": {
			[]string{insertTwo, saysTwo, "DELETE FROM todos WHERE status = 'done'", "1 row(s) deleted."},
			[]sqllist.Row{a},
		},
		"emptied, and begun again": {
			[]string{
				"DELETE FROM todos;", "3 row(s) deleted.",
				"INSERT INTO todos (id, title) VALUES ('c', 'Write c')", "1 row(s) inserted. Last inserted row ID: 1.",
			},
			[]sqllist.Row{c},
		},
		"a row is added": {
			[]string{
				insertTwo, saysTwo,
				"INSERT OR IGNORE INTO todos (title, id) VALUES ('Write c', 'c')", "1 row(s) inserted. Last inserted row ID: 3.",
			},
			[]sqllist.Row{a, b, c},
		},
		"a row is replaced": {
			[]string{
				insertTwo, saysTwo,
				"INSERT OR REPLACE INTO todos (id, title) VALUES ('b', 'Write c')", "1 row(s) inserted. Last inserted row ID: 3.",
			},
			[]sqllist.Row{a, {ID: "b", Title: "Write c", Status: "pending"}},
		},
		"known rows are ignored": {
			[]string{insertTwo, saysTwo, "INSERT OR IGNORE INTO todos (id, title) VALUES ('b', 'again')", "0 row(s) inserted. Last inserted row ID: 2."},
			[]sqllist.Row{a, b},
		},
		"a failure changes nothing": {
			[]string{
				insertTwo, saysTwo,
				"INSERT INTO todos (id, title) VALUES ('a', 'again')", "SQL Error: Error: UNIQUE constraint failed: todos.id",
				"UPDATE todos SET status = 'finished'", "SQL Error: Error: CHECK constraint failed: status IN ('pending', 'in_progress', 'done', 'blocked')",
			},
			[]sqllist.Row{a, b},
		},
		"several statements, and text that looks like them": {
			[]string{
				"-- the list; it's new\nINSERT INTO todos (id, title) VALUES ('c', 'Write c');\n" +
					"INSERT INTO todo_deps (todo_id, depends_on) VALUES ('c', 'todos'); /* ; */\nUPDATE todos SET description = '; DELETE FROM todos' WHERE id = 'c';",
				"Executed 3 statement(s):\n\n1. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.\n\n" +
					"2. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.\n\n3. UPDATE\n   1 row(s) updated.",
			},
			[]sqllist.Row{c},
		},
		"the second statement fails": {
			[]string{
				"INSERT INTO todos (id, title) VALUES ('c', 'Write c'); INSERT INTO todos (id, title) VALUES ('c', 'again'); DELETE FROM todos",
				"SQL Error after statement 2 (INSERT): Error: UNIQUE constraint failed: todos.id\n\n" +
					"Completed 1 statement(s) before failure:\n\n1. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.",
			},
			[]sqllist.Row{c},
		},
		"a transaction": {
			[]string{
				"BEGIN; INSERT INTO todos (id, title) VALUES ('c', 'Write c'); COMMIT",
				"Executed 3 statement(s):\n\n1. BEGIN\n   Query executed successfully. Rows affected: 0.\n\n" +
					"2. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.\n\n3. COMMIT\n   Query executed successfully. Rows affected: 1.",
			},
			[]sqllist.Row{c},
		},
		"a transaction without an end, before the whole table is read": {
			[]string{
				insertTwo, saysTwo,
				"BEGIN; DELETE FROM todos", "Executed 2 statement(s):\n\n1. BEGIN\n   Query executed successfully. Rows affected: 0.\n\n2. DELETE\n   2 row(s) deleted.",
				"SELECT id, title, status FROM todos", "1 row(s) returned:\n\n| id | title | status |\n| --- | --- | --- |\n| a | Write a | pending |",
			},
			[]sqllist.Row{a},
		},
		"the whole table is read": {
			[]string{
				"UPDATE todos SET status = 'done' WHERE id = 'b'", saysOne,
				"SELECT * FROM todos ORDER BY id",
				"2 row(s) returned:\n\n| id | title | description | status | created_at | updated_at |\n| --- | --- | --- | --- | --- | --- |\n" +
					"| a | Write a | It's a | pending | 2026-11-23 14:47:48 | 2026-11-23 14:47:48 |\n| b | Write b | NULL | done | x |  |",
			},
			[]sqllist.Row{a, b},
		},
		"the whole table is read, and has a cell that cannot be read": {
			[]string{
				insertTwo, saysTwo,
				"SELECT id, title, status FROM todos",
				"2 row(s) returned:\n\n| id | title | status |\n| --- | --- | --- |\n| a | Write | a | pending |\n| b | Write b | done |",
			},
			[]sqllist.Row{a, b},
		},
		"the table is empty, as any column shows": {[]string{insertTwo, saysTwo, "SELECT id FROM todos", "Query returned 0 rows."}, nil},
		"the whole table is empty":                {[]string{"SELECT id, title, status FROM todos", "Query returned 0 rows."}, nil},
		"only a part of the table is read": {
			[]string{
				insertTwo, saysTwo,
				"SELECT t.* FROM todos t WHERE t.status = 'pending' AND NOT EXISTS (SELECT 1 FROM todo_deps d WHERE d.todo_id = t.id)",
				"1 row(s) returned:\n\n| id | title | status |\n| --- | --- | --- |\n| a | Write a | pending |",
				"SELECT id, title, status FROM todos ORDER BY id LIMIT 1", "1 row(s) returned:\n\n| id | title | status |\n| --- | --- | --- |\n| a | Write a | pending |",
			},
			[]sqllist.Row{a, b},
		},
		"statements that only read": {
			[]string{
				insertTwo, saysTwo,
				"PRAGMA table_info(todos)", "1 row(s) returned:\n\n| cid | name |\n| --- | --- |\n| 0 | id |",
				"EXPLAIN QUERY PLAN DELETE FROM todos", "1 row(s) returned:\n\n| detail |\n| --- |\n| SCAN todos |",
				"WITH ready AS (SELECT id FROM todos WHERE status = 'pending') SELECT * FROM ready ORDER BY id",
				"1 row(s) returned:\n\n| id |\n| --- |\n| a |",
			},
			[]sqllist.Row{a, b},
		},
		"other tables": {
			[]string{
				"CREATE TABLE IF NOT EXISTS todos (id TEXT PRIMARY KEY, title TEXT)", "Schema operation completed successfully.",
				insertTwo, saysTwo,
				"INSERT INTO done SELECT id FROM todos", saysTwo,
				"UPDATE done SET n = (SELECT count(*) FROM todos)", "2 row(s) updated.",
				"DELETE FROM done WHERE id IN (SELECT id FROM todos)", "2 row(s) deleted.",
			},
			[]sqllist.Row{a, b},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := rows(t, test.calls...)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// What a statement does is not guessed.
func TestRowsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	const (
		earlier   = "it has rows that the conversation does not hold"
		statement = "one of its SQL statements is of a kind that carryon does not read"
		result    = "the result of an SQL statement does not confirm what the statement says"
	)
	for call, want := range map[[2]string]string{
		{"INSERT INTO todos (id, title) VALUES ('c', 'Write c')", "1 row(s) inserted. Last inserted row ID: 4."}: earlier,
		{"UPDATE todos SET status = 'done' WHERE id = 'a'", saysOne}:                                             earlier,
		{"DELETE FROM todos WHERE id = 'a'", "1 row(s) deleted."}:                                                earlier,
		{"SELECT * FROM todos WHERE id = 'a'", "Query returned 0 rows."}:                                         earlier,
		{"SELECT * FROM todos", "Output too large to read at once (42.5 KB). Saved to: /tmp/output.txt"}:         earlier,
	} {
		_, err := rows(t, call[0], call[1])
		require.EqualError(t, err, want, call[0])
	}
	for call, want := range map[[2]string]string{
		{"UPDATE todos SET status = 'done' WHERE id = 'a'", "2 row(s) updated."}:                                                       result,
		{"UPDATE todos SET status = 'done' WHERE id = 'a'", ""}:                                                                        result,
		{"UPDATE todos SET status = 'done' WHERE id = 'a'", "ok"}:                                                                      result,
		{"UPDATE todos SET status = 'done' WHERE id = 'a'; SELECT 1", saysOne}:                                                         result,
		{"DELETE FROM todos WHERE id = 'a'", "2 row(s) deleted."}:                                                                      result,
		{"DELETE FROM todos", "ok"}:                                                                                                    result,
		{"INSERT INTO todos (id, title) VALUES ('a', 'again')", "1 row(s) inserted. Last inserted row ID: 3."}:                         result,
		{"INSERT OR IGNORE INTO todos (id, title) VALUES ('a', 'x'), ('c', 'x')", "1 row(s) inserted. Last inserted row ID: 3."}:       result,
		{"SELECT * FROM todos", "3 row(s) returned:\n\n(not shown)"}:                                                                   result,
		{"UPDATE todos SET status = 'done' WHERE id LIKE 'a%'", saysOne}:                                                               statement,
		{"UPDATE todos SET status = 'done' WHERE (id = 'a')", saysOne}:                                                                 statement,
		{"UPDATE todos SET status = 'done' WHERE todos.id = 'a'", saysOne}:                                                             statement,
		{"UPDATE todos SET status = 'done' WHERE id = 'a' LIMIT 1", saysOne}:                                                           statement,
		{"UPDATE todos SET status = CASE WHEN id = 'a' THEN 'done' END", "2 row(s) updated."}:                                          statement,
		{"UPDATE todos SET id = 'z' WHERE id = 'a'", saysOne}:                                                                          statement,
		{"UPDATE todos SET rowid = 9 WHERE id = 'a'", saysOne}:                                                                         statement,
		{"UPDATE OR IGNORE todos SET status = 'done'", "2 row(s) updated."}:                                                            statement,
		{"UPDATE main.todos SET status = 'done'", "2 row(s) updated."}:                                                                 statement,
		{"REPLACE INTO todos (id, title) VALUES ('a', 'x')", "Query executed successfully. Rows affected: 1."}:                         statement,
		{"INSERT INTO todos (id, title) SELECT 'c', 'x'", "1 row(s) inserted. Last inserted row ID: 3."}:                               statement,
		{"INSERT INTO todos VALUES ('c', 'x')", "1 row(s) inserted. Last inserted row ID: 3."}:                                         statement,
		{"INSERT INTO todos (id, title) VALUES ('c', upper('x'))", "1 row(s) inserted. Last inserted row ID: 3."}:                      statement,
		{"INSERT INTO todos (id, title) VALUES (x'61', 'x')", "1 row(s) inserted. Last inserted row ID: 3."}:                           statement,
		{"INSERT INTO todos (id, title) VALUES (1.0, 'x')", "1 row(s) inserted. Last inserted row ID: 3."}:                             statement,
		{"INSERT INTO todos (id, title, id) VALUES ('c', 'x', 'd')", "1 row(s) inserted. Last inserted row ID: 3."}:                    statement,
		{"INSERT INTO 'main'.'todos' (id, title) VALUES ('c', 'x')", "1 row(s) inserted. Last inserted row ID: 3."}:                    statement,
		{"CREATE TRIGGER x AFTER INSERT ON n BEGIN DELETE FROM n; DELETE FROM todos; END", "Schema operation completed successfully."}: statement,
		{"INSERT INTO todos (title) VALUES ('x')", "1 row(s) inserted. Last inserted row ID: 3."}:                                      statement,
		{"INSERT INTO todos (id, title) VALUES ('c')", "1 row(s) inserted. Last inserted row ID: 3."}:                                  statement,
		{"INSERT INTO todos (id, title) VALUES ('a', 'x') ON CONFLICT DO NOTHING", "0 row(s) inserted."}:                               statement,
		{"WITH p AS (SELECT 1) UPDATE todos SET status = 'done'", "Query returned 0 rows."}:                                            statement,
		{"WITH p AS (SELECT 1) SELECT replace(title, 'a', 'b') FROM todos", "Query returned 0 rows."}:                                  statement,
		{"DELETE todos", "1 row(s) deleted."}:                                                                                          statement,
		{"BEGIN; DELETE FROM todos", "Executed 2 statement(s):\n\n1. BEGIN\n   ok\n\n2. DELETE\n   2 row(s) deleted."}:                 statement,
		{"DELETE FROM todos; ROLLBACK", "Executed 2 statement(s):\n\n1. DELETE\n   2 row(s) deleted.\n\n2. ROLLBACK\n   ok"}:           statement,
		{"ALTER TABLE todos RENAME TO old", "Schema operation completed successfully."}:                                                statement,
		{"CREATE TRIGGER x AFTER INSERT ON todos BEGIN DELETE FROM todos; END", "Schema operation completed successfully."}:            statement,
		{"UPDATE todos SET title = 'x", saysOne}:                                                                                       statement,
		{
			"BEGIN; DELETE FROM todos; BAD",
			"SQL Error after statement 3 (BAD): Error: near\n\nCompleted 2 statement(s) before failure:\n\n1. BEGIN\n   ok\n\n2. DELETE\n   2 row(s) deleted.",
		}: statement,
	} {
		got, err := rows(t, insertTwo, saysTwo, call[0], call[1])
		require.EqualError(t, err, want, call[0])
		assert.Nil(t, got)
	}
}

// Once a row is not known, the model's next look at the table shows all of them.
func TestRowsAreKnownAgain(t *testing.T) {
	t.Parallel()
	lost := []string{insertTwo, saysTwo, "UPDATE todos SET status = lower('DONE')", "2 row(s) updated."}
	shown := []string{"SELECT id, title, status FROM todos", "1 row(s) returned:\n\n| id | title | status |\n| --- | --- | --- |\n| c | Write c | pending |"}
	got, err := rows(t, append(slices.Clone(lost), shown...)...)
	require.NoError(t, err)
	assert.Equal(t, []sqllist.Row{c}, got)

	altered := append(slices.Clone(lost), "ALTER TABLE todos RENAME COLUMN title TO name", "Schema operation completed successfully.")
	_, err = rows(t, append(altered, shown...)...)
	require.Error(t, err, "the table is another one from then on")
}

func TestRowsAreBounded(t *testing.T) {
	t.Parallel()
	values := make([]string, 501)
	for i := range values {
		values[i] = fmt.Sprintf("('%d', 'x')", i)
	}
	_, err := rows(t, "INSERT INTO todos (id, title) VALUES "+strings.Join(values, ", "), "501 row(s) inserted. Last inserted row ID: 501.")
	require.EqualError(t, err, "it has more than 500 rows")
}

func FuzzRows(f *testing.F) {
	f.Add(insertTwo, saysTwo)
	f.Add("UPDATE todos SET status = 'done' WHERE id IN ('a') OR id != \"b\";", saysOne)
	f.Add("SELECT * FROM todos; DELETE FROM todos", "Executed 2 statement(s):\n\n1. SELECT\n   1 row(s) returned:\n   \n   | id |\n   | --- |\n   | a |\n\n2. DELETE\n   2 row(s) deleted.")
	f.Fuzz(func(t *testing.T, query, result string) {
		got, err := rows(t, insertTwo, saysTwo, query, result)
		if err != nil {
			assert.Nil(t, got)
		}
		assert.LessOrEqual(t, len(got), 500)
		for _, row := range got {
			text := insertTwo + query + result
			for _, part := range []string{row.ID, row.Title} {
				for piece := range strings.SplitSeq(part, "'") {
					assert.Contains(t, text, piece, "nothing is made up")
				}
			}
		}
	})
}
