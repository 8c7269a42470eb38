package scenarios_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// readUntil receives chunks until their text contains the word.
func readUntil(t *testing.T, recv func() (openai.ChatCompletionStreamResponse, error), word string) {
	t.Helper()
	var a scenario.Answer
	for !strings.Contains(a.Text, word) {
		chunk, err := recv()
		require.NoError(t, err)
		a.Add(chunk)
	}
}

// requireBrokeOff checks that the call ended with the error of its caller.
func requireBrokeOff(t *testing.T, s *scenario.Scenario, got scenario.Answer, want error) {
	t.Helper()
	require.ErrorIs(t, got.Err, want)
	if s.Mode.Streamed() {
		assert.Empty(t, got.Finish, "a stream that broke off has no finish")
	}
	assert.True(t, got.Outcome.Ended)
	assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
	require.ErrorIs(t, got.Outcome.Err, want)
	assert.Zero(t, s.State(t).Claim, "left active")
}

func TestContextThatHasEndedBeforeTheCall(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		ctx, cancel := context.WithCancel(s.Ctx)
		cancel()
		got := s.Call(ctx, scenario.Request())
		requireBrokeOff(t, s, got, context.Canceled)
		assert.Empty(t, s.Server.Requests())
	})
}

func TestContextThatEndsDuringTheFirstTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		turn, arrived, release := gatedTurn(fakellm.Text(scenario.Plan))
		defer release()
		ctx, cancel := context.WithCancel(s.Ctx)
		defer cancel()
		s.Server.Append(turn)
		call := inBackground(func() scenario.Answer { return s.Mode.Call(ctx, s.Client, scenario.Request()) })
		<-arrived
		cancel()
		requireBrokeOff(t, s, <-call, context.Canceled)
		assert.Len(t, s.Server.Requests(), 1)
	})
}

func TestContextThatEndsInTheTextOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	s.Server.Append(fakellm.Text("One two three.").HangAfter(3))
	got, err := scenario.Open(ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	defer got.Close()
	readUntil(t, got.Recv, "One two")
	cancel()
	_, err = got.Recv()
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, reasons.BrokeOff, got.Outcome().Reason)
}

// Once the first turn is complete, the caller sees its end, whatever happens to ctx afterwards.
func TestContextThatEndsAfterTheFirstTurnReleasesItsEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]func(cancel func()) (todo.Provider, middleware.Option){
		"while the todos are asked for": func(cancel func()) (todo.Provider, middleware.Option) {
			return todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
				cancel()
				return []todo.Todo{scenario.Pending("A")}, nil
			}), nil
		},
		"while the gate is asked": func(cancel func()) (todo.Provider, middleware.Option) {
			return scenario.TwoTodos(), middleware.WithGate(func(context.Context, middleware.NextTurn) error {
				cancel()
				return nil
			})
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
				ctx, cancel := context.WithCancel(continuation.WithSession(t.Context(), "s"))
				defer cancel()
				todos, option := prepare(cancel)
				s := scenario.New(t, m, todos, option)
				got := s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan))
				assert.Equal(t, scenario.Plan, got.Text)
				if !m.Streamed() {
					require.NoError(t, got.Err)
				}
				assert.Equal(t, "stop", got.Finish)
				assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
				assert.Len(t, s.Server.Requests(), 1)
				assert.Empty(t, failures(s.Events), "an end by the caller is no failure")
			})
		})
	}
}

// closing is an [http.RoundTripper] that calls do when the first body is closed.
type closing struct {
	base http.RoundTripper
	once sync.Once
	do   func()
}

type closingBody struct {
	io.ReadCloser

	from *closing
}

func (c *closing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.base.RoundTrip(r)
	if err == nil {
		response.Body = &closingBody{ReadCloser: response.Body, from: c}
	}
	return response, err
}

func (b *closingBody) Close() error {
	b.from.once.Do(b.from.do)
	return b.ReadCloser.Close()
}

func TestContextThatEndsWithTheFirstTurnReleasesItsEnd(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		ctx, cancel := context.WithCancel(s.Ctx)
		defer cancel()
		s.Transport.Base = &closing{base: s.Transport.Base, do: cancel}
		got := s.Call(ctx, scenario.Request(), fakellm.Text(scenario.Plan))
		scenario.RequireComplete(t, m, got, scenario.Plan, "stop")
		assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
		assert.Len(t, s.Server.Requests(), 1)
	})
}

