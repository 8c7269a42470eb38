package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

const many = 1000

// Repeated members do not make a small answer a large one.
func TestAttacksWithMembersThatComeAgain(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 10_000)
	own := began("") + text("0", plan) + event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5,"note":"`+big+`"}`) + event("message_stop", "")
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
	got := ask{members: list, turns: []fakellm.Turn{fakellm.Text(strings.Repeat("word ", 2000)), edit()}}.send(t, true)
	require.Len(t, got.requests, 2)
	assert.Less(t, len(got.requests[1].Body), len(got.requests[0].Body)+20_000)
	assert.Equal(t, 1, strings.Count(string(got.requests[1].Body), `"todo_pause"`))
}
