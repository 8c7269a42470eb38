package logprobs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/logprobs"
)

func size(token *string) int { return len(*token) }

// A token is shown with the last byte of its text.
func TestTokensStayWithTheirText(t *testing.T) {
	t.Parallel()
	var q logprobs.Queue[string]
	assert.True(t, q.IsEmpty())
	q.Add("I stop: todo", []string{"I", " stop", ": to", "do"}, size)
	assert.Equal(t, []string{"I", " stop"}, q.Take("\n\nI stop: "), "the rest may be a pause")
	q.Add("_list.", []string{"_list", "."}, size)
	assert.Equal(t, []string{": to", "do", "_list", "."}, q.Take("todo_list."))
	assert.True(t, q.IsEmpty())
	q.Add("", []string{"\xf0\x9f"}, func(*string) int { return 0 })
	assert.Equal(t, []string{"\xf0\x9f"}, q.Take(""), "half a letter has no text yet")
}

// The tokens of a text that is never shown are not shown either.
func TestTokensOfAPauseAreDropped(t *testing.T) {
	t.Parallel()
	var q logprobs.Queue[string]
	q.Add("Stuck. todo_pause('x')", []string{"Stuck.", " ", "todo", "_pause", "('x')"}, size)
	assert.Equal(t, []string{"Stuck.", " "}, q.Take("Stuck. "))
	assert.Empty(t, q.Take("Task paused: x"))
	assert.True(t, q.IsEmpty())
}

// Tokens that do not match their text go with its end.
func TestTokensThatDoNotMatch(t *testing.T) {
	t.Parallel()
	var q logprobs.Queue[string]
	q.Add("One, two.", []string{"One, and more", "two"}, size)
	assert.Empty(t, q.Take("One, "))
	assert.Len(t, q.Take("two."), 2)
	q.Add("One", []string{"O"}, size)
	assert.Empty(t, q.Take("On"))
	assert.Len(t, q.Take("e"), 1)
}