func TestContextThatEndsBetweenTheFinishAndTheEnd(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	asked := make(chan struct{})
	s.Middleware = middleware.New(todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
		close(asked) // the engine has read the finish
		return []todo.Todo{scenario.Pending("A")}, nil
	}))
	s.Client = s.ClientWith(s.Middleware)
	s.Server.Append(fakellm.Text(scenario.Plan).HangAfter(-1))
	call := inBackground(func() scenario.Answer { return s.Mode.Call(ctx, s.Client, scenario.Request()) })
	<-asked
	cancel()
	got := <-call
	require.ErrorIs(t, got.Err, context.Canceled, "as without carryon")
	assert.Equal(t, scenario.Plan, got.Text)
	assert.Equal(t, "stop", got.Finish, "the end was there")
	assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
}

func TestContextThatEndsDuringAContinuation(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		turn, arrived, release := gatedTurn(fakellm.Text("Two:"))
		defer release()
		ctx, cancel := context.WithCancelCause(s.Ctx)
		defer cancel(nil)
		s.Server.Append(fakellm.Text("One:"), turn)
		call := inBackground(func() scenario.Answer { return s.Mode.Call(ctx, s.Client, scenario.Request()) })
		<-arrived
		cancel(cause)
		got := <-call
		requireBrokeOff(t, s, got, context.Canceled)
		require.ErrorIs(t, got.Err, cause)
		assert.Equal(t, "One:", got.Text, "the text so far is not lost")
		assert.Len(t, s.Server.Requests(), 2)
		assert.Empty(t, failures(s.Events), "an end by the caller is no failure")
		assert.Empty(t, s.State(t).LastResult, "the model does not hear of it")
	})
}

func TestContextThatEndsInTheTextOfAContinuation(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	s.Server.Append(fakellm.Text("One:"), fakellm.Text("Two three four.").HangAfter(3))
	got, err := scenario.Open(ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	defer got.Close()
	readUntil(t, got.Recv, "Two three")
	cancel()
	_, err = got.Recv()
	require.ErrorIs(t, err, context.Canceled)
	_, err = got.Recv()
	require.ErrorIs(t, err, context.Canceled, "the error stays")
	outcome := got.Outcome()
	assert.True(t, outcome.Ended)
	assert.Equal(t, reasons.BrokeOff, outcome.Reason)
	assert.Zero(t, s.State(t).Claim)
}

func TestCloseAfterAnyChunkEndsTheCall(t *testing.T) {
	t.Parallel()
	whole := scenario.New(t, scenario.TypedStream, scenario.TwoTodos()).Ask(scenario.ThreeTurns()...)
	require.NoError(t, whole.Err)
	for n := range len(whole.Chunks) + 1 {
		s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
		s.Server.Append(scenario.ThreeTurns()...)
		got, err := scenario.Open(s.Ctx, s.Client, scenario.RequestWithUsage())
		require.NoError(t, err)
		for i := range n {
			chunk, err := got.Recv()
			require.NoError(t, err)
			assert.Equal(t, whole.Chunks[i], chunk)
		}
		require.NoError(t, got.Close())
		assert.True(t, got.Outcome().Ended, "after %d chunks", n)
		assert.Zero(t, s.State(t).Claim, "after %d chunks", n)
		opened, closed := s.Transport.Bodies()
		assert.Equal(t, opened, closed, "after %d chunks", n)
		for err == nil { // chunks that were ready may still be read, as from the SDK's own stream
			_, err = got.Recv()
		}
		require.NoError(t, got.Close(), "again")
		asked := len(s.Server.Requests())
		_, _ = got.Recv()
		assert.Len(t, s.Server.Requests(), asked, "nothing is sent any more")
	}
}

// closeDuring closes a stream from another goroutine while its consumer waits for the server.
func closeDuring(t *testing.T, s *scenario.Scenario, arrived <-chan struct{}) error {
	t.Helper()
	got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, err = got.Recv()
		}
		ended <- err
	}()
	<-arrived
	require.NoError(t, got.Close())
	err = <-ended
	outcome := got.Outcome()
	assert.True(t, outcome.Ended)
	assert.Equal(t, reasons.BrokeOff, outcome.Reason)
	assert.Zero(t, s.State(t).Claim)
	return err
}

func TestCloseDuringRecvOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	arrived := make(chan struct{})
	s.Server.Append(doFirst(func() { close(arrived) }, fakellm.Text(scenario.Plan).HangAfter(0)))
	require.Error(t, closeDuring(t, s, arrived))
}

