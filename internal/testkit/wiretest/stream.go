package wiretest

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Pieces is a body that comes in pieces: as many bytes per Read as next says.
type Pieces struct {
	Text string
	Next func() int
	End  error // what comes after it
	With bool  // and with the last piece
}

// Read implements [io.Reader].
func (p *Pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), max(p.Next(), 0))], p.Text)
	p.Text = p.Text[n:]
	if p.Text == "" && (n == 0 || p.With) {
		return n, p.End
	}
	return n, nil
}

// Close implements [io.Closer].
func (p *Pieces) Close() error { return nil }

// Split is a way to cut the bytes of an answer into pieces, and to read them.
type Split struct {
	Come, Read func() int
	End        error
	With       bool
}

// Always returns a function that returns n.
func Always(n int) func() int { return func() int { return n } }

// Whole delivers all bytes at once.
func Whole() Split { return Split{Come: Always(1 << 16), Read: Always(1 << 16), End: io.EOF} }

// SplitOf returns one of the ways to split an answer.
func SplitOf(seed uint64) Split {
	g := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // picks cases, guards nothing
	sizes := []int{1, 2, 3, 7, 60, 500, 513, 1200, 4096, 1 << 16}
	size := func() func() int {
		n := sizes[g.IntN(len(sizes))]
		if g.IntN(2) == 0 {
			return Always(n)
		}
		return func() int { return 1 + g.IntN(n) }
	}
	return Split{Come: size(), Read: size(), End: io.EOF, With: g.IntN(2) == 0}
}

// Joined is the result of an answer.
type Joined struct {
	Body     string
	Err      error
	Requests []string
	Outcome  string
	Usage    []adapter.Usage
	Events   []string
}

// madeUpID is an id that carryon gives a call that came without one.
var madeUpID = regexp.MustCompile(`"(id|tool_call_id)":"[a-zA-Z0-9]{9}"`)

// Player plays two turns of Chat Completions to the transport.
type Player struct {
	tb    testing.TB
	todos todo.Provider
}

// NewPlayer returns a player to a middleware that has todos.
func NewPlayer(tb testing.TB, todos todo.Provider) Player {
	tb.Helper()
	return Player{tb, todos}
}

// Join plays two turns, and reads the joined answer.
func (p Player) Join(first, second string, as Split, opts ...middleware.Option) Joined {
	tb := p.tb
	tb.Helper()
	var got Joined
	base := RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		got.Requests = append(got.Requests, madeUpID.ReplaceAllString(string(body), `"$1":"made up"`))
		text := second
		if len(got.Requests) == 1 {
			text = first
		}
		return Streamed(r, &Pieces{Text: text, Next: as.Come, End: as.End, With: as.With}), errors.Join(err, r.Body.Close())
	})
	ctx, outcomes := middleware.Capture(tb.Context())
	request := NewChatRequest(tb, ctx, "http://model.test/v1", ChatBody(true))
	events := carryontest.NewRecorder()
	mw := OneContinuation(p.todos, append(opts, middleware.WithObserver(events.Observer()))...)
	response, err := transport.New(base, mw).RoundTrip(request)
	require.NoError(tb, err)
	defer func() { _ = response.Body.Close() }()
	var body strings.Builder
	buffer := make([]byte, max(as.Read(), 1<<16))
	for got.Err == nil {
		n, err := response.Body.Read(buffer[:as.Read()])
		body.Write(buffer[:n])
		got.Err = err
		if body.Len() > 4*(len(first)+len(second))+1<<16 {
			require.Fail(tb, "it grows and grows")
		}
	}
	outcome := outcomes.Last()
	got.Body, got.Outcome, got.Usage, got.Events = body.String(), outcome.String(), outcome.Usage, events.Lines()
	return got
}

// Chunks as they come in streams.
const (
	SaysRole   = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	SaysText   = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"So, \"yes\" "},"finish_reason":null}]}`
	SaysMore   = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"\u00fcber 😀"},"finish_reason":null}]}`
	SaysOther  = `{"id":"a","choices":[{"delta":{"content":"Other."},"index":0}],"x":[1,{"y":"}"}]}`
	SaysReason = `{"id":"a","choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}`
	SaysFinish = `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	SaysLast   = `{"id":"a","choices":[{"index":0,"delta":{"content":"Last."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	SaysUsage  = `{"id":"a","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`
	SaysCall   = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"edit_file","arguments":"{}"}}]}}]}`
	SaysPause  = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"todo_pause","arguments":"{\"reason\":\"` + Blocked + `\"}"}}]},"finish_reason":"tool_calls"}]}`
	SaysError  = `{"error":{"message":"overloaded","type":"server_error"}}`
)
