package responses_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/responses"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// held passes events of turn 1 to a codec, and returns what is shown of them.
func held(t *testing.T, c wire.Codec, data ...string) string {
	t.Helper()
	var b strings.Builder
	for _, d := range data {
		e := sse.Written("", []byte(d), sse.Object)
		e.Written = false
		c.Read(&e, wiretest.NoReader())
		c.(wire.Holder).Hold(e)
		for _, shown := range released(c) {
			b.WriteString(string(shown.Data()) + "\n")
		}
	}
	return b.String()
}

// released returns the held events that the codec shows now.
func released(c wire.Codec) (all []sse.Event) {
	for e, ok := c.(wire.Holder).Next(); ok; e, ok = c.(wire.Holder).Next() {
		all = append(all, e)
	}
	return all
}

const (
	begun = `{"type":"response.created","sequence_number":0,"response":{"id":"r"}}`
	added = `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"m","type":"message","content":[]}}`
	piece = `{"type":"response.content_part.added","sequence_number":2,"item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}`
	delta = `{"type":"response.output_text.delta","sequence_number":3,"item_id":"m","output_index":0,"content_index":0,"delta":"a"}`
	text  = `{"type":"response.output_text.done","sequence_number":4,"item_id":"m","output_index":0,"content_index":0,"text":"a"}`
)

// Only the end of a message waits for the next event.
func TestEndOfAMessageWaits(t *testing.T) {
	t.Parallel()
	_, request, _ := responses.New().Parse(nil, []byte(`{}`), nil)
	c := request.NewCodec()
	assert.Equal(t, begun+"\n"+added+"\n"+piece+"\n"+delta+"\n", held(t, c, begun, added, piece, delta))
	assert.False(t, c.(wire.Holder).IsHolding())
	assert.Empty(t, held(t, c, text))
	assert.True(t, c.(wire.Holder).IsHolding())
	next := strings.Replace(strings.Replace(added, `"output_index":0`, `"output_index":1`, 1), `"m"`, `"n"`, 1)
	assert.Equal(t, text+"\n"+next+"\n", held(t, c, next))
	c = request.NewCodec()
	assert.NotEmpty(t, held(t, c, begun, added, piece, delta)+held(t, c, text[:len(text)-1]+`,"x":"`+strings.Repeat("x", 1<<20)+`"}`))
	assert.False(t, c.(wire.Holder).IsHolding(), "no more than a mebibyte waits")
}

// A heartbeat is an empty text in the open message. Later events get new
// numbers.
func TestHeartbeatIsAnEmptyText(t *testing.T) {
	t.Parallel()
	_, request, _ := responses.New().Parse(nil, []byte(`{}`), nil)
	c := request.NewCodec()
	assert.Empty(t, c.AppendHeartbeat(nil), "there is no message")
	held(t, c, begun, added, piece, delta, text)
	beat := c.AppendHeartbeat(nil)
	require.Len(t, beat, 1)
	assert.JSONEq(t, `{"type":"response.output_text.delta","sequence_number":4,"item_id":"m","output_index":0,"content_index":0,"delta":"","logprobs":[]}`,
		string(beat[0].Data()))
	c.(wire.Holder).Release()
	rest := released(c)
	require.Len(t, rest, 1)
	assert.Equal(t, strings.Replace(text, `"sequence_number":4`, `"sequence_number":5`, 1), string(rest[0].Data()))
}
