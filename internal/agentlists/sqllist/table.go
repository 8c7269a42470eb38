package sqllist

import "slices"

// table is the table of the list, as far as it is known.
type table struct {
	rows    []Row
	at      map[string]int // the position of each id in rows
	unknown error          // why the rows are not known, or nil
	pending bool           // a transaction has begun
	altered bool           // the table is another one, or has triggers
}

// run carries out the statements of a call that took effect.
func (t *table) run(call *Call) {
	reports := reportsOf(call.Result)
	if len(reports.texts) == 0 {
		return
	}
	statements, err := parse(call.Query)
	switch {
	case err != nil:
		t.lose(errStatement)
		return
	case slices.Contains(statements, statement(redefinition{})):
		t.altered = true
		return
	case len(reports.texts) > len(statements), len(reports.texts) < len(statements) && !reports.failed:
		t.lose(errResult)
		return
	}
	for i, report := range reports.texts {
		if err := statements[i].run(t, report); err != nil {
			t.lose(err)
		}
	}
	if t.pending { // a transaction without a COMMIT ends with its call, and is undone
		t.pending = false
		t.lose(errStatement)
	}
}

// state returns the rows, or why they are not known.
func (t *table) state() ([]Row, error) {
	if t.altered {
		return nil, errStatement
	}
	return t.rows, t.unknown
}

func (t *table) lose(why error) { t.rows, t.at, t.unknown = nil, nil, why }

// setTo replaces all rows.
func (t *table) setTo(rows []Row) {
	t.rows, t.at, t.unknown = rows, make(map[string]int, len(rows)), nil
	for i := range rows {
		t.at[rows[i].ID] = i
	}
}

// isColumn reports whether the table has a column.
func isColumn(name string) bool {
	switch name {
	case "id", "title", "description", "status", "created_at", "updated_at":
		return true
	}
	return false
}

// column returns the field of a column, or nil for the columns that a list does not
// need.
func (r *Row) column(name string) *string {
	switch name {
	case "id":
		return &r.ID
	case "title":
		return &r.Title
	case "status":
		return &r.Status
	}
	return nil
}

// nothing is a statement that does not change the table.
type nothing struct{}

func (nothing) run(*table, string) error { return nil }

// unknown is a statement that may change the table in any way.
type unknown struct{}

func (unknown) run(*table, string) error { return errStatement }

// redefinition is a statement after which others may do something else than they say:
// it alters the table, adds a trigger, or undoes a transaction. It is not run.
type redefinition struct{ nothing }

// transaction is the beginning or the end of a transaction.
type transaction struct{ begins bool }

func (s transaction) run(t *table, _ string) error {
	t.pending = s.begins
	return nil
}

// selection reads the whole table.
type selection struct{}

func (selection) run(t *table, report string) error {
	count, ok := countIn(report, "returned")
	if !ok {
		return nil // too long to be shown
	}
	if rows, ok := rowsIn(report, count); ok {
		t.setTo(rows)
		return nil
	}
	if t.unknown == nil && count != len(t.rows) {
		return errResult
	}
	return nil
}

// insertion adds rows.
type insertion struct {
	rows     []Row
	replaces bool // rows of the same ids
}

func (s insertion) run(t *table, report string) error {
	count, ok := countIn(report, "inserted")
	switch {
	case ok && count == 0:
		return nil // OR IGNORE has ignored all rows
	case !ok || count != len(s.rows):
		return errResult
	}
	if last, ok := lastRowID(report); ok && last == count {
		t.setTo(nil) // only a table that was empty numbers its rows so
	}
	if t.unknown != nil {
		return t.unknown
	}
	for _, row := range s.rows {
		i, taken := t.at[row.ID]
		switch {
		case !taken:
			t.at[row.ID] = len(t.rows)
			t.rows = append(t.rows, row)
		case s.replaces:
			t.rows[i] = row
		default:
			return errResult // it would have failed, or be ignored
		}
	}
	if len(t.rows) > maxRows {
		return errTooLong
	}
	return nil
}

// update changes rows.
type update struct {
	set                   Row
	setsTitle, setsStatus bool
	where                 condition
}

func (s update) run(t *table, report string) error {
	count, ok := countIn(report, "updated")
	switch {
	case !ok:
		return errResult
	case t.unknown != nil:
		return t.unknown
	}
	for i := range t.rows {
		row := &t.rows[i]
		if !s.where.holds(row) {
			continue
		}
		count--
		if s.setsTitle {
			row.Title = s.set.Title
		}
		if s.setsStatus {
			row.Status = s.set.Status
		}
	}
	if count != 0 {
		return errResult
	}
	return nil
}

// deletion removes rows.
type deletion struct{ where condition }

func (s deletion) run(t *table, report string) error {
	count, ok := countIn(report, "deleted")
	switch {
	case !ok:
		return errResult
	case len(s.where) == 0:
		t.setTo(nil)
		return nil
	case t.unknown != nil:
		return t.unknown
	}
	before := len(t.rows)
	left := slices.DeleteFunc(t.rows, func(row Row) bool { return s.where.holds(&row) })
	if before-len(left) != count {
		return errResult
	}
	t.setTo(left)
	return nil
}

// condition chooses rows: those for which all tests of one of its parts hold, or all
// rows if it has no parts.
type condition [][]test

func (c condition) holds(row *Row) bool {
	return len(c) == 0 || slices.ContainsFunc(c, func(all []test) bool {
		return !slices.ContainsFunc(all, func(t test) bool { return !t.holds(row) })
	})
}

// test compares a column with constants.
type test struct {
	column string
	values []string
	not    bool // the column has none of the values
}

func (t *test) holds(row *Row) bool { return slices.Contains(t.values, *row.column(t.column)) != t.not }
