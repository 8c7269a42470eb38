package messages_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

var first = began("") + text("0", wiretest.Plan) + ended("end_turn")

const call = `{"type":"tool_use","id":"t1","name":"edit_file","input":{}}`

func input(json string) string {
	return `{"type":"input_json_delta","partial_json":"` + strings.ReplaceAll(json, `"`, `\"`) + `"}`
}

// maxWaiting is how much of a block is held until its end.
const maxWaiting = 1 << 20

// thoughtBlock returns a block of thinking whose signature is empty.
func thoughtBlock(index string, pieces ...string) string {
	deltas := []string{`{"type":"signature_delta","signature":""}`}
	for _, piece := range pieces {
		deltas = append(deltas, `{"type":"thinking_delta","thinking":"`+piece+`"}`)
	}
	return blockOf(index, `{"type":"thinking","thinking":""}`, deltas...)
}

// inLines returns a stream with the JSON of each event on several lines, ended by
// CRLF.
func inLines(stream string) string {
	return strings.ReplaceAll(strings.NewReplacer(`{"`, "{\ndata: \"", `,"`, ",\ndata:\"").Replace(stream), "\n", "\r\n")
}

// Later turns in the shapes of all servers: blocks are numbered by their order.
func TestShapesOfLaterTurns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		second string
		shown  []string
		reason string
	}{
		"all of it in the beginning": {
			strings.Replace(strings.Replace(began(""), `"content":[]`, `"content":[`+call+`]`, 1), `"stop_reason":null`, `"stop_reason":"tool_use"`, 1) + event("message_stop", ""),
			[]string{"edit_file{}"},
			"tool_use",
		},
		"gaps": {
			began("") + text("0", "One.") + text("2", " Two.") + blockOf("4", call, input("{}")) + ended("tool_use"),
			[]string{"\n\nOne.", " Two.", "edit_file{}"},
			"tool_use",
		},
		"no index": {
			began("") + strings.ReplaceAll(blockOf("0", call, input(`{"a":1}`)), `"index":0,`, "") + ended("tool_use"),
			[]string{`edit_file{"a":1}`},
			"tool_use",
		},
		"index -1": {
			began("") + strings.ReplaceAll(text("0", "One."), `"index":0`, `"index":-1`) + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"the same index again": {
			began("") + strings.TrimSuffix(blockOf("0", `{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":"Hm."}`),
				event("content_block_stop", `"index":0`)) + blockOf("0", call, input(`{"a":1}`)) + ended("tool_use"),
			[]string{"(Hm.)", `edit_file{"a":1}`},
			"tool_use",
		},
		"a part under another index": {
			began("") + strings.Replace(blockOf("2", call, input(`{"a":1}`)), `content_block_delta","index":2`, `content_block_delta","index":3`, 1) + ended("tool_use"),
			[]string{`edit_file{"a":1}`},
			"tool_use",
		},
		"text without a block": {
			began("") + event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"One."}`) +
				event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":" Two."}`) + ended("end_turn"),
			[]string{"\n\nOne. Two."},
			"end_turn",
		},
		"text in the beginning of its block": {
			began("") + blockOf("0", `{"type":"text","text":"One."}`, " Two.") + ended("end_turn"), []string{"\n\nOne. Two."}, "end_turn",
		},
		"blocks without text": {
			began("") + text("0", "") + text("1", "One.") + text("2", "") + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"blocks that overlap": {
			began("") + event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) +
				event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"One."}`) + blockOf("1", call, input("{}")) +
				event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":" Two."}`) + event("content_block_stop", `"index":0`) + ended("tool_use"),
			[]string{"\n\nOne.", "edit_file{}", " Two."},
			"tool_use",
		},
		"no stop of a block": {
			began("") + strings.TrimSuffix(text("0", "One."), event("content_block_stop", `"index":0`)) + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"no stop of a call": {
			began("") + strings.TrimSuffix(blockOf("0", call, input("{}")), event("content_block_stop", `"index":0`)) + ended("tool_use"), []string{"edit_file{}"}, "tool_use",
		},
		"no stop of a search": {
			began("") + strings.TrimSuffix(blockOf("0", search), event("content_block_stop", `"index":0`)) + ended("end_turn"), []string{"<server_tool_use>"}, "end_turn",
		},
		"the end before the blocks": {
			began("") + event("message_delta", `"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}`) + text("0", "One.") + blockOf("1", call, input("{}")) +
				blockOf("2", strings.Replace(call, "t1", "t2", 1), input("{}")) + event("message_stop", ""),
			[]string{"\n\nOne.", "edit_file{}", "edit_file{}"},
			"tool_use",
		},
		"several data lines": {
			inLines(began("") + text("0", "One.") + blockOf("1", call, input("{}")) + ended("tool_use")), []string{"\n\nOne.", "edit_file{}"}, "tool_use",
		},
		"content in the beginning": {
			strings.Replace(began(""), `"content":[]`, `"content":[{"type":"text","text":"One."},`+call+`]`, 1) + ended("tool_use"),
			[]string{"\n\nOne.", "edit_file{}"},
			"tool_use",
		},
		"a pause in the beginning": {
			strings.Replace(began(""), `"content":[]`, `"content":[{"type":"tool_use","id":"p","name":"todo_pause","input":{"reason":"`+wiretest.Blocked+`"}}]`, 1) + ended("tool_use"),
			[]string{"\n\nTask paused: " + wiretest.Blocked},
			"end_turn",
		},
		"the id of a block before": {
			began("") + found() + blockOf("4", strings.Replace(call, "t1", "srv_1", 1), input("{}")) + ended("tool_use"),
			[]string{"<server_tool_use>", "<web_search_tool_result>", "\n\nIt is so.", " And so is this.", "edit_file{}"},
			"tool_use",
		},
		"redacted thinking": {
			began("") + blockOf("0", `{"type":"redacted_thinking","data":"x"}`) + text("1", "One.") + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"unsigned thinking behind thinking": {
			began("") + thoughtBlock("0", "Hm.") + thoughtBlock("1", "So.") + text("2", "One.") + ended("end_turn"), []string{"(Hm.)", "\n\nOne."}, "end_turn",
		},
		"unsigned thinking beyond a mebibyte": {
			began("") + thoughtBlock("0", strings.Repeat("x", maxWaiting), "Hm.") + text("1", "One.") + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"an unknown block": {
			began("") + blockOf("0", `{"type":"novelty","a":1}`, `{"type":"text_delta","text":""}`) + text("1", "One.") + ended("end_turn"),
			[]string{"<novelty>", "\n\nOne."},
			"end_turn",
		},
		"an unknown block that is signed": {
			began("") + blockOf("0", `{"type":"novelty","signature":"x"}`) + text("1", "One.") + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"a message_start again": {
			began("") + began("") + text("0", "One.") + ended("end_turn"), []string{"\n\nOne."}, "end_turn",
		},
		"data without names": {
			strings.ReplaceAll(strings.ReplaceAll(began("")+text("0", "One.")+ended("end_turn"), "event: ", ": "), ": message", ":message"),
			[]string{"\n\nOne."},
			"end_turn",
		},
		"an unknown event":    {began("") + event("novelty", "") + text("0", "One.") + ended("end_turn"), []string{"\n\nOne."}, "end_turn"},
		"comments":            {": OPENROUTER PROCESSING\n\n" + began("") + ": wait\n\n" + text("0", "One.") + ended("end_turn"), []string{"\n\nOne."}, "end_turn"},
		"CRLF":                {strings.ReplaceAll(began("")+text("0", "One.")+ended("end_turn"), "\n", "\r\n"), []string{"\n\nOne."}, "end_turn"},
		"no usage at the end": {strings.ReplaceAll(began("")+text("0", "One.")+ended("end_turn"), `,"usage":{"output_tokens":5}`, ""), []string{"\n\nOne."}, "end_turn"},
		"[DONE] behind it":    {began("") + text("0", "One.") + ended("end_turn") + "data: [DONE]\n\n", []string{"\n\nOne."}, "end_turn"},
	} {
		for way, as := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				got, _, err := replayed(t, as(strings.NewReader(first)), as(strings.NewReader(test.second)))
				require.NoError(t, err)
				m := readStream(t, got)
				assert.Equal(t, append([]string{wiretest.Plan}, test.shown...), m.shown())
				assert.Equal(t, test.reason, m.StopReason)
				assert.Equal(t, "msg_1", m.ID)
				if !strings.Contains(name, "unknown") && !strings.Contains(name, "unsigned") && name != "the same index again" {
					ask{}.requireAccepted(t, m)
				}
			})
		}
	}
}

