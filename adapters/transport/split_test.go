package transport_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// requireAnySplit checks that an answer is the same for any split of its bytes, and unchanged if there is nothing to
// do.
func requireAnySplit(t *testing.T, first, second string, seed uint64) {
	t.Helper()
	var opts []middleware.Option
	switch seed % 4 {
	case 0:
		opts = []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}
	case 1:
		opts = []middleware.Option{middleware.WithUsage(middleware.UsageLastTurn)}
	}
	want := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, second, wiretest.Whole(), opts...)
	for i := range uint64(4) {
		require.Equal(t, want, wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, second, wiretest.SplitOf(seed+i), opts...), "split %d of %q and %q", seed+i, first, second)
		untouched := wiretest.NewPlayer(t, todo.Static()).Join(first, "", wiretest.SplitOf(seed+i))
		require.Equal(t, first, untouched.Body, "split %d", seed+i)
		assert.Len(t, untouched.Requests, 1)
		require.ErrorIs(t, untouched.Err, io.EOF)
	}
}

// lines are lines of streams, in any order, without their ends.
var lines = []string{
	"data: " + wiretest.SaysRole, "data: " + wiretest.SaysText, "data: " + wiretest.SaysText, "data: " + wiretest.SaysMore, "data: " + wiretest.SaysMore, "data:" + wiretest.SaysMore,
	"data: " + wiretest.SaysOther, "data: " + wiretest.SaysReason, "data: " + wiretest.SaysFinish, "data: " + wiretest.SaysLast, "data: " + wiretest.SaysUsage,
	"data: " + wiretest.SaysCall, "data: " + wiretest.SaysPause, "data: " + wiretest.SaysError, wiretest.SaysError, "data: [DONE]", "data:[DONE]", "[DONE]", "", "", "", "",
	": comment", ":", "event: message", "event: error", "id: 7", "retry: 10", "data:", "data: ping", "data", "garbage", "event", "data : x",
	"data: {", `data: "id":"a",`, `data: "choices":[]}`, "data: }", "data: [", `data: {"id":"a","choices":[{"index":0,"delta":{"content":"Spread`,
	`data: out."}}]}`, `data: {"id":"a"`, "data:  " + wiretest.SaysText + " \t", "\ufeffdata: " + wiretest.SaysText, "\xff\xfe\x00", "data: \"{\"", "data: null",
	strings.Repeat("x", 5000), "data: {\"x\":\"" + strings.Repeat("y", 5000) + "\"}", "data: " + strings.Replace(wiretest.SaysText, "So", strings.Repeat("z", 3000), 1),
}

// alike returns a chunk that differs from others like it in a few values.
func alike(g *rand.Rand) string {
	pick := func(from ...string) string { return from[g.IntN(len(from))] }
	text := pick(`a`, `"`, `\\`, `\\\\`, `\"`, `\u00fc`, `\ud83d\ude00`, `😀`, ``, `}`, `{"`, `long `+strings.Repeat("x", g.IntN(700)), `\n\n`)
	if text == `"` {
		text = `\"`
	}
	created := pick(`1`, `2`, `1.0e2`, `12345678901234567890`, `null`, `"x"`, `[1,{"a":"]"}]`)
	switch g.IntN(8) {
	case 0:
		return `{"id":"a","created":` + created + `,"choices":[{"index":0,"delta":{"content":"` + text + `"}}],"usage":` +
			pick(`null`, `{}`, `{"prompt_tokens":1,"completion_tokens":2}`, `{"prompt_tokens":10,"completion_tokens":`+created+`}`) + `}`
	case 1:
		return `{"id":"a","created":1,"choices":[{"index":0,"delta":{"reasoning_content":"` + text + `"}}]}`
	case 2:
		return `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":` + pick(`0`, `1`, `null`) + `,"function":{"arguments":"` + text + `"}}]}}]}`
	case 3:
		return `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":` + pick(`0`, `1`) + `,"id":"` + pick(`c`, `d`) +
			`","type":"function","function":{"name":"` + pick(`edit_file`, `todo_`, `pause`, ``) + `","arguments":"` + text + `"}}]}}]}`
	case 4:
		return `{"id":"` + pick(`a`, ``, `b`) + `","choices":[{"index":` + pick(`0`, `1`) + `,"delta":{"content":"` + text + `"},"finish_reason":null}]}`
	default:
		return `{"id":"a","created":` + created + `,"choices":[{"index":0,"delta":{"content":"` + text + `"}}],"obfuscation":"` + pick(`x`, `xyz`, `\"`) + `"}`
	}
}

