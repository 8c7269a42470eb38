package transport_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// pieces is a body that comes in pieces: as many bytes per Read as next says.
type pieces struct {
	text string
	next func() int
	end  error // what comes after it
	with bool  // and with the last piece
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), max(p.next(), 0))], p.text)
	p.text = p.text[n:]
	if p.text == "" && (n == 0 || p.with) {
		return n, p.end
	}
	return n, nil
}

func (p *pieces) Close() error { return nil }

// streamed returns a response of an event stream.
func streamed(r *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, ContentLength: -1, Request: r,
	}
}

// split is a way to cut the bytes of an answer into pieces, and to read them.
type split struct {
	come, read func() int
	end        error
	with       bool
}

func always(n int) func() int { return func() int { return n } }

// whole delivers all bytes at once.
func whole() split { return split{come: always(1 << 16), read: always(1 << 16), end: io.EOF} }

// splitOf returns one of the ways to split an answer.
func splitOf(seed uint64) split {
	g := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // picks cases, guards nothing
	sizes := []int{1, 2, 3, 7, 60, 500, 513, 1200, 4096, 1 << 16}
	size := func() func() int {
		n := sizes[g.IntN(len(sizes))]
		if g.IntN(2) == 0 {
			return always(n)
		}
		return func() int { return 1 + g.IntN(n) }
	}
	return split{come: size(), read: size(), end: io.EOF, with: g.IntN(2) == 0}
}

// joined is the result of an answer.
type joined struct {
	Body     string
	Err      error
	Requests []string
	Outcome  string
	Usage    []adapter.Usage
	Events   []string
}

// madeUpID is an id that carryon gives a call that came without one.
var madeUpID = regexp.MustCompile(`"(id|tool_call_id)":"[a-zA-Z0-9]{9}"`)

// join plays two turns, and reads the joined answer.
func join(t testing.TB, todos todo.Provider, first, second string, as split, opts ...middleware.Option) joined {
	t.Helper()
	var got joined
	base := roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		got.Requests = append(got.Requests, madeUpID.ReplaceAllString(string(body), `"$1":"made up"`))
		text := second
		if len(got.Requests) == 1 {
			text = first
		}
		return streamed(r, &pieces{text: text, next: as.come, end: as.end, with: as.with}), errors.Join(err, r.Body.Close())
	})
	ctx, outcomes := middleware.Capture(t.Context())
	request := newRequest(t, ctx, "http://model.test/v1", bodyOf(true))
	events := carryontest.NewRecorder()
	mw := oneContinuation(todos, append(opts, middleware.WithObserver(events.Observer()))...)
	response, err := transport.New(base, mw).RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var body strings.Builder
	buffer := make([]byte, max(as.read(), 1<<16))
	for got.Err == nil {
		p := buffer[:as.read()]
		n, err := response.Body.Read(p)
		body.Write(p[:n])
		got.Err = err
		if body.Len() > 4*(len(first)+len(second))+1<<16 {
			require.Fail(t, "it grows and grows")
		}
	}
	outcome := outcomes.Last()
	got.Body, got.Outcome, got.Usage, got.Events = body.String(), outcome.String(), outcome.Usage, events.Lines()
	return got
}

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
	want := join(t, twoTodos, first, second, whole(), opts...)
	for i := range uint64(4) {
		require.Equal(t, want, join(t, twoTodos, first, second, splitOf(seed+i), opts...), "split %d of %q and %q", seed+i, first, second)
		untouched := join(t, todo.Static(), first, "", splitOf(seed+i))
		require.Equal(t, first, untouched.Body, "split %d", seed+i)
		assert.Len(t, untouched.Requests, 1)
		require.ErrorIs(t, untouched.Err, io.EOF)
	}
}

// Chunks as they come in streams.
const (
	saysRole   = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	saysText   = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"So, \"yes\" "},"finish_reason":null}]}`
	saysMore   = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"\u00fcber 😀"},"finish_reason":null}]}`
	saysOther  = `{"id":"a","choices":[{"delta":{"content":"Other."},"index":0}],"x":[1,{"y":"}"}]}`
	saysReason = `{"id":"a","choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}`
	saysFinish = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	saysLast   = `{"id":"a","choices":[{"index":0,"delta":{"content":"Last."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	saysUsage  = `{"id":"a","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`
	saysCall   = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"edit_file","arguments":"{}"}}]}}]}`
	saysPause  = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"todo_pause","arguments":"{\"reason\":\"` + blocked + `\"}"}}]},"finish_reason":"tool_calls"}]}`
	saysError  = `{"error":{"message":"overloaded","type":"server_error"}}`
)

