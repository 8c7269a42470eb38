package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/prompt"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	question := prompt.Question(false)
	assert.True(t, strings.HasPrefix(question, continuation.PromptPreamble+"\n\n"))
	assert.True(t, strings.HasSuffix(question, "\n"+prompt.NothingOpen))
	assert.Contains(t, prompt.Question(true), "todo_pause is not among your tools")
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		prompt.NothingOpen, "nothing is open", "NOTHING IS OPEN!", "**Nothing is open.**", "> `Nothing is open`\n",
		"\n\n  Nothing\nis   open.  \n", "“Nothing is open.”", "# Nothing is open", "- nothing is open …", "~~~\nNothing is open.\n~~~",
	} {
		assert.True(t, read(line).SaysNothingOpen(), line)
		assert.True(t, read(line).IsPending(), line)
	}
	for _, other := range []string{
		"Nothing is open. The tests pass.", "Nothing is opened.", "Nothing is open 1", "No, nothing is open.", "Done.",
		"Nothing is ope n", "Nothingis open", "No thing is open", "Nothing isopen", "✅ Nothing is open.", "Nothing is open, except the tests",
		"Nothing is open.\n\nNothing is open.", "Nichts ist offen.", "nothing  ıs open",
	} {
		assert.False(t, read(other).SaysNothingOpen(), other)
		assert.False(t, read(other).IsPending(), other)
	}
	for _, beginning := range []string{"", " \n", "**", "Nothing", "Nothing is", "Nothing is op", "nothing is "} {
		assert.False(t, read(beginning).SaysNothingOpen(), beginning)
		assert.True(t, read(beginning).IsPending(), beginning)
	}
}

func read(text string) *prompt.Reply {
	r := prompt.NewReply()
	r.Add(text)
	return &r
}

func TestReplyOfATurnThatWasNotAsked(t *testing.T) {
	t.Parallel()
	var r prompt.Reply
	r.Add(prompt.NothingOpen)
	assert.False(t, r.SaysNothingOpen())
	assert.False(t, r.IsPending())
}

// The pieces in which an answer comes do not matter, and once it differs, it stays different.
func FuzzReply(f *testing.F) {
	f.Add("Nothing is open.", uint8(3))
	f.Add("**Nothing** is open. But", uint8(1))
	f.Add("Nothing is ope", uint8(7))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		pieces := prompt.NewReply()
		pending := true
		for rest := []rune(text); len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			pieces.Add(string(rest[:n]))
			rest = rest[n:]
			assert.False(t, !pending && pieces.IsPending(), "it changed its mind")
			pending = pieces.IsPending()
		}
		whole := read(text)
		assert.Equal(t, whole.IsPending(), pieces.IsPending())
		assert.Equal(t, whole.SaysNothingOpen(), pieces.SaysNothingOpen())
		assert.False(t, !whole.IsPending() && whole.SaysNothingOpen())
	})
}