// generated returns a stream of such lines, most of which end well.
func generated(seed uint64) string {
	g := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // picks cases, guards nothing
	ends := []string{"\n", "\r\n", "\r"}
	end := ends[g.IntN(len(ends))]
	var b strings.Builder
	add := func(text string) {
		b.WriteString(text)
		if g.IntN(12) == 0 {
			end = ends[g.IntN(len(ends))]
		}
		b.WriteString(end)
		if g.IntN(3) > 0 {
			b.WriteString(end)
		}
	}
	sane := g.IntN(4) > 0
	for range g.IntN(12) {
		switch g.IntN(4) {
		case 0:
			add(lines[g.IntN(len(lines))])
		case 1:
			add("data: " + []string{wiretest.SaysText, wiretest.SaysMore, wiretest.SaysOther}[g.IntN(3)])
		default:
			add("data: " + alike(g))
		}
	}
	if sane {
		for _, text := range []string{wiretest.SaysText, wiretest.SaysFinish, wiretest.SaysUsage, "[DONE]"} {
			add("data: " + text)
		}
	}
	if g.IntN(6) == 0 {
		return strings.TrimRight(b.String(), "\r\n")
	}
	return b.String()
}

func TestAnySplitIsReadTheSame(t *testing.T) {
	t.Parallel()
	streams := uint64(600)
	if measure.RaceDetector {
		streams /= 6 // there is no race to find here, and it is slow
	}
	synctest.Test(t, func(t *testing.T) { // what follows a [DONE] is read for 50 ms, however slow the machine
		continued := uint64(0)
		for seed := range streams {
			first, second := generated(seed), generated(seed+streams)
			requireAnySplit(t, first, second, seed)
			if len(wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, second, wiretest.Whole()).Requests) > 1 {
				continued++
			}
		}
		assert.Greater(t, continued, streams/8, "enough of them are continued")
	})
}

// The reading of a stream does not depend on its line ends.
func TestEndsOfLinesMakeNoDifference(t *testing.T) {
	t.Parallel()
	const first = "data: " + wiretest.SaysText + "\n: comment\ndata: " + wiretest.SaysMore + "\n\nevent: message\nid: 1\ndata: " + wiretest.SaysOther +
		"\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	const second = ": comment\n\ndata: " + wiretest.SaysRole + "\n\ndata: {\"id\":\"a\",\ndata: \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"}}]}\n\n" +
		"data: " + wiretest.SaysCall + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	want := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, second, wiretest.Whole())
	assert.Len(t, want.Requests, 2)
	for _, end := range []string{"\r\n", "\r"} {
		a, b := strings.ReplaceAll(first, "\n", end), strings.ReplaceAll(second, "\n", end)
		got := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(a, b, wiretest.Whole())
		assert.Equal(t, want.Requests, got.Requests)
		own, _, ok := strings.Cut(a, "data: "+wiretest.SaysFinish)
		require.True(t, ok)
		assert.True(t, strings.HasPrefix(got.Body, own), "turn 1 is shown as it came")
		assert.Equal(t, want.Body, strings.ReplaceAll(got.Body, end, "\n"))
	}
}