func TestCloseDuringTheOpeningOfAContinuation(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	turn, arrived, release := gatedTurn(fakellm.Text("Two:"))
	defer release()
	s.Server.Append(fakellm.Text("One:"), turn)
	require.ErrorIs(t, closeDuring(t, s, arrived), scenario.TypedStream.ErrClosed())
	assert.Empty(t, failures(s.Events), "an end by the caller is no failure")
}

func TestCloseDuringRecvOfAContinuation(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	arrived := make(chan struct{})
	s.Server.Append(fakellm.Text("One:"), doFirst(func() { close(arrived) }, fakellm.Text("Two:").HangAfter(0)))
	require.ErrorIs(t, closeDuring(t, s, arrived), scenario.TypedStream.ErrClosed())
	assert.Empty(t, failures(s.Events))
}

func TestCloseBetweenTheFinishAndTheEnd(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := scenario.New(t, scenario.TypedStream, todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
		close(asked)
		return []todo.Todo{scenario.Pending("A")}, nil
	}))
	s.Server.Append(fakellm.Text(scenario.Plan).HangAfter(-1))
	require.Error(t, closeDuring(t, s, asked))
	assert.Len(t, s.Server.Requests(), 1)
}

// The program's own functions run inside Recv. They may close the stream that called them.
func TestCloseFromWithinRecv(t *testing.T) {
	t.Parallel()
	var stream scenario.Stream
	tests := map[string]func(do func()) (todo.Provider, middleware.Option){
		"the todo source": func(do func()) (todo.Provider, middleware.Option) {
			return todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
				do()
				return []todo.Todo{scenario.Pending("A")}, nil
			}), nil
		},
		"the gate": func(do func()) (todo.Provider, middleware.Option) {
			return scenario.TwoTodos(), middleware.WithGate(func(context.Context, middleware.NextTurn) error {
				do()
				return nil
			})
		},
		"an observer of decisions": func(do func()) (todo.Provider, middleware.Option) {
			return scenario.TwoTodos(), middleware.WithObserver(middleware.Observer{
				Decision: func(context.Context, middleware.Decision) { do() },
			})
		},
		"an observer of the todo source": func(do func()) (todo.Provider, middleware.Option) {
			return scenario.TwoTodos(), middleware.WithObserver(middleware.Observer{
				Answered: func(context.Context, middleware.Answered) { do() },
			})
		},
		"an observer of continuations": func(do func()) (todo.Provider, middleware.Option) {
			return scenario.TwoTodos(), middleware.WithObserver(middleware.Observer{
				ContinuationStarted: func(context.Context, middleware.ContinuationStarted) { do() },
			})
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			todos, option := prepare(func() { assert.NoError(t, stream.Close()) })
			s := scenario.New(t, scenario.TypedStream, todos, option)
			s.Server.Append(fakellm.Text(scenario.Plan), fakellm.Text("Two:"))
			var err error
			stream, err = scenario.Open(s.Ctx, s.Client, scenario.Request())
			require.NoError(t, err)
			for err == nil {
				_, err = stream.Recv()
			}
			// The end of the first turn is shown if it had arrived before.
			assert.True(t, stream.Outcome().Ended)
			assert.Zero(t, s.State(t).Claim)
		})
	}
}

// An observer of the store may close the stream too, whatever the store was asked for.
func TestCloseWhenTheStoreHasAnswered(t *testing.T) {
	t.Parallel()
	for nth := int64(1); ; nth++ {
		var stream scenario.Stream
		var answers atomic.Int64 // the claim may be released on a goroutine of its own
		observer := middleware.Observer{Answered: func(_ context.Context, e middleware.Answered) {
			if stream.Receiver == nil || e.Op != "store" {
				return // the user turn is registered before there is a stream
			}
			if answers.Add(1) == nth {
				assert.NoError(t, stream.Close())
			}
		}}
		s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos(), middleware.WithRecords(records.NewMemoryEngine()), middleware.WithObserver(observer))
		s.Server.Append(fakellm.Text("One:"), scenario.Edit())
		var err error
		stream, err = scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		for err == nil {
			_, err = stream.Recv()
		}
		assert.True(t, stream.Outcome().Ended)
		assert.Zero(t, s.State(t).Claim)
		if answers.Load() < nth {
			assert.Greater(t, nth, int64(2), "the claim and its release")
			return
		}
	}
}

