package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// echo answers each request with the user's text, and repeats it in a continuation.
func echo(r fakellm.Request) fakellm.Turn {
	word := r.Messages[1].Content
	if len(r.Messages) > 2 {
		return fakellm.Text(word+" again.").AndCall("edit_file", `{"path":"`+word+`"}`)
	}
	return fakellm.Text(word + " once.")
}

// Concurrent answers, in one session or in many, do not affect each other.
func TestManyAnswersAtOnce(t *testing.T) {
	t.Parallel()
	const calls = 60
	for name, session := range map[string]func(i int) string{
		"one session": func(int) string { return "s" }, "many sessions": strconv.Itoa,
		"no session": func(int) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				turns := make([]fakellm.Turn, 2*calls)
				for i := range turns {
					turns[i] = fakellm.Func(echo)
				}
				server := fakellm.NewServer(t, turns...)
				mw := middleware.New(wiretest.TwoTodos, wiretest.Unhurried)
				client := &http.Client{Transport: transport.New(server.Transport(), mw)}
				var wg sync.WaitGroup
				for i := range calls {
					wg.Go(func() {
						ctx, word := t.Context(), fmt.Sprint("word", i)
						if key := session(i); key != "" {
							ctx = continuation.WithSession(ctx, key)
						}
						body := strings.Replace(wiretest.ChatBody(w.Stream), "Write and test the parser.", word, 1)
						got := wiretest.ReadReply(client.Do(wiretest.NewChatRequest(t, ctx, fakellm.BaseURL, body)))
						if !assert.NoError(t, got.Err) { //nolint:testifylint // not the test's own goroutine
							return
						}
						h := got.Chat(t)
						if name != "one session" {
							assert.Equal(t, word+" once.\n\n"+word+" again.", h.Text)
							assert.Equal(t, []string{`edit_file {"path":"` + word + `"}`}, h.Calls)
							return
						}
						// Newer calls of a session supersede the older ones, which end as they would.
						for _, text := range strings.SplitAfter(strings.ReplaceAll(h.Text, "\n\n", "|"), "|") {
							assert.True(t, strings.HasPrefix(text, word+" "), h.Text)
						}
					})
				}
				wg.Wait()
				for _, key := range []string{session(0), session(calls - 1)} {
					if key != "" {
						state, err := mw.State(continuation.WithSession(t.Context(), key))
						require.NoError(t, err)
						assert.False(t, state.Active)
					}
				}
			})
		})
	}
}

// Close may be called at any time by any goroutine: Read returns, and nothing is left open.
func TestCloseBesideRead(t *testing.T) {
	t.Parallel()
	mw := middleware.New(wiretest.TwoTodos, wiretest.Unhurried)
	for i := range 400 {
		closeBesideRead(t, mw, i)
	}
}

func closeBesideRead(t *testing.T, mw *middleware.Middleware, i int) {
	t.Helper()
	asked := 0
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		asked++
		if asked > 3 {
			return nil, errors.New("no more")
		}
		text := strings.Repeat(textEvent, 40) + finishEvent + doneMark
		return wiretest.Streamed(r, &wiretest.Pieces{Text: text, Next: wiretest.Always(1 + 37*i%1000), End: io.EOF}), nil
	})
	ctx := continuation.WithSession(t.Context(), strconv.Itoa(i))
	response, err := transport.New(base, mw).RoundTrip(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(true)))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	left := make(chan struct{})
	go func() {
		defer close(left)
		for range i % 50 { // some more, some less
			_, _ = mw.State(ctx)
		}
		wiretest.Closed(t, response)
	}()
	p := make([]byte, 1+i*13%2000)
	for err == nil {
		_, err = response.Body.Read(p)
	}
	<-left
	state, err := mw.State(ctx)
	require.NoError(t, err)
	assert.False(t, state.Active)
}

// The state of a call without a session is touched only by the goroutine that reads. The
// race detector says so.
func TestCloseBesideADecisionWithoutASession(t *testing.T) {
	t.Parallel()
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		return wiretest.Streamed(r, io.NopCloser(strings.NewReader(textEvent+finishEvent+doneMark))), nil
	})
	for range 50 {
		var closing sync.WaitGroup
		var response *http.Response
		decisions := 0
		source := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			if decisions++; decisions == 2 {
				closing.Go(func() { wiretest.Closed(t, response) })
			}
			return wiretest.TwoTodos.Todos(ctx)
		})
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(true))
		var err error
		response, err = transport.New(base, middleware.New(source, wiretest.Unhurried, wiretest.Unattended)).RoundTrip(request)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, response.Body) // it may end with an error
		closing.Wait()
	}
}