// Citations stay with their text, and a search with its result.
func TestServerToolsOfLaterTurns(t *testing.T) {
	t.Parallel()
	got, _, err := replayed(t, strings.NewReader(first), strings.NewReader(began("")+found()+ended("end_turn")))
	require.NoError(t, err)
	m := readStream(t, got)
	assert.Equal(t, []string{wiretest.Plan, "<server_tool_use>", "<web_search_tool_result>", "\n\nIt is so.", " And so is this."}, m.shown())
	assert.Equal(t, 1, m.Content[3].cites)
	assert.JSONEq(t, `{"query":"a"}`, string(m.Content[1].Input))
	assert.Contains(t, got, `"encrypted_content":"x"`)
}

// A first turn with server tools that ends in text is continued.
func TestFirstTurnWithServerTools(t *testing.T) {
	t.Parallel()
	turn := began(`,"container":{"id":"c1"}`) + found() + ended("end_turn")
	got, _, err := replayed(t, strings.NewReader(turn), strings.NewReader(began(`,"container":{"id":"c2"}`)+text("0", "One.")+ended("end_turn")))
	require.NoError(t, err)
	m := readStream(t, got)
	assert.Equal(t, []string{"<server_tool_use>", "<web_search_tool_result>", "It is so.", " And so is this.", "\n\nOne."}, m.shown())
	assert.JSONEq(t, `{"id":"c1"}`, string(m.Container), "the first turn's stays")
}

