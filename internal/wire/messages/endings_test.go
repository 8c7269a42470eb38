package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// Only "end_turn" is a plain stop. With any other stop reason, the caller's own
// turn passes byte for byte.
func TestStopReasonsThatEndTheCall(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]continuation.Reason{
		"stop_sequence": reasons.NotEnded, "max_tokens": reasons.NotEnded, "pause_turn": reasons.NotEnded,
		"refusal": reasons.Refused, "model_context_window_exceeded": reasons.NotEnded,
		"compaction": reasons.NotEnded, "stop": reasons.NotEnded, "tool_use": reasons.NotEnded,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).Finish(reason)}}.both(t, func(t *testing.T, got answer) {
				t.Helper()
				assert.Equal(t, want, got.outcome.Reason)
				assert.Len(t, got.requests, 1)
				assert.Equal(t, reason, got.message.StopReason)
			})
		})
	}
}

// The caller sees a later turn's own stop reason, because only the caller can
// act on it.
func TestEndsOfContinuations(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"max_tokens", "stop_sequence", "pause_turn", "model_context_window_exceeded"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Here it is.").Finish(reason)}}
			a.both(t, func(t *testing.T, got answer) {
				t.Helper()
				assert.Equal(t, reason, got.message.StopReason)
				assert.Equal(t, []string{wiretest.Plan, "\n\nHere it is."}, got.message.shown())
			})
		})
	}
}

// A continuation that is refused, or ends without a stop reason, has failed:
// the answer ends like the turn before it.
func TestContinuationsThatDoNotEndWell(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turn  fakellm.Turn
		shown string // of the turn, by a stream
	}{
		"refusal":   {fakellm.Text("I will ").Refusal("not."), "\n\nI will not."},
		"no reason": {fakellm.Text("Here.").With(fakellm.NoFinish), "\n\nHere."},
		"no stop":   {fakellm.Text("Here.").EndAfter(-2), "\n\nHere."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, stream := range []bool{true, false} {
				if name == "no stop" && !stream {
					continue
				}
				got := ask{
					options: []middleware.Option{middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})},
					turns:   []fakellm.Turn{fakellm.Text(wiretest.Plan), test.turn, test.turn, test.turn},
				}.play(t, stream)
				require.NoError(t, got.err)
				assert.Equal(t, "end_turn", got.message.StopReason)
				assert.JSONEq(t, `{"input_tokens":10,"output_tokens":5}`, string(got.message.Usage))
				assert.Equal(t, reasons.Failed, got.outcome.Reason)
				require.Error(t, got.outcome.Err)
				want, sent := []string{wiretest.Plan}, 4 // nothing is shown of an answer in one piece: it is asked for three times
				if stream {
					want = append(want, test.shown)
				}
				if stream || name == "refusal" {
					sent = 2
				}
				assert.Equal(t, want, got.message.shown())
				assert.Len(t, got.requests, sent)
			}
		})
	}
}

// event is an event of a stream that is written out.
func event(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + members + "}\n\n"
}

func began(more string) string {
	return event("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}`+more+`}`)
}

func text(index, words string) string { return blockOf(index, `{"type":"text","text":""}`, words) }

func blockOf(index, block string, deltas ...string) string {
	var b strings.Builder
	b.WriteString(event("content_block_start", `"index":`+index+`,"content_block":`+block))
	for _, delta := range deltas {
		if !strings.HasPrefix(delta, "{") {
			delta = `{"type":"text_delta","text":"` + delta + `"}`
		}
		b.WriteString(event("content_block_delta", `"index":`+index+`,"delta":`+delta))
	}
	return b.String() + event("content_block_stop", `"index":`+index)
}

func ended(reason string) string {
	return event("message_delta", `"delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":5}`) + event("message_stop", "")
}

// carryon does not continue the caller's own turn if it does not understand all
// of it.
func TestFirstTurnsThatAreNotContinued(t *testing.T) {
	t.Parallel()
	const serverTool = `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`
	whole := began("") + text("0", wiretest.Plan) + ended("end_turn")
	for name, test := range map[string]struct {
		raw    string
		reason continuation.Reason
	}{
		"calls with end_turn": {
			began("") + text("0", wiretest.Plan) + blockOf("1", `{"type":"tool_use","id":"t1","name":"edit_file","input":{}}`) + ended("end_turn"),
			reasons.ToolCalls,
		},
		"a call at the beginning": {
			strings.Replace(began(""), `"content":[]`, `"content":[{"type":"tool_use","id":"t1","name":"edit_file","input":{}}]`, 1) + text("1", wiretest.Plan) + ended("end_turn"),
			reasons.ToolCalls,
		},
		"an unknown block": {
			began("") + text("0", wiretest.Plan) + blockOf("1", `{"type":"mcp_approval_request","id":"a1"}`) + ended("end_turn"), reasons.UnknownContent,
		},
		"a compaction":     {began("") + blockOf("0", `{"type":"compaction"}`) + text("1", wiretest.Plan) + ended("end_turn"), reasons.UnknownContent},
		"no message_stop":  {strings.TrimSuffix(whole, event("message_stop", "")), reasons.BrokeOff},
		"no message_delta": {began("") + text("0", wiretest.Plan) + event("message_stop", ""), reasons.NotEnded},
		"nothing more":     {began("") + text("0", wiretest.Plan), reasons.NotEnded},
		"an error": {
			began("") + text("0", wiretest.Plan) + event("error", `"error":{"type":"overloaded_error","message":"Later."}`), reasons.BrokeOff,
		},
		"not JSON":              {began("") + "event: content_block_delta\ndata: {\"type\n\n", reasons.BrokeOff},
		"more after the end":    {whole[:len(whole)-len(event("message_stop", ""))] + text("1", "More."), reasons.NotEnded},
		"a server tool's pause": {began("") + text("0", wiretest.Plan) + blockOf("1", serverTool) + ended("pause_turn"), reasons.NotEnded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask{turns: []fakellm.Turn{fakellm.Raw(test.raw)}}.exchange(t, true)
			assert.Equal(t, test.raw, got.raw)
			assert.Equal(t, test.reason, got.outcome.Reason, got.outcome.Reason.String())
			assert.Len(t, got.requests, 1)
		})
	}
}
