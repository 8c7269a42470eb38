// Package logprobs keeps the log probabilities of a text together with the text.
// carryon holds back text that may be a printed call of todo_pause, and puts a
// separator before the text of a turn.
package logprobs

import (
	"bytes"
	"strings"

	"github.com/carryon-go/carryon/internal/separator"
)

// Queue has the tokens of the text of a turn that was read and not shown. The zero
// value is empty.
type Queue[T any] struct {
	text   []byte
	tokens []token[T]
	shown  int // how many bytes of the text were shown, and are not in text any more
}

type token[T any] struct {
	value T
	end   int // in all of the text
}

// IsEmpty reports whether nothing is held back.
func (q *Queue[T]) IsEmpty() bool { return len(q.text) == 0 && len(q.tokens) == 0 }

// Add adds text and its tokens. Size returns the length of a token; some providers
// give fewer or other tokens than the text has.
func (q *Queue[T]) Add(text string, tokens []T, size func(*T) int) {
	at := q.shown + len(q.text)
	q.text = append(q.text, text...)
	whole := q.shown + len(q.text)
	for i := range tokens {
		at = min(at+size(&tokens[i]), whole)
		if i == len(tokens)-1 {
			at = whole
		}
		q.tokens = append(q.tokens, token[T]{tokens[i], at})
	}
}

// Take removes text that is shown, which may begin with a separator, and returns its
// tokens. If the text is not the queue's, Take empties the queue.
func (q *Queue[T]) Take(text string) []T {
	n, ok := q.find(text)
	if !ok {
		*q = Queue[T]{}
		return nil
	}
	q.text, q.shown = q.text[n:], q.shown+n
	var taken []T
	for len(q.tokens) > 0 && q.tokens[0].end <= q.shown {
		taken = append(taken, q.tokens[0].value)
		q.tokens = q.tokens[1:]
	}
	return taken
}

// find returns how much of the queue's text a text shows.
func (q *Queue[T]) find(text string) (n int, ok bool) {
	for n := range min(len(separator.Text), len(text)) + 1 {
		own := text[n:]
		if strings.HasPrefix(separator.Text, text[:n]) && bytes.HasPrefix(q.text, []byte(own)) {
			return len(own), true
		}
	}
	return 0, false
}
