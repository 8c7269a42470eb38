package scenarios_test

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

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

// upstream answers the requests of one call, and gives the same requests the same answers every time. asked returns the
// bodies of the requests so far.
type upstream func(t *testing.T) (answers http.RoundTripper, asked func() []string)

// playing returns an upstream that sends the turns.
func playing(turns ...fakellm.Turn) upstream {
	return func(t *testing.T) (http.RoundTripper, func() []string) {
		t.Helper()
		server := fakellm.NewServer(t, turns...)
		return server.Transport(), func() (bodies []string) {
			for _, request := range server.Requests() {
				bodies = append(bodies, string(request.Body))
			}
			return bodies
		}
	}
}

// script is a call that a test makes more than once: the request, the answers and
// the options of the middleware.
type script struct {
	request  openai.ChatCompletionRequest
	upstream upstream
	options  []middleware.Option
}

// scriptOf returns the script of [scenario.Request].
func scriptOf(turns []fakellm.Turn, options ...middleware.Option) script {
	return script{scenario.Request(), playing(turns...), options}
}

// trace is everything that a program, a provider and an observer see of a call.
type trace struct {
	answer scenario.Answer
	asked  []any // the JSON of the requests
	events []any
	state  decision.State
}

// traceOf makes the call of a script in a bubble, so that all calls are made at
// the same time.
func traceOf(t *testing.T, m scenario.Mode, s script) (seen trace) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		answers, asked := s.upstream(t)
		events := carryontest.NewRecorder()
		mw := middleware.New(scenario.TwoTodos(), slices.Concat(
			[]middleware.Option{scenario.NoInterval(), middleware.WithObserver(events.Observer())}, s.options)...)
		ctx := continuation.WithSession(t.Context(), "s")
		seen.answer = m.Call(ctx, m.Client(scenario.Config(fakellm.BaseURL, answers), mw), s.request)
		seen.events = events.Events()
		for _, body := range asked() {
			var request any
			require.NoError(t, json.Unmarshal([]byte(body), &request))
			seen.asked = append(seen.asked, withoutEmpty(request))
		}
		state, err := statetest.State(ctx, mw)
		require.NoError(t, err)
		seen.state = state
	})
	return seen
}

// sameOnTheWire makes the call through Wrap and on the wire, checks that both
// have the same trace, and returns the one through Wrap: the same chunks and
// outcome, the same requests, events and state of the session. These differences
// are allowed:
//   - An error has the words of the SDK, or of the transport. Its kind is the
//     same: a status, a limit, the caller's ctx, or anything else.
//   - The number of chunks in which the SDK reads nothing may differ.
//   - The wire waits a moment for the end of a body after [DONE].
//   - A request on the wire has a store that is false, and the empty content of
//     a message, where the SDK leaves them out.
//   - The key of a user turn is a hash of the message in either form.
//
// A program may notice two more differences: the SDK may read another answer than was sent ([sdkMisreads]), and
// [http.Client] may decide: a unary call that is cancelled in a continuation returns only its error, and a closed
// stream returns [http.ErrBodyReadAfterClose].
func (s script) sameOnTheWire(t *testing.T, streamed bool) trace {
	t.Helper()
	typed, wire := s.traces(t, streamed)
	want, got := typed.plain(), wire.plain()
	assert.Equal(t, want.asked, got.asked)
	assert.Equal(t, want.answer, got.answer)
	assert.Equal(t, want.events, got.events)
	if want.state.Calls == ([8]uint64{}) {
		got.state.Calls = want.state.Calls // the SDK drops the names of custom tools
	}
	assert.Equal(t, want.state, got.state)
	return typed
}

// traces makes the call through Wrap and on the wire.
func (s script) traces(t *testing.T, streamed bool) (typed, wire trace) {
	t.Helper()
	if streamed {
		return traceOf(t, scenario.TypedStream, s), traceOf(t, scenario.WireStream, s)
	}
	return traceOf(t, scenario.TypedUnary, s), traceOf(t, scenario.WireUnary, s)
}

// plain returns the trace without the differences that are allowed.
func (s trace) plain() trace {
	a := &s.answer
	a.Err, a.Outcome.Err = kindOf(a.Err), kindOf(a.Outcome.Err)
	a.Outcome.Worth.Estimate = middleware.Tokens{} // request sizes differ between an SDK's types and the wire
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
			e.Err, e.Times = kindOf(e.Err), middleware.Times{}
			s.events[i] = e
		case middleware.Failed:
			e.Err = kindOf(e.Err)
			s.events[i] = e
		case middleware.PauseCalled:
			e.Result.Time = toTheSecond(e.Result.Time)
			s.events[i] = e
		}
	}
	return s
}

func plainState(state decision.State) decision.State {
	state.Tokens = 0 // estimated by the size of the request, which is larger in JSON
	state.Message, state.Claim.Token = 0, 0
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

// toTheSecond returns the time without the moment that the wire may wait.
func toTheSecond(t time.Time) time.Time { return t.Truncate(time.Second) }

var emptyFragments = regexp.MustCompile(`^(\[\d+ _ _ _ _\] ?)*$`)

// isEmpty reports whether the SDK reads nothing from the chunk.
func isEmpty(c chunk) bool { return emptyFragments.MatchString(show(c)) }

// kind is the kind of an error, without its words.
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
	var wire *adapter.StatusError
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &wire):
		return wire.Status
	case errors.As(err, &request):
		return request.HTTPStatusCode
	case errors.As(err, &api) && api != nil: // the SDK wraps nil ones
		return api.HTTPStatusCode
	}
	return 0
}