func usage(text, members string) fakellm.Turn {
	return fakellm.Text(text).UsageJSON("{" + members + "}")
}

// The input is that of the first turn, and the output that of all.
func TestUsageOfTurns(t *testing.T) {
	t.Parallel()
	one := usage("Here.", `"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":5,"server_tool_use":{"web_search_requests":1},"cost":0.01,`+
		`"iterations":[{"type":"message","input_tokens":10,"output_tokens":4},{"type":"message","input_tokens":10,"output_tokens":4}]`)
	two := usage("There.", `"input_tokens":30,"cache_read_input_tokens":95,"cache_creation_input_tokens":7,"output_tokens":6,`+
		`"server_tool_use":{"web_search_requests":2},"output_tokens_details":{"thinking_tokens":3},"cost":0.02,"iterations":[{"type":"message","output_tokens":6}]`)
	for name, test := range map[string]struct {
		option middleware.Option
		want   string
	}{
		"one answer": {middleware.WithUsage(middleware.UsageOneAnswer), `{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":11,"server_tool_use":{"web_search_requests":3},"cost":0.03,` +
			`"iterations":[{"type":"message","input_tokens":10,"output_tokens":4},{"type":"message","input_tokens":10,"output_tokens":10}],"output_tokens_details":{"thinking_tokens":3}}`},
		"sum": {middleware.WithUsage(middleware.UsageSum), `{"input_tokens":40,"cache_read_input_tokens":185,"output_tokens":11,"server_tool_use":{"web_search_requests":3},"cost":0.03,` +
			`"iterations":[{"type":"message","input_tokens":10,"output_tokens":4},{"type":"message","input_tokens":10,"output_tokens":4},{"type":"message","output_tokens":6}],` +
			`"cache_creation_input_tokens":7,"output_tokens_details":{"thinking_tokens":3}}`},
		"last turn": {middleware.WithUsage(middleware.UsageLastTurn), `{"input_tokens":30,"cache_read_input_tokens":95,"cache_creation_input_tokens":7,"output_tokens":6,` +
			`"server_tool_use":{"web_search_requests":2},"output_tokens_details":{"thinking_tokens":3},"cost":0.02,"iterations":[{"type":"message","output_tokens":6}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask{turns: []fakellm.Turn{one, two}, options: []middleware.Option{test.option}}
			a.both(t, func(t *testing.T, got answer) {
				t.Helper()
				assert.JSONEq(t, test.want, string(got.message.Usage))
				assert.Equal(t, 100, got.outcome.Usage[0].Prompt)
				assert.Equal(t, 6, got.outcome.Usage[1].Completion)
				assert.Equal(t, 3, got.outcome.Usage[1].Reasoning)
			})
		})
	}
}

// A server that reports usage nowhere gets an end that every client reads.
func TestUsageThatNobodyReports(t *testing.T) {
	t.Parallel()
	got := ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).NoUsage(), fakellm.Text("Done.").NoUsage()}}.play(t, true)
	assert.JSONEq(t, `{"output_tokens":0}`, string(got.message.Usage))
	got = ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Done.").NoUsage()}}.play(t, true)
	assert.JSONEq(t, `{"input_tokens":10,"output_tokens":5}`, string(got.message.Usage))

	reasoned := strings.Replace(began(""), `"stop_reason":null`, `"stop_reason":"end_turn"`, 1) + text("0", "Done.") + ended("end_turn")
	got = ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Raw(reasoned)}}.play(t, true)
	assert.JSONEq(t, `{"input_tokens":10,"output_tokens":10}`, string(got.message.Usage), "the reason in the beginning is not another end")
	ask{turns: []fakellm.Turn{usage("Here.", `"input_tokens":-3,"output_tokens":5`), fakellm.Text("Done.")}}.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.Equal(t, adapter.Usage{Completion: 5}, got.outcome.Usage[0])
	})
}

// Members that a server adds to its events stay.
func TestQuirksOfServers(t *testing.T) {
	t.Parallel()
	for name, quirk := range map[string]fakellm.Quirk{
		"gaps": fakellm.Gaps, "padded": fakellm.Padded, "pings": fakellm.Pings, "late usage": fakellm.LateUsage, "whole calls": fakellm.WholeCalls,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := fakellm.Text(wiretest.Plan)
			if quirk != fakellm.Gaps {
				one = one.With(quirk)
			}
			two := fakellm.Text("Now.").AndCall("edit_file", `{"path":"parser.go"}`).With(quirk)
			for _, framing := range []func(fakellm.Turn) fakellm.Turn{
				func(t fakellm.Turn) fakellm.Turn { return t }, fakellm.Turn.Comments, fakellm.Turn.CRLF,
			} {
				got := ask{turns: []fakellm.Turn{one, framing(two)}}.play(t, true)
				require.NoError(t, got.err)
				assert.Equal(t, []string{wiretest.Plan, "\n\nNow.", `edit_file{"path":"parser.go"}`}, got.message.shown())
				assert.JSONEq(t, `{"input_tokens":10,"output_tokens":10}`, string(got.message.Usage))
			}
		})
	}
}

// A block that the caller's own turn leaves open is closed before another one.
func TestFirstTurnWithoutTheEndOfItsBlock(t *testing.T) {
	t.Parallel()
	for name, index := range map[string]string{"index": `"index":0,`, "no index": ""} {
		one := began("") + strings.ReplaceAll(strings.TrimSuffix(text("0", wiretest.Plan), event("content_block_stop", `"index":0`)), `"index":0,`, index) + ended("end_turn")
		got, _, err := replayed(t, strings.NewReader(one), strings.NewReader(began("")+text("0", "Here.")+blockOf("1", call, input("{}"))+ended("tool_use")))
		require.NoError(t, err)
		assert.Equal(t, []string{wiretest.Plan, "\n\nHere.", "edit_file{}"}, readStream(t, got).shown(), name)
	}
}

// Some servers give several calls the same id.
func TestCallsWithTheSameID(t *testing.T) {
	t.Parallel()
	second := began("") + blockOf("0", call, input("{}")) + blockOf("1", call, input(`{"a":1}`)) + ended("tool_use")
	got := ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Raw(second)}}.play(t, true)
	require.Len(t, got.message.Content, 3)
	assert.NotEqual(t, got.message.Content[1].ID, got.message.Content[2].ID)
}

// A pause is not the end that its turn has. The end that is shown says of no stop sequence, even if the turn names one.
func TestPauseEndsWithoutAStopSequence(t *testing.T) {
	t.Parallel()
	pauses := strings.Replace(call, "edit_file", "todo_pause", 1)
	for _, own := range []string{`,"stop_sequence":"x"`, ""} {
		second := began("") + blockOf("0", pauses, input(`{"reason":"`+wiretest.Blocked+`"}`)) + strings.Replace(ended("tool_use"), `,"stop_sequence":null`, own, 1)
		got := ask{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Raw(second)}}.play(t, true)
		assert.Contains(t, got.raw, `"delta":{"stop_reason":"end_turn","stop_sequence":null}`)
	}
	whole := func(block, end string) fakellm.Turn {
		return fakellm.Status(200, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[`+block+`],`+end+`,"usage":{"output_tokens":5}}`)
	}
	got := ask{turns: []fakellm.Turn{
		whole(`{"type":"text","text":"`+wiretest.Plan+`"}`, `"stop_reason":"end_turn","stop_sequence":null,"container":{"id":"c1"}`),
		whole(strings.Replace(pauses, "{}", `{"reason":"`+wiretest.Blocked+`"}`, 1), `"stop_reason":"tool_use","stop_sequence":"x","container":null`),
	}}.play(t, false)
	assert.Contains(t, got.raw, `"stop_reason":"end_turn","stop_sequence":null,"container":{"id":"c1"}`)
}

