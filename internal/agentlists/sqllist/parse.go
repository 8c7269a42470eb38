package sqllist

import (
	"slices"
	"strings"
)

// A statement changes a table.
type statement interface {
	// run carries out the statement. report is the tool's answer to it.
	run(t *table, report string) error
}

// parse returns the statements of a query, without empty ones.
func parse(query string) ([]statement, error) {
	tokens, err := tokenize(query)
	if err != nil {
		return nil, err
	}
	var statements []statement
	for len(tokens) > 0 {
		end := slices.Index(tokens, token{symbol, ";"})
		if end < 0 {
			end = len(tokens)
		}
		if end > 0 {
			statements = append(statements, parseStatement(tokens[:end]))
		}
		tokens = tokens[min(end+1, len(tokens)):]
	}
	return statements, nil
}

// parser reads the tokens of one statement. Each of its methods takes what it names,
// or nothing if something else comes next.
type parser struct{ tokens []token }

func (p *parser) take(want ...token) bool {
	if len(p.tokens) < len(want) || !slices.Equal(p.tokens[:len(want)], want) {
		return false
	}
	p.tokens = p.tokens[len(want):]
	return true
}

func (p *parser) words(words ...string) bool {
	want := make([]token, len(words))
	for i := range words {
		want[i] = token{word, words[i]}
	}
	return p.take(want...)
}

func (p *parser) symbol(text string) bool { return p.take(token{symbol, text}) }

func (p *parser) atEnd() bool { return len(p.tokens) == 0 }

// name takes the name of a table or a column.
func (p *parser) name() (string, bool) {
	if len(p.tokens) == 0 || p.tokens[0].kind != word && p.tokens[0].kind != quoted {
		return "", false
	}
	name := p.tokens[0].text
	p.tokens = p.tokens[1:]
	return name, true
}

// value takes a string or a number.
func (p *parser) value() (string, bool) {
	if len(p.tokens) == 0 || p.tokens[0].kind != value {
		return "", false
	}
	text := p.tokens[0].text
	p.tokens = p.tokens[1:]
	return text, true
}

// expression takes everything up to the comma, the closing bracket or the WHERE that
// ends an expression.
func (p *parser) expression() []token {
	depth, end := 0, 0
	for ; end < len(p.tokens); end++ {
		t := p.tokens[end]
		if depth == 0 && (t == token{symbol, ","} || t == token{symbol, ")"} || t == token{word, "where"}) {
			break
		}
		switch t {
		case token{symbol, "("}:
			depth++
		case token{symbol, ")"}:
			depth--
		}
	}
	taken := p.tokens[:end]
	p.tokens = p.tokens[end:]
	return taken
}

// separated takes items with commas between them.
func (p *parser) separated(item func() bool) bool {
	for {
		if !item() {
			return false
		}
		if !p.symbol(",") {
			return true
		}
	}
}

// list takes items in brackets.
func (p *parser) list(item func() bool) bool {
	return p.symbol("(") && p.separated(item) && p.symbol(")")
}

const todos = "todos" // the name of the table

// parseStatement returns what a statement does to the table.
func parseStatement(tokens []token) statement {
	p := parser{tokens}
	kind, _ := p.name()
	switch {
	case !slices.ContainsFunc(tokens, mayNameTable):
		return parseOther(kind, tokens)
	case kind == "pragma", kind == "explain", kind == "values", kind == "with" && !slices.ContainsFunc(tokens, writes):
		return nothing{}
	case kind == "select":
		return parseSelect(p)
	case kind == "insert":
		return parseInsert(p)
	case kind == "update":
		return parseUpdate(p)
	case kind == "delete":
		return parseDelete(p)
	case kind == "replace":
		return parseReplace(p)
	case kind == "create" && p.words("table", "if", "not", "exists", todos):
		return nothing{} // the table exists, or is empty now, which the first INSERT shows
	case kind == "create", kind == "alter", kind == "drop":
		return redefinition{}
	}
	return unknown{}
}

// mayNameTable reports whether a token may stand for the table. SQLite takes a string
// for a name where only a name can be.
func mayNameTable(t token) bool { return t.kind != symbol && strings.EqualFold(t.text, todos) }

// writes reports whether a statement with this word may change a table.
func writes(t token) bool {
	return t.kind == word && (t.text == "insert" || t.text == "update" || t.text == "delete" || t.text == "replace")
}

// parseOther returns what a statement does that does not name the table.
func parseOther(kind string, tokens []token) statement {
	if kind == "create" && slices.Contains(tokens, token{word, "trigger"}) {
		return redefinition{} // the statements that follow in it may name the table
	}
	switch kind {
	case "select", "insert", "update", "delete", "replace", "create", "drop", "alter", "with", "values", "pragma", "explain":
		return nothing{}
	case "begin":
		return transaction{begins: true}
	case "commit", "end":
		return transaction{}
	}
	return redefinition{} // ROLLBACK, or a part of a trigger
}