// A base that answers from memory may return the same header every time.
func TestBaseWithASharedHeader(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		const text = textEvent + finishEvent + doneMark
		header := http.Header{"Content-Type": {"application/json"}, "Etag": {`"1"`}, "Content-Length": {strconv.Itoa(len(stalled))}}
		body := stalled
		if w.Stream {
			header.Set("Content-Type", "text/event-stream")
			header.Set("Content-Length", strconv.Itoa(len(text)))
			body = text
		}
		before := header.Clone()
		answered := func(body string) *http.Response {
			return &http.Response{
				StatusCode: http.StatusOK, Header: header, Body: httpmock.NewRespBodyFromString(body), ContentLength: int64(len(body)),
			}
		}
		mock := httpmock.NewMockTransport()
		mock.RegisterResponder(http.MethodPost, "http://model.test/v1/chat/completions", func(r *http.Request) (*http.Response, error) {
			if wiretest.IsContinuation(r) { // the same text again would be left out
				return answered(strings.NewReplacer("Next.", "Done.", "So,", "Ah,").Replace(body)), nil
			}
			return answered(body), nil
		})
		client := &http.Client{Transport: transport.New(mock, middleware.New(wiretest.TwoTodos, wiretest.Unhurried))}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				got := wiretest.ReadReply(client.Do(wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(w.Stream))))
				assert.NoError(t, got.Err) //nolint:testifylint // not the test's own goroutine
				assert.NotEmpty(t, got.Body)
				got.Header.Set("X-Mine", "1")
			})
		}
		wg.Wait()
		assert.Equal(t, before, header)
	})
}

// panicky is a base that panics on some requests.
func panicky(base http.RoundTripper, on func(*http.Request) bool) http.RoundTripper {
	return wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if on(r) {
			panic("base")
		}
		return base.RoundTrip(r)
	})
}

// A panic of the base reaches the program, and leaves nothing open.
func TestBaseThatPanics(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		t.Run("on the caller's own request", func(t *testing.T) {
			t.Parallel()
			s := wiretest.NewScene(t, wiretest.TwoTodos)
			ctx, outcomes := middleware.Capture(s.Ctx)
			rt := transport.New(panicky(s.Wire, func(*http.Request) bool { return true }), s.Middleware)
			assert.PanicsWithValue(t, "base", func() {
				wiretest.ReadReply(rt.RoundTrip(s.Request(t, wiretest.ChatBody(w.Stream)).WithContext(ctx)))
			})
			assert.Equal(t, w.Stream, len(outcomes.All()) == 0, "a stream that never began has no end")
		})
		t.Run("on a continuation", func(t *testing.T) {
			t.Parallel()
			s := wiretest.NewScene(t, wiretest.TwoTodos)
			ctx, outcomes := middleware.Capture(s.Ctx)
			rt := transport.New(panicky(s.Wire, wiretest.IsContinuation), s.Middleware)
			s.Server.Append(wiretest.Texts(wiretest.Plan)...)
			assert.PanicsWithValue(t, "base", func() {
				wiretest.ReadReply(rt.RoundTrip(s.Request(t, wiretest.ChatBody(w.Stream)).WithContext(ctx)))
			})
			assert.True(t, outcomes.Last().Ended)
			assert.Zero(t, s.State(t).Claim)
		})
	})
}

// A source may ask several others at once, each of which reads the messages.
func TestSourcesThatReadTheMessagesAtOnce(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		todos := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range todo.ConversationFrom(ctx) {
					}
				})
			}
			wg.Wait()
			return wiretest.TwoTodos.Todos(ctx)
		})
		s := wiretest.NewScene(t, todos)
		wiretest.RequireChat(t, s.Ask(t, w, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()), wiretest.Plan, "tool_calls")
	})
}

// A todo source that panics counts as having no todos, and does not crash the program.
func TestTodosThatPanic(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { panic("todos") }))
		wiretest.RequireChat(t, s.Ask(t, w, wiretest.Texts(wiretest.Plan)...), wiretest.Plan, "stop")
		require.Len(t, carryontest.Recorded[middleware.Failed](s.Events), 1)
	})
}

// A base that breaks the rules of http.RoundTripper does no more harm than without carryon.
func TestBaseThatFails(t *testing.T) {
	t.Parallel()
	gone := errors.New("no route")
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		base := s.Wire.Base
		s.Wire.Base = wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if wiretest.IsContinuation(r) {
				return nil, gone
			}
			return base.RoundTrip(r)
		})
		got := s.Ask(t, w, wiretest.Texts(wiretest.Plan)...)
		wiretest.RequireChat(t, got, wiretest.Plan, "stop")
		require.ErrorIs(t, got.Outcome.Err, gone)

		s.Wire.Base = wiretest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, gone })
		got = s.Ask(t, w)
		require.ErrorIs(t, got.Err, gone)
		require.ErrorIs(t, got.Outcome.Err, gone)
		assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
	})
}