// An event of carryon's own never becomes a part of the event before it.
func TestEventsOfOurOwnStandApart(t *testing.T) {
	t.Parallel()
	second := "data: " + strings.Replace(wiretest.SaysText, "So,", "Now,", 1) + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	for name, first := range map[string]string{
		"LF":               "data: " + wiretest.SaysText + "\ndata: " + wiretest.SaysFinish + "\ndata: [DONE]\n",
		"CRLF":             "data: " + wiretest.SaysText + "\r\ndata: " + wiretest.SaysFinish + "\r\ndata: [DONE]\r\n",
		"CR":               "data: " + wiretest.SaysText + "\rdata: " + wiretest.SaysFinish + "\rdata: [DONE]\r",
		"comment":          "data: " + wiretest.SaysText + "\n\n: comment\ndata: " + wiretest.SaysFinish + "\n\n",
		"comment and CRLF": "data: " + wiretest.SaysText + "\r\n\r\n: comment\r\ndata: " + wiretest.SaysFinish + "\r\n\r\n",
		"garbage":          "data: " + wiretest.SaysText + "\n\ngarbage\ndata: " + wiretest.SaysFinish + "\n\n",
		"ping":             "data: " + wiretest.SaysText + "\n\ndata: ping\ndata: " + wiretest.SaysFinish + "\n\n",
		"finish with text": "data: " + wiretest.SaysText + "\r\ndata: " + wiretest.SaysLast + "\r\n",
	} {
		want := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, second, wiretest.Whole())
		require.Len(t, want.Requests, 2, name)
		for seed := range uint64(60) {
			got := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, second, wiretest.SplitOf(seed))
			require.Equal(t, want, got, "%s, split %d", name, seed)
			requireApart(t, got.Body)
		}
	}
}

// requireApart checks that the event with the first text of turn 2 has no other data for readers that follow the
// standard.
func requireApart(t *testing.T, body string) {
	t.Helper()
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body)
	found := false
	for event := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(event, `"content":"\n\nNow,`) {
			found = true
			assert.Equal(t, 1, strings.Count("\n"+event, "\ndata:"), event)
		}
	}
	assert.True(t, found, body)
}

func FuzzSplit(f *testing.F) {
	for seed := range uint64(40) {
		f.Add([]byte(generated(seed)), []byte(generated(seed+1000)), seed)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, seed uint64) {
		requireAnySplit(t, string(first), string(second), seed)
	})
}

// The caller sees the error that ends a body, after everything that came before it.
func TestErrorOfTheBodyIsReadTheSame(t *testing.T) {
	t.Parallel()
	broken := errors.New("reset")
	text := "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysMore + "\n\n: x\n\ndata: " + wiretest.SaysFinish + "\n\ndata: " + wiretest.SaysUsage + "\n\n"
	for n := 0; n <= len(text); n += wiretest.OneIn(7) {
		for _, with := range []bool{false, true} {
			for _, size := range []int{1, 100, 1 << 16} {
				as := wiretest.Split{Come: wiretest.Always(size), Read: wiretest.Always(size), End: broken, With: with}
				for _, todos := range []todo.Provider{todo.Static(), wiretest.TwoTodos} {
					got := wiretest.NewPlayer(t, todos).Join(text[:n], "", as)
					require.Equal(t, text[:n], got.Body, "cut after %d", n)
					require.Equal(t, broken, got.Err)
					require.Len(t, got.Requests, 1)
				}
			}
		}
	}
}

// A body that keeps returning no bytes does not block its reader forever.
func TestBodyWithoutProgressEnds(t *testing.T) {
	t.Parallel()
	got := wiretest.NewPlayer(t, todo.Static()).Join("data: "+wiretest.SaysText+"\n\n", "", wiretest.Split{Come: wiretest.Always(0), Read: wiretest.Always(1 << 12), End: io.EOF})
	require.ErrorIs(t, got.Err, io.ErrNoProgress)
	assert.Equal(t, fmt.Sprint([]string{wiretest.ChatBody(true)}), fmt.Sprint(got.Requests))
}
