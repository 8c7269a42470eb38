package messages_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// replayed asks for a streamed answer and reads it.
func replayed(t *testing.T, bodies ...io.Reader) (string, middleware.Outcome, error) {
	t.Helper()
	mw := middleware.New(wiretest.TwoTodos, wiretest.Unattended, wiretest.Continuations(max(1, len(bodies)-1)))
	ctx, outcomes := middleware.Capture(t.Context())
	r := request(t, ask{}.body(true)).WithContext(ctx)
	response, err := transport.New(&wiretest.Replay{Answers: bodies}, mw).RoundTrip(r)
	require.NoError(t, err)
	var got bytes.Buffer
	_, err = io.CopyBuffer(&got, onlyReader{response.Body}, make([]byte, 1000))
	require.NoError(t, response.Body.Close())
	return got.String(), outcomes.Last(), err
}

type onlyReader struct{ io.Reader }

const search = `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`

// found are the blocks of a search, and of an answer that cites it.
func found() string {
	return blockOf("0", search, `{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{\"query\":\"a\"}"}`) +
		blockOf("1", `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://a.test","encrypted_content":"x"}]}`) +
		blockOf("2", `{"type":"text","text":"","citations":[]}`, `{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a.test"}}`, "It is so.") +
		text("3", " And so is this.")
}

// seconds are second turns in all shapes.
var seconds = map[string]string{
	"text": strings.Replace(began(""), "msg_1", "msg_2", 1) + text("0", "Here it is.") + ended("end_turn"),
	"text and call": began("") + text("0", "Here.") +
		blockOf("1", `{"type":"tool_use","id":"t1","name":"edit_file","input":{}}`, `{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`) + ended("tool_use"),
	"thinking and pause": began("") + blockOf("0", `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"Hm."}`, `{"type":"signature_delta","signature":"abc"}`) +
		text("1", "I am ") + event("ping", "") + blockOf("2", `{"type":"tool_use","id":"t1","name":"todo_pause","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"reason\":\"`+wiretest.Blocked+`\"}"}`) + ended("tool_use"),
	"printed pause":     began("") + text("0", "I am stuck. todo_pause('"+wiretest.Blocked+"')") + ended("end_turn"),
	"search":            began("") + found() + ended("end_turn"),
	"unsigned thinking": began("") + blockOf("0", `{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":"Hm."}`) + text("1", "So.") + ended("end_turn"),
}

// overloaded is an error that the provider reports in a stream.
var overloaded = event("error", `"error":{"type":"overloaded_error","message":"Later."}`)

// stops counts the events that end a block, including one of which only the blank line is missing.
func stops(stream string) int {
	n := 0
	for e := range strings.SplitSeq(stream, "\n\n") {
		if strings.Contains(e, "content_block_stop") && strings.HasSuffix(strings.TrimSpace(e), "}") {
			n++
		}
	}
	return n
}

// A second turn may fail at any byte. The first turn stays unchanged, the
// answer shown is complete, and half a call is an error.
func TestAnswersThatFailAnywhere(t *testing.T) {
	t.Parallel()
	first := began("") + text("0", wiretest.Plan) + ended("end_turn")
	for fault, rest := range map[string]func() io.Reader{
		"end": func() io.Reader { return strings.NewReader("") },
		"cut": func() io.Reader { return iotest.ErrReader(wiretest.ErrLost) },
		"report": func() io.Reader {
			return strings.NewReader("\n\n" + overloaded)
		},
		"garbage": func() io.Reader { return strings.NewReader("\n\ndata: {]\n\n") },
	} {
		for name, second := range seconds {
			t.Run(fault+", "+name, func(t *testing.T) {
				t.Parallel()
				end := strings.Index(second, "event: message_delta")
				end += strings.Index(second[end:], "\n\n")
				for at := len(name) % *wiretest.Sample; at < end; at += *wiretest.Sample {
					got, outcome, err := replayed(t, strings.NewReader(first), io.MultiReader(strings.NewReader(second[:at]), rest()))
					require.True(t, strings.HasPrefix(got, first[:strings.Index(first, "event: message_delta")]), "turn 1 is shown as it came")
					require.Error(t, outcome.Err)
					if reported := strings.HasSuffix(got, overloaded); err != nil || reported {
						require.Contains(t, got, `"name":"edit_file"`, "an error only for half a call")
						require.NotContains(t, got, "message_delta")
						require.LessOrEqual(t, stops(got), stops(first)+stops(second[:at]), "half a call is not ended")
						require.Error(t, err)
						require.True(t, !reported || fault == "report", "the provider's own words")
						continue
					}
					m := readStream(t, got)
					require.Equal(t, "end_turn", m.StopReason)
					require.JSONEq(t, `{"output_tokens":5}`, string(m.Usage), "turn 1's, as it came")
					require.NotContains(t, got, "edit_file")
					require.Equal(t, wiretest.Plan, m.shown()[0])
					ask{}.requireAccepted(t, m)
				}
			})
		}
	}
}