// lines are lines of streams, in any order, without their ends.
var lines = []string{
	"data: " + saysRole, "data: " + saysText, "data: " + saysText, "data: " + saysMore, "data: " + saysMore, "data:" + saysMore,
	"data: " + saysOther, "data: " + saysReason, "data: " + saysFinish, "data: " + saysLast, "data: " + saysUsage,
	"data: " + saysCall, "data: " + saysPause, "data: " + saysError, saysError, "data: [DONE]", "data:[DONE]", "[DONE]", "", "", "", "",
	": comment", ":", "event: message", "event: error", "id: 7", "retry: 10", "data:", "data: ping", "data", "garbage", "event", "data : x",
	"data: {", `data: "id":"a",`, `data: "choices":[]}`, "data: }", "data: [", `data: {"id":"a","choices":[{"index":0,"delta":{"content":"Spread`,
	`data: out."}}]}`, `data: {"id":"a"`, "data:  " + saysText + " \t", "\ufeffdata: " + saysText, "\xff\xfe\x00", "data: \"{\"", "data: null",
	strings.Repeat("x", 5000), "data: {\"x\":\"" + strings.Repeat("y", 5000) + "\"}", "data: " + strings.Replace(saysText, "So", strings.Repeat("z", 3000), 1),
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
			add("data: " + []string{saysText, saysMore, saysOther}[g.IntN(3)])
		default:
			add("data: " + alike(g))
		}
	}
	if sane {
		for _, text := range []string{saysText, saysFinish, saysUsage, "[DONE]"} {
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
	continued := uint64(0)
	for seed := range streams {
		first, second := generated(seed), generated(seed+streams)
		requireAnySplit(t, first, second, seed)
		if len(join(t, twoTodos, first, second, whole()).Requests) > 1 {
			continued++
		}
	}
	assert.Greater(t, continued, streams/8, "enough of them are continued")
}

// The reading of a stream does not depend on its line ends.
func TestEndsOfLinesMakeNoDifference(t *testing.T) {
	t.Parallel()
	const first = "data: " + saysText + "\n: comment\ndata: " + saysMore + "\n\nevent: message\nid: 1\ndata: " + saysOther +
		"\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
	const second = ": comment\n\ndata: " + saysRole + "\n\ndata: {\"id\":\"a\",\ndata: \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"}}]}\n\n" +
		"data: " + saysCall + "\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
	want := join(t, twoTodos, first, second, whole())
	assert.Len(t, want.Requests, 2)
	for _, end := range []string{"\r\n", "\r"} {
		a, b := strings.ReplaceAll(first, "\n", end), strings.ReplaceAll(second, "\n", end)
		got := join(t, twoTodos, a, b, whole())
		assert.Equal(t, want.Requests, got.Requests)
		own, _, ok := strings.Cut(a, "data: "+saysFinish)
		require.True(t, ok)
		assert.True(t, strings.HasPrefix(got.Body, own), "turn 1 is shown as it came")
		assert.Equal(t, want.Body, strings.ReplaceAll(got.Body, end, "\n"))
	}
}

// An event of carryon's own never becomes a part of the event before it.
func TestEventsOfOurOwnStandApart(t *testing.T) {
	t.Parallel()
	second := "data: " + saysText + "\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
	for name, first := range map[string]string{
		"LF":               "data: " + saysText + "\ndata: " + saysFinish + "\ndata: [DONE]\n",
		"CRLF":             "data: " + saysText + "\r\ndata: " + saysFinish + "\r\ndata: [DONE]\r\n",
		"CR":               "data: " + saysText + "\rdata: " + saysFinish + "\rdata: [DONE]\r",
		"comment":          "data: " + saysText + "\n\n: comment\ndata: " + saysFinish + "\n\n",
		"comment and CRLF": "data: " + saysText + "\r\n\r\n: comment\r\ndata: " + saysFinish + "\r\n\r\n",
		"garbage":          "data: " + saysText + "\n\ngarbage\ndata: " + saysFinish + "\n\n",
		"ping":             "data: " + saysText + "\n\ndata: ping\ndata: " + saysFinish + "\n\n",
		"finish with text": "data: " + saysText + "\r\ndata: " + saysLast + "\r\n",
	} {
		want := join(t, twoTodos, first, second, whole())
		require.Len(t, want.Requests, 2, name)
		for seed := range uint64(60) {
			got := join(t, twoTodos, first, second, splitOf(seed))
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
		if strings.Contains(event, `"content":"\n\nSo,`) {
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
	text := "data: " + saysText + "\n\ndata: " + saysMore + "\n\n: x\n\ndata: " + saysFinish + "\n\ndata: " + saysUsage + "\n\n"
	for n := 0; n <= len(text); n += oneIn(7) {
		for _, with := range []bool{false, true} {
			for _, size := range []int{1, 100, 1 << 16} {
				as := split{come: always(size), read: always(size), end: broken, with: with}
				for _, todos := range []todo.Provider{todo.Static(), twoTodos} {
					got := join(t, todos, text[:n], "", as)
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
	got := join(t, todo.Static(), "data: "+saysText+"\n\n", "", split{come: always(0), read: always(1 << 12), end: io.EOF})
	require.ErrorIs(t, got.Err, io.ErrNoProgress)
	assert.Equal(t, fmt.Sprint([]string{bodyOf(true)}), fmt.Sprint(got.Requests))
}
