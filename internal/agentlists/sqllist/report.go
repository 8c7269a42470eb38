package sqllist

import (
	"strconv"
	"strings"
)

// reports are the tool's answers to the statements of a call that took effect, in
// their order.
type reports struct {
	texts  []string
	failed bool // the statement that follows failed, and ended the call
}

// reportsOf splits the result of a call:
//
//	Executed 2 statement(s):
//
//	1. UPDATE
//	   1 row(s) updated.
//
//	2. SELECT
//	   1 row(s) returned:
//
//	   | id |
//	   | --- |
//	   | a |
func reportsOf(result string) reports {
	result = strings.ReplaceAll(strings.TrimSpace(result), "\r\n", "\n")
	if failure, rest, ok := strings.Cut(result, " before failure:\n"); ok && strings.HasPrefix(failure, "SQL Error") {
		return reports{texts: sections(rest), failed: true}
	}
	switch {
	case strings.HasPrefix(result, "SQL Error"), strings.HasPrefix(result, "Error"):
		return reports{failed: true}
	case strings.HasPrefix(result, "Executed "):
		_, rest, _ := strings.Cut(result, "\n")
		return reports{texts: sections(rest)}
	}
	return reports{texts: []string{result}}
}

// sections splits numbered answers, whose lines are indented.
func sections(text string) []string {
	var lines [][]string // of each answer
	for line := range strings.Lines(text) {
		number, _, _ := strings.Cut(line, ". ")
		last := len(lines) - 1
		switch {
		case number == strconv.Itoa(len(lines)+1):
			lines = append(lines, nil)
		case last >= 0:
			lines[last] = append(lines[last], strings.TrimPrefix(line, "   "))
		}
	}
	found := make([]string, len(lines))
	for i := range found {
		found[i] = strings.TrimSpace(strings.Join(lines[i], ""))
	}
	return found
}

// countIn returns n of "n row(s) updated", where verb is "updated".
func countIn(report, verb string) (n int, ok bool) {
	if verb == "returned" && report == "Query returned 0 rows." {
		return 0, true
	}
	count, rest, _ := strings.Cut(report, " row(s) ")
	n, err := strconv.Atoi(count)
	return n, err == nil && n >= 0 && strings.HasPrefix(rest, verb)
}

// lastRowID returns the number that SQLite gave to the last row that was inserted.
func lastRowID(report string) (id int, ok bool) {
	_, rest, _ := strings.Cut(report, "Last inserted row ID: ")
	id, err := strconv.Atoi(strings.TrimSuffix(rest, "."))
	return id, err == nil
}

// rowsIn reads the table in an answer to a SELECT. Cells are not escaped, so it fails
// unless each line has as many cells as the first, and there are as many lines as rows.
func rowsIn(report string, count int) (rows []Row, ok bool) {
	if count == 0 {
		return nil, true
	}
	_, shown, _ := strings.Cut(report, "\n\n")
	lines := strings.Split(shown, "\n")
	if len(lines) != count+2 || count > maxRows {
		return nil, false
	}
	columns, _ := cells(lines[0])
	rows = make([]Row, count)
	for i := range rows {
		values, ok := cells(lines[i+2])
		if !ok || len(values) != len(columns) {
			return nil, false
		}
		filled := 0
		for at, column := range columns {
			if field := rows[i].column(strings.ToLower(column)); field != nil {
				*field = values[at]
				filled++
			}
		}
		if filled != 3 { // id, title and status
			return nil, false
		}
	}
	return rows, true
}

// cells splits a line such as "| a | b |".
func cells(line string) ([]string, bool) {
	inner, opened := strings.CutPrefix(line, "| ")
	inner, closed := strings.CutSuffix(inner, " |")
	return strings.Split(inner, " | "), opened && closed
}
