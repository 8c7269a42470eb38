package middleware

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
)

// borrowed returns a text in memory that reuse overwrites, as its owner would.
func borrowed(text string) (loan string, reuse func()) {
	memory := []byte(text)
	return unsafe.String(&memory[0], len(memory)), func() {
		for i := range memory {
			memory[i] = '#'
		}
	}
}

func TestTurnReaderCopiesWhatItKeeps(t *testing.T) {
	t.Parallel()
	var reuse []func()
	lend := func(text string) string {
		loan, back := borrowed(text)
		reuse = append(reuse, back)
		return loan
	}
	r := turnReader{text: turnText{printable: true}}
	r.Text(lend("todo_pause('a"))
	r.Call(0, lend("p"), lend("todo_"), lend(`{"a":`))
	r.Finish(lend("end_turn"))
	own := turnReader{first: true, calls: tracker{unwatched: true}}
	own.Text(lend("shown"))
	kept := own.chunk.clone()
	for _, back := range reuse {
		back()
	}
	assert.Equal(t, "shown", kept.text)
	assert.Equal(t, "end_turn", r.finish)
	call := r.calls.calls[0]
	assert.Equal(t, []string{"p", "todo_", `{"a":`}, []string{call.id, call.name, string(call.arguments)})
	assert.Equal(t, "todo_pause('a", r.text.printed.Release())
}

func TestTurnReaderAddsUpWhatAChunkHolds(t *testing.T) {
	t.Parallel()
	r := turnReader{first: true, calls: tracker{unwatched: true}}
	r.Text("One, ")
	r.Text("")
	r.Text("two.")
	assert.Equal(t, "One, two.", r.chunk.text)
	assert.Equal(t, len("One, two."), r.chunk.size)
	r.nextChunk()
	r.Text("")
	assert.False(t, r.chunk.ownText)
	assert.False(t, r.chunk.adds())
	r.Call(0, "id", "name", "arguments")
	r.Reasoning("why")
	r.Size(100)
	assert.Equal(t, len("id"+"name"+"arguments"+"why")+100, r.chunk.size)
}

func TestTurnReaderKnowsWhatAReaderWouldMiss(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(*turnReader){
		"text":                 func(r *turnReader) { r.Text("One:") },
		"reasoning":            func(r *turnReader) { r.Reasoning("why") },
		"a call":               func(r *turnReader) { r.Call(0, "", "", "") },
		"a call of other form": (*turnReader).OtherCall,
		"a refusal":            (*turnReader).Refusal,
		"another choice":       (*turnReader).OtherChoice,
	} {
		r := turnReader{first: true, calls: tracker{unwatched: true}}
		r.Usage(adapter.Usage{Prompt: 1})
		r.Finish("stop")
		r.Done()
		assert.False(t, r.chunk.adds(), "usage and the end are expected")
		r.nextChunk()
		report(&r)
		assert.True(t, r.chunk.adds(), name)
	}
}