// parseSelect recognizes a SELECT of the whole table. Any other changes nothing.
func parseSelect(p parser) statement {
	column := func() bool {
		name, ok := p.name()
		return ok && isColumn(name)
	}
	if !p.symbol("*") && !p.separated(column) || !p.words("from", todos) {
		return nothing{}
	}
	if p.atEnd() || p.words("order", "by") && !slices.Contains(p.tokens, token{word, "limit"}) {
		return selection{}
	}
	return nothing{}
}

// target takes the name of the table that a statement changes. It returns nil if that
// is the list's, or what the statement does instead.
func (p *parser) target() (other statement) {
	name, ok := p.name()
	if !ok {
		name, ok = p.value() // a string
	}
	switch {
	case !ok || p.symbol("."):
		return unknown{}
	case !strings.EqualFold(name, todos):
		return nothing{}
	}
	return nil
}

// parseInsert reads INSERT [OR IGNORE|OR REPLACE] INTO todos (…) VALUES (…), (…).
func parseInsert(p parser) statement {
	var s insertion
	s.replaces = p.words("or", "replace")
	if !s.replaces {
		p.words("or", "ignore")
	}
	if !p.words("into") {
		return unknown{}
	}
	if other := p.target(); other != nil {
		return other
	}
	var columns []string
	column := func() bool {
		name, ok := p.name()
		isNew := !slices.Contains(columns, name) // SQLite takes the first of two values
		columns = append(columns, name)
		return ok && isNew && isColumn(name)
	}
	if !p.list(column) || !p.words("values") {
		return unknown{}
	}
	row := func() bool {
		row, ok := p.row(columns)
		s.rows = append(s.rows, row)
		return ok
	}
	if !p.separated(row) || !p.atEnd() {
		return unknown{}
	}
	return s
}

// parseReplace reads REPLACE INTO another table.
func parseReplace(p parser) statement {
	if !p.words("into") {
		return unknown{}
	}
	if other := p.target(); other != nil {
		return other
	}
	return unknown{}
}

// row takes the values of one row. Those of an id, a title and a status must be
// constants.
func (p *parser) row(columns []string) (Row, bool) {
	row := Row{Status: "pending"}
	rest := columns
	ok := p.list(func() bool {
		if len(rest) == 0 {
			return false
		}
		column := rest[0]
		rest = rest[1:]
		return p.assign(&row, column)
	})
	return row, ok && len(rest) == 0 && slices.Contains(columns, "id") && slices.Contains(columns, "title")
}

// assign takes an expression, and puts it into a column of row. A column that row
// lacks may have any value.
func (p *parser) assign(row *Row, column string) bool {
	expression := p.expression()
	field := row.column(column)
	if field == nil {
		return len(expression) > 0
	}
	if len(expression) != 1 || expression[0].kind != value {
		return false
	}
	*field = expression[0].text
	return true
}

// parseUpdate reads UPDATE todos SET …, … [WHERE …].
func parseUpdate(p parser) statement {
	if p.words("or") {
		return unknown{}
	}
	if other := p.target(); other != nil {
		return other
	}
	var s update
	assignment := func() bool {
		column, ok := p.name()
		if !ok || !isColumn(column) || column == "id" || !p.symbol("=") {
			return false
		}
		s.setsTitle, s.setsStatus = s.setsTitle || column == "title", s.setsStatus || column == "status"
		return p.assign(&s.set, column)
	}
	if !p.words("set") || !p.separated(assignment) || !p.where(&s.where) {
		return unknown{}
	}
	return s
}

// parseDelete reads DELETE FROM todos [WHERE …].
func parseDelete(p parser) statement {
	if !p.words("from") {
		return unknown{}
	}
	if other := p.target(); other != nil {
		return other
	}
	var s deletion
	if !p.where(&s.where) {
		return unknown{}
	}
	return s
}

// where takes the WHERE that a statement ends with, or the end.
func (p *parser) where(c *condition) bool {
	if p.atEnd() {
		return true
	}
	if !p.words("where") {
		return false
	}
	for {
		all, ok := p.tests()
		if !ok {
			return false
		}
		*c = append(*c, all)
		if !p.words("or") {
			return p.atEnd()
		}
	}
}

// tests takes comparisons with AND between them.
func (p *parser) tests() ([]test, bool) {
	var all []test
	for {
		t, ok := p.test()
		if !ok {
			return nil, false
		}
		all = append(all, t)
		if !p.words("and") {
			return all, true
		}
	}
}

// test takes a comparison of a column with constants.
func (p *parser) test() (test, bool) {
	column, ok := p.name()
	if !ok || new(Row).column(column) == nil {
		return test{}, false
	}
	t := test{column: column}
	add := func() bool {
		text, ok := p.value()
		t.values = append(t.values, text)
		return ok
	}
	switch {
	case p.symbol("="), p.symbol("=="):
		return t, add()
	case p.symbol("<>"), p.symbol("!="):
		t.not = true
		return t, add()
	case p.words("not", "in"):
		t.not = true
		return t, p.list(add)
	case p.words("in"):
		return t, p.list(add)
	}
	return test{}, false
}
