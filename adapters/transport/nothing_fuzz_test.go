package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// kinds are content types that answers come with.
var kinds = []string{"text/event-stream", "application/json", "", "text/event-stream; charset=utf-8", "text/plain", "application/json; x"}

// manner is a way to send and to answer a request, apart from the bytes.
type manner struct {
	kind    string // the content type of the answer
	known   bool   // the answer comes with its length
	broken  bool   // the answer breaks off
	status  int
	replays bool // the request has a GetBody
	as      wiretest.Split
	idle    idleness
}

// idleness is why there is nothing to do.
type idleness int

const (
	nothingLeft idleness = iota
	allDone
	noSource
	switchedOff
	idlenesses
)

// mannerOf returns one of the ways to make and answer a request.
func mannerOf(seed uint64) manner {
	m := manner{as: wiretest.SplitOf(seed), status: http.StatusOK}
	take := func(n uint64) uint64 {
		bits := seed % n
		seed /= n
		return bits
	}
	m.idle = idleness(take(uint64(idlenesses))) //nolint:gosec // a few
	m.kind = kinds[take(uint64(len(kinds)))]
	m.known, m.replays, m.broken = take(2) == 0, take(2) == 0, take(4) == 3
	if take(8) == 7 {
		m.status = http.StatusTooManyRequests
	}
	if m.broken {
		m.as.End = errBroken
	}
	return m
}

var errBroken = errors.New("reset")

// middleware returns one that has nothing to do.
func (m manner) middleware() *middleware.Middleware {
	switch m.idle {
	case allDone:
		return middleware.New(todo.Static(todo.Todo{Content: "Write the parser", Status: todo.Completed}), wiretest.Unhurried)
	case noSource:
		return middleware.New(todo.FromConversation(), wiretest.Unhurried)
	case switchedOff:
		mw := middleware.New(wiretest.TwoTodos, wiretest.Unhurried)
		_ = mw.Settings().SetTodoContinuation(context.Background(), "", false) // the default is kept here
		return mw
	default:
		return middleware.New(todo.Static(), wiretest.Unhurried)
	}
}

// deal is everything that either side sees of a call.
type deal struct {
	Method, URL   string
	Sent, Headers http.Header // of the request and of the answer
	Body          string      // of the request
	Length        int64
	Status        int
	Answer        string
	AnswerLength  int64
	Err           error
	Calls         int
}

// deal makes a call with the RoundTripper that through returns for the base transport.
func (m manner) deal(t *testing.T, request, answer []byte, through func(http.RoundTripper) http.RoundTripper) deal {
	t.Helper()
	var d deal
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		d.Calls++
		d.Method, d.URL, d.Sent, d.Length, d.Body = r.Method, r.URL.String(), r.Header.Clone(), r.ContentLength, string(body)
		response := wiretest.Streamed(r, &wiretest.Pieces{Text: string(answer), Next: m.as.Come, End: m.as.End, With: m.as.With})
		response.StatusCode = m.status
		response.Header = http.Header{"Content-Type": {m.kind}, "X-Request-Id": {"req_1"}}
		if m.known {
			response.ContentLength = int64(len(answer))
		}
		return response, errors.Join(err, r.Body.Close())
	})
	original := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", string(request))
	original.Header.Set("Idempotency-Key", "key_1")
	if !m.replays {
		original.GetBody = nil
	}
	response, err := through(base).RoundTrip(original)
	require.NoError(t, err)
	defer wiretest.Closed(t, response)
	requireSame(t, original, response.Request, "the request of the answer")
	body, err := io.ReadAll(response.Body)
	d.Status, d.Headers, d.AnswerLength = response.StatusCode, response.Header, response.ContentLength
	d.Answer, d.Err = string(body), err
	return d
}

// If carryon has nothing to do, neither the provider nor the client can tell that it is there. The one exception is the
// length of a stream, which is dropped when a continuation is still possible.
func FuzzNothingToDo(f *testing.F) {
	whole := `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"So."},"finish_reason":"stop"}]}`
	for seed := range uint64(24) {
		f.Add([]byte(wiretest.ChatBody(seed%2 == 0, `"n":1`)), []byte(generated(seed)), seed)
		f.Add([]byte(wiretest.ChatBody(seed%2 == 1)), []byte(whole), seed*7)
	}
	for seed, body := range []string{"", "{", "null", "[]", `{"messages":[{}],"tools":[{}]} x`, `{"stream":true}`, "\ufeff{}", `{"tools":[0],"stream":true}`} {
		f.Add([]byte(body), []byte(body), uint64(seed)) //nolint:gosec // an index
		f.Add([]byte(body), []byte(whole+body), uint64(seed)*5)
	}
	f.Fuzz(func(t *testing.T, request, answer []byte, seed uint64) {
		m := mannerOf(seed)
		want := m.deal(t, request, answer, func(base http.RoundTripper) http.RoundTripper { return base })
		got := m.deal(t, request, answer, func(base http.RoundTripper) http.RoundTripper {
			return transport.New(base, m.middleware())
		})
		if got.AnswerLength == -1 {
			want.AnswerLength = -1
		}
		require.Equal(t, want, got)
	})
}
