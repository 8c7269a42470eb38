package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// upstream begins to answer the requests of one call, the same ones in the same
// way, and returns how to learn what they were.
type upstream func(t *testing.T) (answers http.RoundTripper, asked func() []string)

// playing returns the upstream of a script.
func playing(turns ...carryontest.Turn) upstream {
	return func(t *testing.T) (http.RoundTripper, func() []string) {
		t.Helper()
		server := carryontest.NewServer(t, turns...)
		return server.Transport(), func() (bodies []string) {
			for _, request := range server.Requests() {
				bodies = append(bodies, string(request.Body))
			}
			return bodies
		}
	}
}

// trace is all that there is to be seen of a call, from without and from within.
type trace struct {
	answer answer
	asked  []string
	events []any
	state  continuation.State
}

// trace makes a call in a bubble, in which all calls are made at the same time.
func (m mode) trace(t *testing.T, up upstream, options ...middleware.Option) (seen trace) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		answers, asked := up(t)
		events := carryontest.NewRecorder()
		mw := middleware.New(twoTodos, slices.Concat(
			[]middleware.Option{unhurried, middleware.WithObserver(events.Observer())}, options)...)
		ctx := continuation.WithSession(t.Context(), "s")
		seen.answer = m.call(ctx, m.client(configOf(carryontest.BaseURL, answers), mw), ask())
		seen.asked, seen.events = asked(), events.Events()
		state, err := mw.State(ctx)
		require.NoError(t, err)
		seen.state = state
	})
	return seen
}

// sameOnTheWire makes the call through Wrap and on the wire, and returns how it
// is through Wrap. Nothing may tell which of the two it was, but for
//   - errors, which the SDK words and the transport words, as far as they are
//     about the same,
//   - chunks of which the SDK reads nothing: for others there may be something
//     in them,
//   - and the moment for which the wire waits for the end of an answer that has
//     said [DONE].
func sameOnTheWire(t *testing.T, streamed bool, up upstream, options ...middleware.Option) trace {
	t.Helper()
	typed, wire := typedUnary, wireUnary
	if streamed {
		typed, wire = typedStream, wireStream
	}
	through := typed.trace(t, up, options...)
	want, got := through.plain(), wire.trace(t, up, options...).plain()
	require.Len(t, got.asked, len(want.asked), "requests")
	for i := range want.asked {
		assert.JSONEq(t, want.asked[i], got.asked[i], "request %d", i+1)
	}
	assert.Equal(t, want.answer, got.answer)
	assert.Equal(t, want.events, got.events)
	assert.Equal(t, want.state, got.state)
	return through
}

// plain returns what is to be the same.
func (s trace) plain() trace {
	a := &s.answer
	a.Err, a.Outcome.Err = kindOf(a.Err), kindOf(a.Outcome.Err)
	a.Chunks = slices.DeleteFunc(slices.Clone(a.Chunks), isEmpty)
	if a.Outcome.Paused != nil {
		paused := *a.Outcome.Paused
		paused.Time = toTheSecond(paused.Time)
		a.Outcome.Paused = &paused
	}
	s.state.LastPrompt, s.state.Paused.Since = toTheSecond(s.state.LastPrompt), toTheSecond(s.state.Paused.Since)
	s.events = slices.Clone(s.events)
	for i, event := range s.events {
		switch e := event.(type) {
		case middleware.TurnEnded:
			e.Err = kindOf(e.Err)
			s.events[i] = e
		case middleware.ContinuationEnded:
			e.Err = kindOf(e.Err)
			s.events[i] = e
		case middleware.Failed:
			e.Err = kindOf(e.Err)
			s.events[i] = e
		case middleware.Decision:
			state := &e.Evaluation.State
			state.Claim.Token, state.LastPrompt = 0, toTheSecond(state.LastPrompt)
			s.events[i] = e
		case middleware.Paused:
			e.Result.Time = toTheSecond(e.Result.Time)
			s.events[i] = e
		}
	}
	return s
}

// toTheSecond returns the time without the moment that the wire may have waited.
func toTheSecond(t time.Time) time.Time { return t.Truncate(time.Second) }

var emptyFragments = regexp.MustCompile(`^(\[\d+ _ _ _ _\] ?)*$`)

// isEmpty reports whether the SDK reads nothing of the chunk.
func isEmpty(c chunk) bool { return emptyFragments.MatchString(show(c)) }

// kind is what an error is about, whoever has worded it.
type kind string

// Error returns the kind.
func (k kind) Error() string { return string(k) }

func kindOf(err error) error {
	var status *middleware.StatusError
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status):
		return kind(fmt.Sprint("status ", status.Status))
	case errors.As(err, &request):
		return kind(fmt.Sprint("status ", request.HTTPStatusCode))
	case errors.As(err, &api) && api.HTTPStatusCode != 0:
		return kind(fmt.Sprint("status ", api.HTTPStatusCode))
	}
	for _, own := range []error{
		middleware.ErrIncomplete, middleware.ErrFirstByteTimeout, middleware.ErrResponseTimeout, context.Canceled,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, own) {
			return own
		}
	}
	return kind("of the provider or the connection")
}