func TestCloseAtAnyMomentFromAnotherGoroutine(t *testing.T) {
	t.Parallel()
	for i := range 60 {
		s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
		s.Server.Append(scenario.ThreeTurns()...)
		got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		closed := make(chan struct{})
		timer := time.AfterFunc(time.Duration(i)*50*time.Microsecond, func() {
			defer close(closed)
			assert.NoError(t, got.Close())
		})
		for err == nil {
			_, err = got.Recv()
		}
		if timer.Stop() {
			require.NoError(t, got.Close())
		} else {
			<-closed
		}
		assert.True(t, got.Outcome().Ended)
		assert.Zero(t, s.State(t).Claim)
		// Turns of the script may be left over: the call may have ended before it asked for them.
	}
}

func TestPanicOfTheTransportReleasesTheSession(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Transport.Base = scenario.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			if _, ok := continuation.FromContext(r.Context()); ok {
				panic("transport")
			}
			return http.DefaultTransport.RoundTrip(r)
		})
		require.PanicsWithValue(t, "transport", func() { s.Ask(fakellm.Text(scenario.Plan)) })
		assert.Zero(t, s.State(t).Claim)
	})
}

func TestStreamIsClosedAfterItsEnd(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	s.Server.Append(fakellm.Text(scenario.Plan), scenario.Edit())
	got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
	require.NoError(t, err)
	for err == nil {
		_, err = got.Recv()
	}
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, got.Close())
	_, err = got.Recv()
	require.ErrorIs(t, err, io.EOF, "it was whole")
	assert.Equal(t, reasons.ToolCalls, got.Outcome().Reason)
}

// slowStore is a store whose writes take time, as over a network.
type slowStore struct{ records.Records }

func (s slowStore) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	changes := false
	err := s.Records.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		next, _, err := f(now, old)
		changes = !bytes.Equal(next, old)
		return old, time.Hour, err
	})
	if err != nil || !changes {
		return err
	}
	<-time.After(20 * time.Millisecond)
	return s.Records.Update(ctx, key, f)
}

// A program may make the next call as soon as one has ended.
func TestSessionIsFreeWhenTheCallIsOver(t *testing.T) {
	t.Parallel()
	for name, byClose := range map[string]bool{"by Close": true, "by the context": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos(), middleware.WithRecords(
				slowStore{records.NewMemoryEngine()}))
			turn, arrived, release := gatedTurn(fakellm.Text("Two:"))
			defer release()
			s.Server.Append(fakellm.Text("One:"), turn)
			ctx, cancel := context.WithCancel(s.Ctx)
			defer cancel()
			got, err := scenario.Open(ctx, s.Client, scenario.Request())
			require.NoError(t, err)
			defer got.Close()
			go func() {
				<-arrived
				if byClose {
					got.Close()
				}
				cancel()
			}()
			for err == nil {
				_, err = got.Recv()
			}
			require.NotErrorIs(t, err, io.EOF)
			assert.Zero(t, s.State(t).Claim)
		})
	}
}

// failingStore is a store that fails once it is broken.
type failingStore struct {
	records.Records

	broken atomic.Bool
}

func (f *failingStore) Update(ctx context.Context, key string, change records.UpdateFunc) error {
	if f.broken.Load() {
		return errors.New("store is gone")
	}
	return f.Records.Update(ctx, key, change)
}

// Observers are called outside every lock, so one may close the stream that its event is about.
func TestCloseByAnObserverOfAStoreThatFails(t *testing.T) {
	t.Parallel()
	store := &failingStore{Records: records.NewMemoryEngine()}
	server := fakellm.NewServer(t, fakellm.Text("One:"), fakellm.Text("Two three.").HangAfter(2))
	var got scenario.Stream
	observed := make(chan struct{})
	observe := sync.OnceFunc(func() { close(observed) })
	mw := middleware.New(scenario.TwoTodos(), middleware.WithRecords(store), middleware.WithObserver(middleware.Observer{
		Failed: func(context.Context, middleware.Failed) {
			got.Close()
			observe()
		},
	}))
	ctx, cancel := context.WithCancel(continuation.WithSession(t.Context(), "s"))
	defer cancel()
	got, err := scenario.Open(ctx, scenario.TypedStream.HTTPClient(server, mw), scenario.Request())
	require.NoError(t, err)
	readUntil(t, got.Recv, "Two")
	store.broken.Store(true)
	cancel() // another goroutine than the consumer's releases the claim
	select {
	case <-observed:
	case <-time.After(time.Minute):
		require.Fail(t, "the observer waits forever")
	}
}