// The caller's own turn fails as it does without carryon.
func TestAnswersThatFailAnywhereInTheFirstTurn(t *testing.T) {
	t.Parallel()
	for name, first := range seconds {
		first = strings.Replace(first, `"end_turn"`, `"max_tokens"`, 1) // at its end it would be continued
		for at := len(name) % *wiretest.Sample; at < len(first); at += *wiretest.Sample {
			got, outcome, err := replayed(t, io.MultiReader(strings.NewReader(first[:at]), iotest.ErrReader(wiretest.ErrLost)))
			require.ErrorIs(t, err, wiretest.ErrLost)
			require.Equal(t, first[:at], got, "%s, %d", name, at)
			require.Zero(t, outcome.Attempts)
		}
	}
}

// A failure before the second turn's first byte does not change the answer.
func TestSecondTurnsThatAreRefused(t *testing.T) {
	t.Parallel()
	first := began("") + text("0", wiretest.Plan) + ended("end_turn")
	got, outcome, err := replayed(t, strings.NewReader(first))
	require.NoError(t, err)
	assert.Equal(t, first, got)
	require.ErrorIs(t, outcome.Err, wiretest.ErrLost)
	inASearch := began("") + event("content_block_start", `"index":0,"content_block":`+search) + began("") + text("0", "One.") + ended("end_turn")
	for _, body := range []string{"", inASearch, `{"type":"message"}`, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Later.\"}}\n\n"} {
		got, outcome, err = replayed(t, strings.NewReader(first), strings.NewReader(body))
		require.NoError(t, err)
		assert.Equal(t, first, got, body)
		require.Error(t, outcome.Err)
	}
}

// Half a call must not look whole, wherever the answer ends, and whatever else it
// has. An error event in it is shown as it came.
func TestHalfACallIsAnError(t *testing.T) {
	t.Parallel()
	begun := event("content_block_start", `"index":0,"content_block":`+call) + event("content_block_delta", `"index":0,"delta":`+input(`{"a`))
	for name, second := range map[string]string{
		"in the call":                  began("") + begun,
		"behind the call":              began("") + begun + event("content_block_stop", `"index":0`),
		"an error":                     began("") + begun + overloaded,
		"an error in lines":            began("") + begun + inLines(overloaded),
		"a message that begins":        began("") + begun + began("") + text("0", "One.") + ended("end_turn"),
		"behind an early end":          began("") + event("message_delta", `"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}`) + begun,
		"an error behind an early end": began("") + event("message_delta", `"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}`) + begun + overloaded,
		"a late part": began("") + blockOf("0", call, input(`{"a"`)) + blockOf("1", strings.Replace(call, "t1", "t2", 1), input("{}")) +
			event("content_block_delta", `"index":0,"delta":`+input(`:1}`)) + ended("tool_use"),
		"a part of the newest block, late": began("") + text("2", "One.") + begun + event("content_block_delta", `"index":2,"delta":`+input(`":1}`)) + ended("tool_use"),
		"a part of an older block, late":   began("") + text("2", "One.") + begun + event("content_block_delta", `"index":1,"delta":`+input(`":1}`)) + ended("tool_use"),
		"a block in its place":             began("") + begun + blockOf("0", strings.Replace(call, "t1", "t2", 1), input("{}")) + ended("tool_use"),
		"too many blocks":                  began("") + begun + strings.Repeat(event("content_block_start", `"index":0,"content_block":`+call), 300) + ended("tool_use"),
		"a search that is too large to be held": began("") + strings.TrimSuffix(
			blockOf("0", search, slices.Repeat([]string{input(`{"query":"` + strings.Repeat("x", 1<<18) + `"}`)}, 5)...), event("content_block_stop", `"index":0`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, outcome, err := replayed(t, strings.NewReader(first), strings.NewReader(second))
			require.Error(t, outcome.Err)
			assert.NotContains(t, got, "message_delta")
			assert.NotContains(t, got, "message_stop")
			require.Error(t, err)
			if strings.HasPrefix(name, "an error") {
				at := strings.Index(got, "\n\nevent: error\ndata: ")
				require.Positive(t, at, got)
				report := strings.TrimPrefix(got[at:], "\n\nevent: error\ndata: ")
				assert.JSONEq(t, `{"type":"error","error":{"type":"overloaded_error","message":"Later."}}`, report)
				assert.Equal(t, len(report)-2, strings.Index(report, "\n"), "one line, and a blank one")
			}
		})
	}
}

