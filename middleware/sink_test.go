package middleware

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// borrowed returns a text in memory that its owner uses for something else
// once reuse is called.
func borrowed(text string) (loan string, reuse func()) {
	memory := []byte(text)
	return unsafe.String(&memory[0], len(memory)), func() {
		for i := range memory {
			memory[i] = '#'
		}
	}
}

func TestSinkCopiesWhatItKeeps(t *testing.T) {
	t.Parallel()
	var reuse []func()
	lend := func(text string) string {
		loan, back := borrowed(text)
		reuse = append(reuse, back)
		return loan
	}
	var s Sink
	s.begin(2, true, true, false)
	s.Text(lend("todo_pause('a"))
	s.Call(0, lend("p"), lend("todo_"), lend(`{"a":`))
	s.Finish(lend("end_turn"))
	var own Sink
	own.begin(1, false, false, false)
	own.Text(lend("shown"))
	kept := own.chunk.clone()
	for _, back := range reuse {
		back()
	}
	assert.Equal(t, "shown", kept.text)
	assert.Equal(t, "end_turn", s.finish)
	call := s.calls.slots[0]
	assert.Equal(t, []string{"p", "todo_", `{"a":`}, []string{call.id, call.name, string(call.arguments)})
	assert.Equal(t, "todo_pause('a", s.printed.Release())
}

func TestSinkAddsUpWhatAChunkHolds(t *testing.T) {
	t.Parallel()
	var s Sink
	s.begin(1, false, false, false)
	s.Text("One, ")
	s.Text("")
	s.Text("two.")
	assert.Equal(t, "One, two.", s.chunk.text)
	assert.Equal(t, len("One, two."), s.chunk.size)
	s.next()
	s.Text("")
	assert.False(t, s.chunk.texted)
	assert.False(t, s.chunk.adds())
	s.Call(0, "id", "name", "arguments")
	s.Reasoning("why")
	s.Size(100)
	assert.Equal(t, len("id"+"name"+"arguments"+"why")+100, s.chunk.size)
}

func TestSinkKnowsWhatAReaderWouldMiss(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(*Sink){
		"text":                 func(s *Sink) { s.Text("One.") },
		"reasoning":            func(s *Sink) { s.Reasoning("why") },
		"a call":               func(s *Sink) { s.Call(0, "", "", "") },
		"a call of other form": (*Sink).OtherCall,
		"a refusal":            (*Sink).Refusal,
		"another choice":       (*Sink).OtherChoice,
	} {
		var s Sink
		s.begin(1, false, false, false)
		s.Usage(Usage{Prompt: 1})
		s.Finish("stop")
		s.Done()
		assert.False(t, s.chunk.adds(), "usage and the end are expected")
		s.next()
		report(&s)
		assert.True(t, s.chunk.adds(), name)
	}
}
