package middleware_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

const blocked = "The grammar file grammar.ebnf is missing"

// Answers of the made-up SDK's model.

func says(text string) sdkAnswer {
	return sdkAnswer{ID: "a", Text: text, Stop: "stop", Usage: sdkUsage{In: 10, Out: 5}}
}

func calls(list ...sdkCall) sdkAnswer {
	return sdkAnswer{ID: "a", Calls: list, Stop: "tools", Usage: sdkUsage{In: 20, Out: 8}}
}

func fails(err error) sdkAnswer { return sdkAnswer{err: err} }

func (a sdkAnswer) saying(text string) sdkAnswer {
	a.Text = text
	return a
}

func (a sdkAnswer) stoppedBy(reason string) sdkAnswer {
	a.Stop = reason
	return a
}

func edit(id string) sdkCall {
	return sdkCall{ID: id, Name: "edit_file", Args: `{"path":"parser.go","change":"` + id + `"}`}
}

func pauses(reason string) sdkCall {
	return sdkCall{ID: "p", Name: "todo_pause", Args: `{"reason":"` + reason + `"}`}
}

// setup is a model and an agent around it, with a recorder of the events.
type setup struct {
	model  *sdkClient
	agent  *client
	events *carryontest.Recorder
	mw     *middleware.Middleware
}

func newSetup(turns []sdkAnswer, options ...middleware.Option) *setup {
	s := &setup{model: &sdkClient{turns: turns}, events: carryontest.NewRecorder()}
	options = append([]middleware.Option{unhurried, middleware.WithObserver(s.events.Observer())}, options...)
	s.mw = middleware.New(buildTodos, options...)
	s.agent = &client{s.model, s.mw}
	return s
}

// begin begins a call that is in scope, or returns nil.
func begin(ctx context.Context, mw *middleware.Middleware, r adapter.Request) *join.Call {
	call, _ := join.Begin(ctx, mw, r)
	return call
}

// inSession is a ctx with a session.
func inSession(tb testing.TB, session string) context.Context {
	tb.Helper()
	return continuation.WithSession(tb.Context(), session)
}

// answer is a call and its outcome.
func (s *setup) answer(ctx context.Context) (sdkAnswer, middleware.Outcome, error) {
	ctx, outcomes := middleware.Capture(ctx)
	answer, err := s.agent.Complete(ctx, fixTheBuild)
	return answer, outcomes.Last(), err
}

// streamed is a stream's chunks put together.
type streamed struct {
	answer sdkAnswer
	chunks []sdkChunk
	err    error
}

func drain(t *testing.T, stream adapter.Source[sdkChunk]) (s streamed) {
	t.Helper()
	for {
		chunk, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			require.NoError(t, stream.Close())
			return s
		}
		s.chunks = append(s.chunks, chunk)
		s.answer.Text += chunk.Text
		s.answer.Calls = append(s.answer.Calls, chunk.Calls...)
		if chunk.Stop != "" {
			s.answer.Stop = chunk.Stop
		}
		if chunk.Usage != nil {
			s.answer.Usage = *chunk.Usage
		}
	}
}

// failingTodos is a source that returns err.
func failingTodos(err error) todo.Provider {
	return todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) { return nil, err })
}

// recoveries returns an observer that notes what works again.
func recoveries(ops *[]string) middleware.Observer {
	return middleware.Observer{Answered: func(_ context.Context, e middleware.Answered) {
		if e.Recovered {
			*ops = append(*ops, e.Op)
		}
	}}
}

// rejections returns the pauses that were rejected.
func rejections(r *carryontest.Recorder) []middleware.PauseCalled {
	return slices.DeleteFunc(carryontest.Recorded[middleware.PauseCalled](r),
		func(e middleware.PauseCalled) bool { return e.Err == nil })
}
