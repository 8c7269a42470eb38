package openai_test

import (
	"context"
	"encoding/json"
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

// script is a call that a test makes more than once: what a program asks, what
// it is answered, and the middleware between.
type script struct {
	request  openai.ChatCompletionRequest
	upstream upstream
	options  []middleware.Option
}

// scriptOf returns the script of the request that [ask] returns.
func scriptOf(turns []carryontest.Turn, options ...middleware.Option) script {
	return script{ask(), playing(turns...), options}
}

// trace is all that there is to be seen of a call, from without and from within.
type trace struct {
	answer answer
	asked  []any // the JSON of the requests
	events []any
	state  continuation.State
}

// trace makes the call of a script in a bubble, in which all calls are made at
// the same time.
func (m mode) trace(t *testing.T, s script) (seen trace) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		answers, asked := s.upstream(t)
		events := carryontest.NewRecorder()
		mw := middleware.New(twoTodos, slices.Concat(
			[]middleware.Option{unhurried, middleware.WithObserver(events.Observer())}, s.options)...)
		ctx := continuation.WithSession(t.Context(), "s")
		seen.answer = m.call(ctx, m.client(configOf(carryontest.BaseURL, answers), mw), s.request)
		seen.events = events.Events()
		for _, body := range asked() {
			var request any
			require.NoError(t, json.Unmarshal([]byte(body), &request))
			seen.asked = append(seen.asked, withoutEmpty(request))
		}
		state, err := mw.State(ctx)
		require.NoError(t, err)
		seen.state = state
	})
	return seen
}

// sameOnTheWire makes the call through Wrap and on the wire, and returns how it
// is through Wrap. Nothing may tell which of the two it was: not what is read,
// chunk by chunk, with its outcome, not the requests, the events or the state
// of the session. But
//   - errors are worded by the SDK or by the transport. What they are about is
//     the same: a status, a limit, the caller's ctx, or another matter,
//   - there may be another number of chunks of which the SDK reads nothing,
//   - the wire waits a moment for the end of an answer that has said [DONE],
//   - a request on the wire has a store that is false, and the empty content of
//     a message, where the SDK leaves them out,
//   - and the key of a user turn is a hash of what either sees of the message.
//
// What a program may notice besides is where the SDK reads another answer than
// was sent ([sdkMisreads]), and what comes of [http.Client]: a unary call that
// is cancelled in a continuation returns its error alone, and a stream that was
// closed says [http.ErrBodyReadAfterClose].
func (s script) sameOnTheWire(t *testing.T, streamed bool) trace {
	t.Helper()
	typed, wire := s.traces(t, streamed)
	want, got := typed.plain(), wire.plain()
	assert.Equal(t, want.asked, got.asked)
	assert.Equal(t, want.answer, got.answer)
	assert.Equal(t, want.events, got.events)
	assert.Equal(t, want.state, got.state)
	return typed
}

// traces makes the call through Wrap and on the wire.
func (s script) traces(t *testing.T, streamed bool) (typed, wire trace) {
	t.Helper()
	if streamed {
		return typedStream.trace(t, s), wireStream.trace(t, s)
	}
	return typedUnary.trace(t, s), wireUnary.trace(t, s)
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
	s.state = plainState(s.state)
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
			e.Evaluation.State = plainState(e.Evaluation.State)
			s.events[i] = e
		case middleware.Paused:
			e.Result.Time = toTheSecond(e.Result.Time)
			s.events[i] = e
		}
	}
	return s
}

func plainState(state continuation.State) continuation.State {
	state.UserTurn, state.Claim.Token = 0, 0
	state.LastPrompt, state.Paused.Since = toTheSecond(state.LastPrompt), toTheSecond(state.Paused.Since)
	return state
}

// withoutEmpty returns a request without what the SDK leaves out.
func withoutEmpty(request any) any {
	members, _ := request.(map[string]any)
	if members["store"] == false {
		delete(members, "store")
	}
	messages, _ := members["messages"].([]any)
	for _, message := range messages {
		if m, _ := message.(map[string]any); m["content"] == "" {
			delete(m, "content")
		}
	}
	return request
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
	if err == nil {
		return nil
	}
	if status := statusOf(err); status != 0 {
		return kind(fmt.Sprint("status ", status))
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

// statusOf returns the status that an error is about, or 0.
func statusOf(err error) int {
	var wire *middleware.StatusError
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &wire):
		return wire.Status
	case errors.As(err, &request):
		return request.HTTPStatusCode
	case errors.As(err, &api):
		return api.HTTPStatusCode
	}
	return 0
}
