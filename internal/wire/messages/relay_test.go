package messages_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

var errClosed = errors.New("closed")

// engine is a [wire.Stream] that shows everything unchanged.
type engine struct {
	adapter.TurnReader // nil: only the methods below are called

	source          *wire.Source
	codec           wire.Codec
	handled         int // events that were not relayed
	text, reasoning strings.Builder
}

func (g *engine) Relay() wire.Relay        { return g }
func (g *engine) Recv() (sse.Event, error) { return g.Handle(g.source.Recv()) }
func (g *engine) Close() error             { return g.source.Close() }
func (g *engine) ErrClosed() error         { return errClosed }

func (g *engine) Ended() bool { return false }

func (g *engine) TryRecv() (sse.Event, bool) {
	e, ok := g.source.TryRecv()
	if ok {
		e, _ = g.Handle(e, nil)
	}
	return e, ok
}

func (g *engine) Handle(e sse.Event, err error) (sse.Event, error) {
	if err == nil {
		g.codec.Read(&e, g)
		if e.Kind == sse.Object {
			g.handled++
		}
	}
	return e, err
}

func (g *engine) Text(text string)                 { g.text.WriteString(text) }
func (g *engine) Reasoning(text string)            { g.reasoning.WriteString(text) }
func (g *engine) Usage(adapter.Usage)              {}
func (g *engine) Size(int)                         {}
func (g *engine) Finish(string)                    {}
func (g *engine) Done()                            {}
func (g *engine) Signed()                          {}
func (g *engine) Unknown()                         {}
func (g *engine) Content()                         {}
func (g *engine) Call(int, string, string, string) {}

func open(t *testing.T, answer io.Reader) (*wire.AnswerBody, *engine) {
	t.Helper()
	_, parsed := parse(t, `{"messages":[]}`)
	g := &engine{source: wire.NewSource(io.NopCloser(answer), nil), codec: parsed.NewCodec()}
	return wire.NewAnswerBody(g, g.codec, g.source), g
}

func delta(index int, kind, member, text, blanks string) string {
	return event("content_block_delta", fmt.Sprintf(`"index":%d,"delta":{"type":%q,%q:%q}%s`, index, kind, member, text, blanks))
}

// Parts of blocks and pings are relayed unread, with any blanks after them;
// events that begin or end something are read.
func TestPartsOfBlocksAreRelayed(t *testing.T) {
	t.Parallel()
	var answer, text, thoughts strings.Builder
	answer.WriteString(event("message_start", `"message":{"id":"msg_1","content":[]}`))
	answer.WriteString(event("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":""}`))
	for i := range 50 {
		word := fmt.Sprintf("thought %d ", i)
		thoughts.WriteString(word)
		answer.WriteString(delta(0, "thinking_delta", "thinking", word, strings.Repeat(" ", i%9)))
	}
	answer.WriteString(event("content_block_stop", `"index":0`) + event("content_block_start", `"index":1,"content_block":{"type":"text","text":""}`))
	for i := range 50 {
		word := fmt.Sprintf("word \"%d\"\n", i)
		text.WriteString(word)
		answer.WriteString(delta(1, "text_delta", "text", word, strings.Repeat(" ", i%9)) + event("ping", ""))
	}
	answer.WriteString(event("content_block_stop", `"index":1`) + event("content_block_start", `"index":2,"content_block":{"type":"tool_use","id":"t","name":"edit","input":{}}`))
	for range 50 {
		answer.WriteString(delta(2, "input_json_delta", "partial_json", `{"a":`, ""))
	}
	answer.WriteString(event("content_block_stop", `"index":2`))
	for name, as := range map[string]io.Reader{"whole": strings.NewReader(answer.String()), "byte by byte": iotest.OneByteReader(strings.NewReader(answer.String()))} {
		body, g := open(t, as)
		got, err := io.ReadAll(body)
		require.NoError(t, err)
		assert.Equal(t, answer.String(), string(got), name)
		assert.Equal(t, text.String(), g.text.String(), name)
		assert.Equal(t, thoughts.String(), g.reasoning.String(), name)
		if name == "whole" {
			assert.LessOrEqual(t, g.handled, 7+2, "message_start, the beginnings and ends of three blocks, and events that a read has cut")
		}
	}
}

// Events that a continuation depends on are read.
func TestOtherEventsAreRead(t *testing.T) {
	t.Parallel()
	head := event("message_start", `"message":{"id":"msg_1","content":[]}`) + event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
		delta(0, "text_delta", "text", "a", "")
	for name, other := range map[string]string{
		"a signature":      delta(0, "signature_delta", "signature", "x", ""),
		"a citation":       event("content_block_delta", `"index":0,"delta":{"type":"citations_delta","citation":{}}`),
		"another index":    delta(1, "text_delta", "text", "b", ""),
		"the wrong kind":   delta(0, "thinking_delta", "thinking", "b", ""),
		"more than a text": event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"b","text2":"c"}`),
		"a text and more":  event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"b","thinking":"c"}`),
		"more members":     event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"b"},"usage":{}`),
		"no text":          event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":null}`),
		"an end":           event("message_delta", `"delta":{"stop_reason":"end_turn"}`),
		"a named error":    "event: error\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, before := open(t, strings.NewReader(head))
			body, g := open(t, strings.NewReader(head+other))
			defer func() {
				if recover() != nil { // an error is reported in a way that this engine does not take
					g.handled++
				}
				assert.Equal(t, 3+before.handled, g.handled)
			}()
			got, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Equal(t, head+other, string(got))
		})
	}
}

// BenchmarkRelay relays the text of a long answer.
func BenchmarkRelay(b *testing.B) {
	var answer strings.Builder
	answer.WriteString(event("message_start", `"message":{"id":"msg_1","content":[]}`) + event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`))
	const events = 1000
	for i := range events {
		answer.WriteString(delta(0, "text_delta", "text", " some words", strings.Repeat(" ", i*7%16)))
	}
	buffer := make([]byte, 32<<10)
	b.SetBytes(int64(answer.Len()))
	b.ReportAllocs()
	for b.Loop() {
		t := new(testing.T)
		body, _ := open(t, strings.NewReader(answer.String()))
		for {
			if _, err := body.Read(buffer); err != nil {
				break
			}
		}
	}
}
