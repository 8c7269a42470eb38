package jslist

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	symbol       tokenKind = iota // an operator, a bracket or another mark
	word                          // an identifier or a keyword
	number                        // a number
	text                          // a string in ' or "
	template                      // a template without ${
	templatePart                  // the text of a template up to or after a ${…}
	regexp                        // a regular expression
)

// token is a token of a script.
type token struct {
	kind       tokenKind
	newline    bool  // a line ends before it
	start, end int32 // in the source
	in         int32 // the bracket around it, or -1
	partner    int32 // of a bracket: the other one of its pair
}

// tokens are the tokens of a script, without comments.
type tokens struct {
	source string
	list   []token
}

// text returns the source of a token, or "" if there is no such token.
func (t *tokens) text(i int) string {
	if i < 0 || i >= len(t.list) {
		return ""
	}
	return t.source[t.list[i].start:t.list[i].end]
}

// maxNesting is how deep brackets may be nested.
const maxNesting = 256

// tokenizer splits a script.
type tokenizer struct {
	tokens

	at      int
	newline bool
	open    []int32 // the brackets that are open
}

// tokenize returns the tokens of a script.
func tokenize(source string) (tokens, error) {
	t := tokenizer{tokens: tokens{source: source}}
	if strings.HasPrefix(source, "#!") || !utf8.ValidString(source) {
		return tokens{}, errSyntax
	}
	for {
		if !t.skipSpace() {
			return tokens{}, errSyntax
		}
		if t.at == len(source) {
			break
		}
		if !t.next() {
			return tokens{}, errSyntax
		}
	}
	if len(t.open) > 0 {
		return tokens{}, errSyntax
	}
	return t.tokens, nil
}

// skipSpace skips white space and comments, and notes whether a line ends there.
func (t *tokenizer) skipSpace() bool {
	for t.at < len(t.source) {
		rest := t.source[t.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			t.at += lineLength(rest)
		case strings.HasPrefix(rest, "/*"):
			inside, _, closed := strings.Cut(rest[2:], "*/")
			if !closed {
				return false
			}
			t.newline = t.newline || lineLength(inside) < len(inside)
			t.at += len("/**/") + len(inside)
		case strings.HasPrefix(rest, "<!--"), strings.HasPrefix(rest, "-->") && (t.newline || len(t.list) == 0):
			return false // comments in some scripts, operators in others
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !isSpace(r) {
				return true
			}
			t.newline = t.newline || isLineEnd(r)
			t.at += size
		}
	}
	return true
}

// lineLength returns the length of a text up to the end of its first line.
func lineLength(text string) int {
	if end := strings.IndexFunc(text, isLineEnd); end >= 0 {
		return end
	}
	return len(text)
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

func isSpace(r rune) bool {
	return isLineEnd(r) || r == '\t' || r == '\v' || r == '\f' || r == '\ufeff' || unicode.Is(unicode.Zs, r)
}

// isWordPart reports whether r may be a part of an identifier. Other characters that
// are not ASCII are syntax errors in JavaScript.
func isWordPart(r rune) bool {
	return isDigit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '$' || r >= utf8.RuneSelf && !isSpace(r)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// next reads the token at t.at.
func (t *tokenizer) next() bool {
	rest := t.source[t.at:]
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '"', r == '\'':
		return t.add(text, stringLength(rest))
	case r == '`':
		return t.template()
	case isDigit(r), r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
		return t.add(number, numberLength(rest))
	case isWordPart(r):
		return t.add(word, wordLength(rest))
	case r == '/':
		return t.slash()
	case r < ' ', r == '\\', r == 0x7f:
		return false
	}
	return t.symbol()
}

// add adds a token of a length, unless it is 0.
func (t *tokenizer) add(kind tokenKind, length int) bool {
	in := int32(-1)
	if len(t.open) > 0 {
		in = t.open[len(t.open)-1]
	}
	start := int32(t.at) //nolint:gosec // at most maxSource
	t.at += length
	t.list = append(t.list, token{kind: kind, newline: t.newline, start: start, end: start + int32(length), in: in}) //nolint:gosec // likewise
	t.newline = false
	return length > 0
}

// stringLength returns the length of the string that a text begins with, or 0 if it
// has no end.
func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i + 1
		case '\\':
			i++
			if strings.HasPrefix(text[i:], "\r\n") {
				i++
			}
		case '\n', '\r':
			return 0
		}
	}
	return 0
}

