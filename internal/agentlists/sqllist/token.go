package sqllist

import (
	"errors"
	"strings"
)

// token is a part of a statement.
type token struct {
	kind tokenKind
	text string // of a word: in lower case; of a value: without its quotes
}

type tokenKind uint8

const (
	symbol tokenKind = iota // an operator, a bracket, or a value of no use for a list
	word                    // a keyword or a name
	quoted                  // a name in quotes
	value                   // a string, or a whole number
)

var errUnterminated = errors.New("sqllist: a quote is not closed")

// tokenize splits a query into tokens, without white space and comments.
func tokenize(query string) ([]token, error) {
	var tokens []token
	for rest := query; ; {
		rest = skipBlank(rest)
		if rest == "" {
			return tokens, nil
		}
		next, length := nextToken(rest)
		if length == 0 {
			return nil, errUnterminated
		}
		tokens = append(tokens, next)
		rest = rest[length:]
	}
}

// skipBlank returns text without the white space and comments it begins with.
func skipBlank(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f")
		end := "\n"
		switch {
		case strings.HasPrefix(text, "/*"):
			end = "*/"
		case !strings.HasPrefix(text, "--"):
			return text
		}
		_, text, _ = strings.Cut(text[2:], end)
	}
}

// nextToken returns the token that text begins with, and its length; 0 if a quote is
// not closed.
func nextToken(text string) (token, int) {
	switch c := text[0]; {
	case c == '\'' || c == '"' || c == '`' || c == '[':
		return quotedToken(text)
	case isWordByte(c):
		end := 1
		for end < len(text) && isWordByte(text[end]) {
			end++
		}
		return wordToken(text[:end]), end
	}
	for _, operator := range [...]string{"<>", "!=", "=="} {
		if strings.HasPrefix(text, operator) {
			return token{symbol, operator}, len(operator)
		}
	}
	return token{symbol, text[:1]}, 1
}

// quotedToken reads a string or a quoted name. Within it, two quotes stand for one.
func quotedToken(text string) (token, int) {
	closing := text[:1]
	if closing == "[" {
		closing = "]"
	}
	end := 1
	for {
		at := strings.Index(text[end:], closing)
		if at < 0 {
			return token{}, 0
		}
		end += at + 1
		if closing == "]" || !strings.HasPrefix(text[end:], closing) {
			break
		}
		end++
	}
	inner := text[1 : end-1]
	if closing != "]" {
		inner = strings.ReplaceAll(inner, closing+closing, closing)
	}
	if closing == "'" {
		return token{value, inner}, end
	}
	return token{quoted, strings.ToLower(inner)}, end
}

// wordToken returns a word, or a whole number in its usual form: other numbers may be
// stored in another form than they are written.
func wordToken(text string) token {
	if text[0] < '0' || text[0] > '9' {
		return token{word, strings.ToLower(text)}
	}
	if strings.Trim(text, "0123456789") != "" || len(text) > 1 && text[0] == '0' || len(text) > 18 {
		return token{symbol, text}
	}
	return token{value, text}
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// containsFold reports whether text contains part, which is in lower case.
func containsFold(text, part string) bool { return strings.Contains(strings.ToLower(text), part) }
