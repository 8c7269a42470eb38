package messages_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// message is an answer as a strict client reads it.
type message struct {
	ID, Type, Model string
	Content         []block
	StopReason      string  `json:"stop_reason"`
	StopSequence    *string `json:"stop_sequence"`
	Usage           json.RawMessage
	Container       json.RawMessage
}

// block is a content block.
type block struct {
	Type, Text, Thinking, Signature, ID, Name string

	Input json.RawMessage
	raw   json.RawMessage
	open  bool
	input string // in pieces
	cites int
}

func (b *block) UnmarshalJSON(data []byte) error {
	type plain block
	if err := json.Unmarshal(data, (*plain)(b)); err != nil {
		return err
	}
	b.raw = append(json.RawMessage(nil), data...)
	return nil
}

// shown returns the blocks in a short form.
func (m message) shown() []string {
	var list []string
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			list = append(list, b.Text)
		case "thinking":
			list = append(list, "("+b.Thinking+")")
		case "tool_use":
			list = append(list, b.Name+string(b.Input))
		default:
			list = append(list, "<"+b.Type+">")
		}
	}
	return list
}

func readAnswer(t *testing.T, raw string, stream bool) (m message) {
	t.Helper()
	if stream {
		return readStream(t, raw)
	}
	require.NoError(t, json.Unmarshal([]byte(raw), &m), raw)
	return m
}

// streamEvent is an event of any type.
type streamEvent struct {
	Type    string
	Index   int
	Message *message
	Block   *block `json:"content_block"`
	Delta   struct {
		Type, Text, Thinking, Signature string

		PartialJSON  string          `json:"partial_json"`
		StopReason   string          `json:"stop_reason"`
		StopSequence *string         `json:"stop_sequence"`
		Container    json.RawMessage `json:"container"`
	}
	Usage json.RawMessage
	Error json.RawMessage
}

var framed = regexp.MustCompile(`^event: (\w+)\ndata: (\{.*\})$`)

// readStream reads a stream as the strictest clients do: each event has its name,
// there is one beginning and one end, and blocks come one after the other.
func readStream(t *testing.T, raw string) message {
	t.Helper()
	r := streamReader{t: t}
	require.True(t, strings.HasSuffix(raw, "\n\n"), "the last event has no end: %q", raw)
	for text := range strings.SplitSeq(strings.TrimSuffix(raw, "\n\n"), "\n\n") {
		parts := framed.FindStringSubmatch(text)
		require.NotNil(t, parts, "%q", text)
		var e streamEvent
		require.NoError(t, json.Unmarshal([]byte(parts[2]), &e), text)
		require.Equal(t, parts[1], e.Type)
		r.add(&e, text)
	}
	assert.Equal(t, []int{1, 1, 1}, []int{r.starts, r.deltas, r.stops}, "message_start, message_delta, message_stop:\n%s", raw)
	return r.message
}

type streamReader struct {
	t                     *testing.T
	message               message
	starts, deltas, stops int
}

func (r *streamReader) add(e *streamEvent, text string) {
	require.Zero(r.t, r.stops, "behind the end: %s", text)
	content := r.message.Content
	switch e.Type {
	case "message_start":
		r.starts++
		r.message = *e.Message
	case "content_block_start":
		require.Len(r.t, content, e.Index, "blocks are dense: %s", text)
		require.False(r.t, e.Index > 0 && content[e.Index-1].open, "blocks do not overlap: %s", text)
		e.Block.open = true
		r.message.Content = append(content, *e.Block)
	case "content_block_delta", "content_block_stop":
		require.Len(r.t, content, e.Index+1, text)
		require.True(r.t, content[e.Index].open, text)
		content[e.Index].add(r.t, e)
	case "message_delta":
		r.deltas++
		require.False(r.t, len(content) > 0 && content[len(content)-1].open, "a block is open: %s", text)
		require.NotEmpty(r.t, e.Usage, "some clients fail on an end without usage")
		r.message.StopReason, r.message.StopSequence, r.message.Usage = e.Delta.StopReason, e.Delta.StopSequence, e.Usage
		r.message.Container = e.Delta.Container
	case "message_stop":
		r.stops++
	case "ping":
	default:
		require.Fail(r.t, "no genuine event", text)
	}
}

func (b *block) add(t *testing.T, e *streamEvent) {
	t.Helper()
	if e.Type == "content_block_stop" {
		b.open = false
		b.end(t)
		return
	}
	switch e.Delta.Type {
	case "text_delta":
		b.Text += e.Delta.Text
	case "thinking_delta":
		b.Thinking += e.Delta.Thinking
	case "signature_delta":
		b.Signature += e.Delta.Signature
	case "input_json_delta":
		b.input += e.Delta.PartialJSON
	case "citations_delta":
		require.Equal(t, "text", b.Type)
		b.cites++
	default:
		require.Fail(t, "unknown delta", e.Delta.Type)
	}
}

// end gives the block the form that it has in an answer that is not streamed.
func (b *block) end(t *testing.T) {
	t.Helper()
	var members map[string]any
	require.NoError(t, json.Unmarshal(b.raw, &members))
	switch b.Type {
	case "text":
		members["text"] = b.Text
	case "thinking":
		members["thinking"] = b.Thinking
		if b.Signature != "" {
			members["signature"] = b.Signature
		}
	case "tool_use", "server_tool_use":
		if b.input != "" {
			require.True(t, json.Valid([]byte(b.input)), b.input)
			b.Input = json.RawMessage(b.input)
			members["input"] = b.Input
		}
	}
	raw, err := json.Marshal(members)
	require.NoError(t, err)
	b.raw = raw
}
