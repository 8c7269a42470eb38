package messages_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

const many = 1000

// Repeated members do not make a small answer a large one.
func TestAttacksWithMembersThatComeAgain(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 10_000)
	own := began("") + text("0", wiretest.Plan) + event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5,"note":"`+big+`"}`) + event("message_stop", "")
	for name, second := range map[string]string{
		"usage":  began("") + event("message_delta", `"delta":{"stop_reason":"end_turn"}`+strings.Repeat(`,"usage":{}`, many)) + event("message_stop", ""),
		"delta":  began("") + event("message_delta", strings.Repeat(`"delta":{"stop_reason":"end_turn"},`, many)+`"usage":{}`) + event("message_stop", ""),
		"text":   began("") + event("content_block_delta", `"index":0,"delta":{"type":"text_delta"`+strings.Repeat(`,"text":"`+strings.Repeat("y", 100)+`"`, many)+`}`) + ended("end_turn"),
		"index":  began("") + event("content_block_start", strings.Repeat(`"index":0,`, many)+`"content_block":`+call) + ended("tool_use"),
		"blocks": began("") + strings.Repeat(event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`), many) + ended("end_turn"),
		"calls":  began("") + strings.Repeat(blockOf("0", call, input("{}")), many) + ended("tool_use"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := replayed(t, strings.NewReader(own), strings.NewReader(second))
			require.NoError(t, err)
			assert.Less(t, len(got), len(own)+2*len(second)+2000)
		})
	}
}

func TestAttacksWithListsThatComeAgain(t *testing.T) {
	t.Parallel()
	list := strings.Repeat(`"messages":[{"role":"user","content":"Begin."}],"tools":[`+editFile+`],`, many)
	got := ask{members: list, turns: []fakellm.Turn{fakellm.Text(strings.Repeat("word ", 2000)), wiretest.Edit()}}.send(t, true)
	require.Len(t, got.requests, 2)
	assert.Less(t, len(got.requests[1].Body), len(got.requests[0].Body)+20_000)
	assert.Equal(t, 1, strings.Count(string(got.requests[1].Body), `"todo_pause"`))
}

// shape is a random pattern of blocks that an answer repeats.
type shape struct {
	Kind     string   // of the blocks
	Events   []string // of each block
	Order    string   // of the events of all blocks
	Index    string   // of the blocks: rising, same, or none
	SameID   bool
	EndFirst bool // the message_delta comes before the blocks
}

// shapeOf returns the shape of a seed.
func shapeOf(seed uint64) shape {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // makes test data
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	s := shape{
		Kind:  one("text", "tool_use", "pause", "thinking", "server_tool_use", "novelty"),
		Order: one("by block", "by event", "there and back"), Index: one("rising", "same", "none"), SameID: r.IntN(2) == 0, EndFirst: r.IntN(4) == 0,
	}
	for _, e := range []string{"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", "message_start", "ping"} {
		if r.IntN(4) > 0 && (e != "message_start" || r.IntN(4) == 0) {
			s.Events = append(s.Events, e)
		}
	}
	return s
}

// event returns an event of the i-th block.
func (s shape) event(kind string, i int) string {
	index, id := `"index":`+strconv.Itoa(i)+`,`, "t"+strconv.Itoa(i)
	switch s.Index {
	case "none":
		index = ""
	case "same":
		index = `"index":0,`
	}
	if s.SameID {
		id = "t"
	}
	block, delta := `{"type":"`+s.Kind+`","id":"`+id+`","name":"edit_file","input":{},"text":"","thinking":""}`, input("{}")
	switch s.Kind {
	case "text":
		delta = `{"type":"text_delta","text":"x"}`
	case "thinking":
		delta = `{"type":"thinking_delta","thinking":"x"}`
	case "pause":
		block = `{"type":"tool_use","id":"` + id + `","name":"todo_pause","input":{}}`
	}
	switch kind {
	case "message_start":
		return began("")
	case "content_block_start":
		return event(kind, index+`"content_block":`+block)
	case "content_block_delta":
		return event(kind, index+`"delta":`+delta)
	}
	return event(kind, strings.TrimSuffix(index, ","))
}

// stream returns an answer of about that many bytes.
func (s shape) stream(size int) string {
	each := 1
	for _, kind := range s.Events {
		each += len(s.event(kind, 1000))
	}
	count := size/each + 1
	var b strings.Builder
	b.WriteString(began(""))
	if s.EndFirst {
		b.WriteString(event("message_delta", `"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}`))
	}
	if s.Order == "by block" {
		for i := range count {
			for _, kind := range s.Events {
				b.WriteString(s.event(kind, i))
			}
		}
		return b.String() + ended("tool_use")
	}
	for n, kind := range s.Events {
		for i := range count {
			if n%2 == 1 && s.Order == "there and back" {
				i = count - 1 - i
			}
			b.WriteString(s.event(kind, i))
		}
	}
	return b.String() + ended("tool_use")
}

// The time and the size of an answer grow with its length, not with the square,
// whatever the shape of its blocks.
func BenchmarkShapesAreLinear(b *testing.B) {
	const short = 64 << 10
	play := func(turns ...string) func() {
		return func() {
			mw := middleware.New(wiretest.TwoTodos, wiretest.Unhurried, middleware.WithPauseTool(middleware.PauseToolAlways))
			response, err := transport.New(wiretest.ReplayOf(turns...), mw).RoundTrip(request(b, ask{}.body(true)))
			require.NoError(b, err)
			size, _ := io.Copy(io.Discard, response.Body) // which may break off in a call
			require.NoError(b, response.Body.Close())
			assert.Less(b, int(size), 3*len(strings.Join(turns, ""))+4096)
		}
	}
	for seed := range uint64(160 / *wiretest.Sample) { //nolint:gosec // positive
		s := shapeOf(seed)
		few, many := s.stream(short), s.stream(measure.Longer*short)
		name := fmt.Sprintf("%d: %+v", seed, s)
		measure.Linear(b, name, play(few), play(many))
		measure.Linear(b, name+", turn 2", play(first, few), play(first, many))
	}
}

// The usage of a message's start is not read again with each of many ends.
func BenchmarkManyEndsAreLinear(b *testing.B) {
	play := func(n int) func() {
		usage := `"usage":{"input_tokens":1` + strings.Repeat(`,"x":1`, n) + `}`
		turn := event("message_start", `"message":{"id":"m","content":[],`+usage+`}`) + text("0", "One.") +
			strings.Repeat(event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}`)+text("1", "More."), n/10)
		return func() {
			response, err := transport.New(wiretest.ReplayOf(first, turn), middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).
				RoundTrip(request(b, ask{}.body(true)))
			require.NoError(b, err)
			_, _ = io.Copy(io.Discard, response.Body)
			require.NoError(b, response.Body.Close())
		}
	}
	measure.Linear(b, "ends", play(500), play(500*measure.Longer))
}
