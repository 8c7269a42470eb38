package messages_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
)

func open(t *testing.T, answer io.Reader) (*wire.AnswerBody, *wiretest.Engine) {
	t.Helper()
	_, parsed := parse(t, `{"messages":[]}`)
	return wiretest.Open(parsed, answer)
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
		assert.Equal(t, text.String(), g.Texts.String(), name)
		assert.Equal(t, thoughts.String(), g.Thoughts.String(), name)
		if name == "whole" {
			assert.LessOrEqual(t, g.Handled, 7+2, "message_start, the beginnings and ends of three blocks, and events that a read has cut")
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
			got, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Equal(t, head+other, string(got))
			assert.Equal(t, 3+before.Handled, g.Handled)
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