// Calls whose ids were used before get new ones. No number is tried twice, so that many of
// them take linear time.
func TestIDsThatAreUsedTwice(t *testing.T) {
	t.Parallel()
	other := strings.Replace(call, "t1", "t2", 1)
	first := began("") + text("0", wiretest.Plan) + ended("end_turn")
	second := began("") + blockOf("0", call, input("{}")) + blockOf("1", call, input("{}")) +
		blockOf("2", other, input("{}")) + blockOf("3", other, input("{}")) + ended("tool_use")
	got, _, err := replayed(t, strings.NewReader(first), strings.NewReader(second))
	require.NoError(t, err)
	var ids []string
	for _, block := range readStream(t, got).Content {
		if id := block.ID; id != "" {
			ids = append(ids, id)
		}
	}
	assert.Equal(t, []string{"t1", "t1_1", "t2", "t2_2"}, ids)
}

// A part of a call that fits no open call may leave the call with half of its input: the answer fails, also behind the stop reason.
func TestPartsThatBelongToNoCall(t *testing.T) {
	t.Parallel()
	first := began("") + text("0", wiretest.Plan) + ended("end_turn")
	start := event("content_block_start", `"index":0,"content_block":`+call)
	part := func(index, json string) string {
		return event("content_block_delta", `"index":`+index+`,"delta":`+input(json))
	}
	stop := event("content_block_stop", `"index":0`)
	end, last, _ := strings.Cut(ended("tool_use"), "event: message_stop")
	last = "event: message_stop" + last
	for name, second := range map[string]string{
		"behind the end of the call":                      start + stop + part("0", "{}") + end + last,
		"behind the stop reason":                          start + end + stop + part("0", "{}") + last,
		"under another index than the parts before":       start + part("0", "{}") + part("1", "{}") + stop + end + last,
		"under the index of the call, and another before": start + part("1", "{}") + part("0", "{}") + stop + end + last,
	} {
		got, outcome, err := replayed(t, strings.NewReader(first), strings.NewReader(began("")+second))
		require.Error(t, err, name)
		require.Error(t, outcome.Err, name)
		assert.NotContains(t, got, `"stop_reason":"tool_use"`, name)
	}
}

// A call that is open when its turn breaks off stays open, even if the turn has said how it stops.
func TestOpenCallOfATurnThatBreaksOffBehindItsStopReason(t *testing.T) {
	t.Parallel()
	first := began("") + text("0", wiretest.Plan) + ended("end_turn")
	end, _, _ := strings.Cut(ended("tool_use"), "event: message_stop")
	half := began("") + event("content_block_start", `"index":0,"content_block":`+call) +
		event("content_block_delta", `"index":0,"delta":`+input(`{"pa`)) + end
	got, _, err := replayed(t, strings.NewReader(first), strings.NewReader(half))
	require.NoError(t, err)
	assert.Contains(t, got, "edit_file")
	assert.Equal(t, stops(first), stops(got), "half a call is not ended")
}