// The API refuses an empty text, also beside the call of a rejected pause.
func TestRejectedPauseWithoutText(t *testing.T) {
	t.Parallel()
	a := ask{options: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}, turns: []fakellm.Turn{fakellm.Pause("no"), wiretest.Edit()}}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		require.Len(t, got.requests, 2)
		assert.Equal(t, []string{"edit_file" + `{"path":"parser.go"}`}, got.message.shown())
		assert.NotContains(t, string(got.requests[1].Body), `{"type":"text","text":""}`)
		assert.Contains(t, string(got.requests[1].Body), `"is_error":true`)
	})
}

// The container of the caller's own turn, in which code has run, stays known to the caller.
func TestContainerOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	own := began("") + text("0", wiretest.Plan) + strings.Replace(ended("end_turn"), `"stop_sequence":null`, `"stop_sequence":null,"container":{"id":"c1"}`, 1)
	got := ask{turns: []fakellm.Turn{fakellm.Raw(own), fakellm.Text("So.")}}.play(t, true)
	assert.Equal(t, 1, strings.Count(got.raw, `"container":{"id":"c1"}`), got.raw)
}

// A container that a later turn names is the newest.
func TestContainerOfALaterTurn(t *testing.T) {
	t.Parallel()
	within := func(end, id string) string {
		return strings.Replace(end, `"stop_sequence":null`, `"stop_sequence":null,"container":{"id":"`+id+`"}`, 1)
	}
	own := began("") + text("0", wiretest.Plan) + within(ended("end_turn"), "c1")
	got := ask{turns: []fakellm.Turn{fakellm.Raw(own), fakellm.Raw(began("") + text("0", "So.") + within(ended("end_turn"), "c2"))}}.play(t, true)
	assert.Contains(t, got.raw, `"container":{"id":"c2"}`)
	assert.NotContains(t, got.raw, `"container":{"id":"c1"}`)
}