func wordLength(text string) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !isWordPart(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// numberLength returns the length of a number, with the letters that follow it.
func numberLength(text string) int {
	length := wordLength(text)
	if strings.HasPrefix(text[length:], ".") {
		length++
		length += wordLength(text[length:])
	}
	exponent := text[length-1] == 'e' || text[length-1] == 'E'
	if rest := text[length:]; exponent && len(rest) > 1 && (rest[0] == '+' || rest[0] == '-') && isDigit(rune(rest[1])) {
		length++
		length += wordLength(text[length:])
	}
	return length
}

// template reads a template up to its end or its next ${.
func (t *tokenizer) template() bool {
	length, substitution := templateLength(t.source[t.at+1:])
	if length == 0 {
		return false
	}
	if !substitution {
		return t.add(template, 1+length)
	}
	return t.add(templatePart, 1+length-len("${")) && t.bracket("${")
}

// templateLength returns the length of the rest of a template up to its end or behind
// its next ${, or 0 if there is neither.
func templateLength(text string) (length int, substitution bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '`':
			return i + 1, false
		case '\\':
			i++
		case '$':
			if strings.HasPrefix(text[i:], "${") {
				return i + len("${"), true
			}
		}
	}
	return 0, false
}

// slash reads a division or a regular expression.
func (t *tokenizer) slash() bool {
	division, known := t.afterValue()
	if !known {
		return false
	}
	if division {
		return t.symbol()
	}
	class := false
	rest := t.source[t.at:]
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
			if i < len(rest) && (rest[i] == '\n' || rest[i] == '\r') {
				return false
			}
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				i++
				return t.add(regexp, i+wordLength(rest[i:]))
			}
		case '\n', '\r':
			return false
		}
	}
	return false
}

// afterValue reports whether the last token ends a value, if that is known without
// the grammar.
func (t *tokenizer) afterValue() (ends, known bool) {
	last := len(t.list) - 1
	if last < 0 {
		return false, true
	}
	switch l := &t.list[last]; l.kind {
	case number, text, template, templatePart, regexp:
		return true, true
	case word:
		name := t.text(last)
		return !isKeyword(name) || isValueWord(name) || isAccess(t.text(last-1)), name != "of"
	case symbol:
		switch t.text(last) {
		case "]", "++", "--":
			return true, true
		case "}":
			return false, false
		case ")":
			before := int(l.partner) - 1
			name := t.text(before)
			return !isControl(name) || isAccess(t.text(before-1)), name != "await" // for await (…), or await (…)
		}
	}
	return false, true
}

// symbols are the operators of more than one character, longer ones first.
var symbols = []string{ //nolint:gochecknoglobals // constant
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&", "||",
	"??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
}

// symbol reads an operator or a bracket.
func (t *tokenizer) symbol() bool {
	rest := t.source[t.at:]
	if strings.HasPrefix(rest, "?.") && len(rest) > 2 && isDigit(rune(rest[2])) {
		return t.add(symbol, 1) // a ? .5 : 1
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			return t.add(symbol, len(s))
		}
	}
	if strings.IndexByte("()[]{}", rest[0]) >= 0 {
		return t.bracket(rest[:1])
	}
	return t.add(symbol, 1)
}

// bracket reads a bracket, and the rest of a template after the } of ${…}.
func (t *tokenizer) bracket(b string) bool {
	own := int32(len(t.list)) //nolint:gosec // at most maxSource
	if strings.Contains("([{${", b) {
		added := t.add(symbol, len(b))
		t.open = append(t.open, own)
		return added && len(t.open) <= maxNesting
	}
	if len(t.open) == 0 {
		return false
	}
	partner := t.open[len(t.open)-1]
	opened := t.text(int(partner))
	if pair := opened[len(opened)-1:] + b; pair != "()" && pair != "[]" && pair != "{}" {
		return false
	}
	t.open = t.open[:len(t.open)-1]
	t.add(symbol, len(b))
	t.list[own].partner, t.list[partner].partner = partner, own
	return opened != "${" || t.templateRest()
}

// templateRest reads a template from behind a ${…}.
func (t *tokenizer) templateRest() bool {
	length, substitution := templateLength(t.source[t.at:])
	switch {
	case length == 0:
		return false
	case !substitution:
		return t.add(templatePart, length)
	}
	t.add(templatePart, length-len("${")) // which may be empty
	return t.bracket("${")
}