// A turn of which nothing is shown leaves no block and no usage in a whole answer: here, one that did not end.
func TestTurnThatIsLeftOut(t *testing.T) {
	t.Parallel()
	whole := func(said, end string) fakellm.Turn {
		return fakellm.Status(200, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"`+said+`"},`+
			`{"type":"server_tool_use","id":"s_`+said+`","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s_`+said+`","content":[]},{"type":"text","text":"."}],`+
			`"stop_reason":`+end+`,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}`)
	}
	got := ask{
		options: []middleware.Option{middleware.WithUsage(middleware.UsageSum), wiretest.Continuations(1)},
		turns:   []fakellm.Turn{whole("Plan", `"end_turn"`), whole("Lost", "null"), whole("Done", `"end_turn"`)},
	}.send(t, false)
	require.Equal(t, 3, got.outcome.Turns, got.outcome)
	assert.NotContains(t, got.raw, "Lost")
	assert.Contains(t, got.raw, "Done")
	assert.JSONEq(t, `{"input_tokens":20,"output_tokens":10}`, string(got.message.Usage))
}

// The usage of a turn is not counted again in the next, which reports none.
func TestUsageIsCountedOnce(t *testing.T) {
	t.Parallel()
	a := ask{
		options: []middleware.Option{middleware.WithUsage(middleware.UsageSum)},
		turns:   []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Text("Done.").NoUsage()},
	}
	a.both(t, func(t *testing.T, got answer) {
		t.Helper()
		assert.JSONEq(t, `{"input_tokens":10,"output_tokens":5}`, string(got.message.Usage))
	})
}
