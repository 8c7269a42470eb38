package openai_test

import (
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

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// readUntil receives until the text read holds the word.
func readUntil(t *testing.T, recv func() (openai.ChatCompletionStreamResponse, error), word string) {
	t.Helper()
	var a answer
	for !strings.Contains(a.Text, word) {
		chunk, err := recv()
		require.NoError(t, err)
		a.add(chunk)
	}
}

// requireBrokeOff checks that the caller ended the call.
func (s *scene) requireBrokeOff(t *testing.T, got answer, want error) {
	t.Helper()
	require.ErrorIs(t, got.Err, want)
	if s.m.streamed {
		assert.Empty(t, got.Finish, "a stream that broke off has no end")
	}
	assert.True(t, got.Outcome.Ended)
	assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome.Reason)
	require.ErrorIs(t, got.Outcome.Err, want)
	assert.Zero(t, s.state(t).Claim, "left active")
}

func TestContextThatHasEndedBeforeTheCall(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		ctx, cancel := context.WithCancel(s.ctx)
		cancel()
		got := s.call(ctx, ask())
		s.requireBrokeOff(t, got, context.Canceled)
		assert.Empty(t, s.server.Requests())
	})
}

func TestContextThatEndsDuringTheFirstTurn(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		turn, arrived, letGo := reached(carryontest.Text(plan))
		defer letGo()
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		s.server.Append(turn)
		call := meanwhile(func() answer { return s.m.call(ctx, s.client, ask()) })
		<-arrived
		cancel()
		s.requireBrokeOff(t, <-call, context.Canceled)
		assert.Len(t, s.server.Requests(), 1)
	})
}

func TestContextThatEndsInTheTextOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		s.server.Append(carryontest.Text("One two three.").HangAfter(3))
		got, err := open(ctx, s.client, ask())
		require.NoError(t, err)
		defer got.Close()
		readUntil(t, got.Recv, "One two")
		cancel()
		_, err = got.Recv()
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome().Reason)
	})
}

// What the caller sees of a first turn that is over does not depend on what happens afterwards.
func TestContextThatEndsAfterTheFirstTurnReleasesItsEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]func(cancel func()) (todo.Provider, middleware.Option){
		"while the todos are asked for": func(cancel func()) (todo.Provider, middleware.Option) {
			return todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
				cancel()
				return []todo.Todo{pending("A")}, nil
			}), nil
		},
		"while the gate is asked": func(cancel func()) (todo.Provider, middleware.Option) {
			return twoTodos, middleware.WithGate(func(context.Context, middleware.Turn) error {
				cancel()
				return nil
			})
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModes(t, allModes, func(t *testing.T, m mode) {
				ctx, cancel := context.WithCancel(continuation.WithSession(t.Context(), "s"))
				defer cancel()
				todos, option := prepare(cancel)
				s := newScene(t, m, todos, option)
				got := s.call(ctx, ask(), carryontest.Text(plan))
				assert.Equal(t, plan, got.Text)
				if !m.streamed {
					require.NoError(t, got.Err)
				}
				assert.Equal(t, "stop", got.Finish)
				assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome.Reason)
				assert.Len(t, s.server.Requests(), 1)
				assert.Empty(t, failures(s.events), "the caller's doing is no failure")
			})
		})
	}
}

// closing is an [http.RoundTripper] that does something when the first body is closed.
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
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		s.wire.base = &closing{base: s.wire.base, do: cancel}
		got := s.call(ctx, ask(), carryontest.Text(plan))
		requireComplete(t, m, got, plan, "stop")
		assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome.Reason)
		assert.Len(t, s.server.Requests(), 1)
	})
}

func TestContextThatEndsBetweenTheFinishAndTheEnd(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		asked := make(chan struct{})
		s.mw = middleware.New(todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
			close(asked) // the finish was seen
			return []todo.Todo{pending("A")}, nil
		}))
		s.client = s.wrap(s.mw)
		s.server.Append(carryontest.Text(plan).HangAfter(-1))
		call := meanwhile(func() answer { return s.m.call(ctx, s.client, ask()) })
		<-asked
		cancel()
		got := <-call
		require.ErrorIs(t, got.Err, context.Canceled, "as without carryon")
		assert.Equal(t, plan, got.Text)
		assert.Equal(t, "stop", got.Finish, "the end was there")
		assert.Equal(t, continuation.ReasonBrokeOff, got.Outcome.Reason)
	})
}

func TestContextThatEndsDuringAContinuation(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		turn, arrived, letGo := reached(carryontest.Text("Two."))
		defer letGo()
		ctx, cancel := context.WithCancelCause(s.ctx)
		defer cancel(nil)
		s.server.Append(carryontest.Text("One."), turn)
		call := meanwhile(func() answer { return s.m.call(ctx, s.client, ask()) })
		<-arrived
		cancel(cause)
		got := <-call
		s.requireBrokeOff(t, got, context.Canceled)
		require.ErrorIs(t, got.Err, cause)
		if m != wireUnary { // http.Client has room for one of the two
			assert.Equal(t, "One.", got.Text, "what was said is not lost")
		}
		assert.Len(t, s.server.Requests(), 2)
		assert.Empty(t, failures(s.events), "the caller's doing is no failure")
		assert.Empty(t, s.state(t).Last, "and not told to the model")
	})
}

func TestContextThatEndsInTheTextOfAContinuation(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		s.server.Append(carryontest.Text("One."), carryontest.Text("Two three four.").HangAfter(3))
		got, err := open(ctx, s.client, ask())
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
		assert.Equal(t, continuation.ReasonBrokeOff, outcome.Reason)
		assert.Zero(t, s.state(t).Claim)
	})
}

// threeTurns is a script of which every chunk is a point to close at.
func threeTurns() []carryontest.Turn {
	return []carryontest.Turn{
		carryontest.Text("One two three."), carryontest.Text("Four five."), edit().AndText("Six seven."),
	}
}

func TestCloseAfterAnyChunkEndsTheCall(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		whole := newScene(t, m, twoTodos).ask(threeTurns()...)
		require.NoError(t, whole.Err)
		for n := range len(whole.Chunks) + 1 {
			s := newScene(t, m, twoTodos)
			s.server.Append(threeTurns()...)
			got, err := open(s.ctx, s.client, withUsage())
			require.NoError(t, err)
			for i := range n {
				chunk, err := got.Recv()
				require.NoError(t, err)
				assert.Equal(t, whole.Chunks[i], chunk)
			}
			require.NoError(t, got.Close())
			assert.True(t, got.Outcome().Ended, "after %d chunks", n)
			assert.Zero(t, s.state(t).Claim, "after %d chunks", n)
			opened, closed := s.wire.bodies()
			assert.Equal(t, opened, closed, "after %d chunks", n)
			for err == nil { // what was ready may still be read, as from the SDK's own stream
				_, err = got.Recv()
			}
			require.NoError(t, got.Close(), "again")
			asked := len(s.server.Requests())
			_, _ = got.Recv()
			assert.Len(t, s.server.Requests(), asked, "nothing is sent any more")
		}
	})
}

// closeDuring closes a stream from another goroutine when its consumer waits for what the turns hold back.
func (s *scene) closeDuring(t *testing.T, arrived <-chan struct{}) error {
	t.Helper()
	got, err := open(s.ctx, s.client, ask())
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
	assert.Equal(t, continuation.ReasonBrokeOff, outcome.Reason)
	assert.Zero(t, s.state(t).Claim)
	return err
}

func TestCloseDuringRecvOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		arrived := make(chan struct{})
		s.server.Append(then(func() { close(arrived) }, carryontest.Text(plan).HangAfter(0)))
		require.Error(t, s.closeDuring(t, arrived))
	})
}

func TestCloseDuringTheOpeningOfAContinuation(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		turn, arrived, letGo := reached(carryontest.Text("Two."))
		defer letGo()
		s.server.Append(carryontest.Text("One."), turn)
		require.ErrorIs(t, s.closeDuring(t, arrived), m.errClosed())
		assert.Empty(t, failures(s.events), "the caller's doing is no failure")
	})
}

func TestCloseDuringRecvOfAContinuation(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		arrived := make(chan struct{})
		s.server.Append(carryontest.Text("One."), then(func() { close(arrived) }, carryontest.Text("Two.").HangAfter(0)))
		require.ErrorIs(t, s.closeDuring(t, arrived), m.errClosed())
		assert.Empty(t, failures(s.events))
	})
}

func TestCloseBetweenTheFinishAndTheEnd(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		asked := make(chan struct{})
		s := newScene(t, m, todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
			close(asked)
			return []todo.Todo{pending("A")}, nil
		}))
		s.server.Append(carryontest.Text(plan).HangAfter(-1))
		require.Error(t, s.closeDuring(t, asked))
		assert.Len(t, s.server.Requests(), 1)
	})
}

// Everything that the program plugs in runs inside Recv, and may close the stream that it runs for.
func TestCloseFromWithinRecv(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		var stream opened
		tests := map[string]func(do func()) (todo.Provider, middleware.Option){
			"the todo source": func(do func()) (todo.Provider, middleware.Option) {
				return todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
					do()
					return []todo.Todo{pending("A")}, nil
				}), nil
			},
			"the gate": func(do func()) (todo.Provider, middleware.Option) {
				return twoTodos, middleware.WithGate(func(context.Context, middleware.Turn) error {
					do()
					return nil
				})
			},
			"an observer of decisions": func(do func()) (todo.Provider, middleware.Option) {
				return twoTodos, middleware.WithObserver(middleware.Observer{
					Decision: func(context.Context, middleware.Decision) { do() },
				})
			},
			"an observer of continuations": func(do func()) (todo.Provider, middleware.Option) {
				return twoTodos, middleware.WithObserver(middleware.Observer{
					ContinuationStarted: func(context.Context, middleware.ContinuationStarted) { do() },
				})
			},
		}
		for name, prepare := range tests {
			t.Run(name, func(t *testing.T) {
				todos, option := prepare(func() { assert.NoError(t, stream.Close()) })
				s := newScene(t, m, todos, option)
				s.server.Append(carryontest.Text(plan), carryontest.Text("Two."))
				var err error
				stream, err = open(s.ctx, s.client, ask())
				require.NoError(t, err)
				for err == nil {
					_, err = stream.Recv()
				}
				// Whether the end of the first turn is still shown depends on whether it was in.
				assert.True(t, stream.Outcome().Ended)
				assert.Zero(t, s.state(t).Claim)
			})
		}
	})
}

func TestCloseAtAnyMomentFromAnotherGoroutine(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		for i := range 60 {
			s := newScene(t, m, twoTodos)
			s.server.Append(threeTurns()...)
			got, err := open(s.ctx, s.client, ask())
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
			assert.Zero(t, s.state(t).Claim)
			// Turns that were never asked for are no fault of the call's.
		}
	})
}

func TestRangeThatIsLeftEarlyClosesTheStream(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"One", "Four"} {
		s := newScene(t, typedStream, twoTodos)
		s.server.Append(threeTurns()...)
		got, err := s.wrapped().CreateChatCompletionStream(s.ctx, ask())
		require.NoError(t, err)
		var a answer
		for chunk, err := range got.All() {
			require.NoError(t, err)
			if a.add(chunk); strings.Contains(a.Text, word) {
				break
			}
		}
		assert.True(t, got.Outcome().Ended)
		assert.Zero(t, s.state(t).Claim)
		opened, closed := s.wire.bodies()
		assert.Equal(t, opened, closed)
	}
}

func TestPanicOfTheConsumerClosesTheStream(t *testing.T) {
	t.Parallel()
	s := newScene(t, typedStream, twoTodos)
	s.server.Append(threeTurns()...)
	got, err := s.wrapped().CreateChatCompletionStream(s.ctx, ask())
	require.NoError(t, err)
	var a answer
	require.Panics(t, func() {
		for chunk, err := range got.All() {
			require.NoError(t, err)
			if a.add(chunk); strings.Contains(a.Text, "Four") {
				panic("consumer")
			}
		}
	})
	assert.True(t, got.Outcome().Ended)
	assert.Zero(t, s.state(t).Claim)
}

func TestPanicOfTheTransportReleasesTheSession(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.wire.base = roundTrip(func(r *http.Request) (*http.Response, error) {
			if _, ok := continuation.FromContext(r.Context()); ok {
				panic("transport")
			}
			return http.DefaultTransport.RoundTrip(r)
		})
		require.PanicsWithValue(t, "transport", func() { s.ask(carryontest.Text(plan)) })
		assert.Zero(t, s.state(t).Claim)
	})
}

func TestStreamIsClosedAfterItsEnd(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		s := newScene(t, m, twoTodos)
		s.server.Append(carryontest.Text(plan), edit())
		got, err := open(s.ctx, s.client, ask())
		require.NoError(t, err)
		for err == nil {
			_, err = got.Recv()
		}
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, got.Close())
		_, err = got.Recv()
		require.ErrorIs(t, err, io.EOF, "it was whole")
		assert.Equal(t, continuation.ReasonToolCalls, got.Outcome().Reason)
	})
}

// slowStore is a store that takes its time to write, as one over a network does.
type slowStore struct{ continuation.Store }

func (s slowStore) Update(
	ctx context.Context, key string, f func(continuation.State) continuation.State,
) error {
	changes := false
	err := s.Store.Update(ctx, key, func(before continuation.State) continuation.State {
		changes = f(before) != before
		return before
	})
	if err != nil || !changes {
		return err
	}
	<-time.After(20 * time.Millisecond)
	return s.Store.Update(ctx, key, f)
}

// A program that has just ended a call may make the next one at once.
func TestSessionIsFreeWhenTheCallIsOver(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		for name, byClose := range map[string]bool{"by Close": true, "by the context": false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, m, twoTodos, middleware.WithStore(
					slowStore{continuation.NewMemoryStore(continuation.MemoryOptions{})}))
				turn, arrived, letGo := reached(carryontest.Text("Two."))
				defer letGo()
				s.server.Append(carryontest.Text("One."), turn)
				ctx, cancel := context.WithCancel(s.ctx)
				defer cancel()
				got, err := open(ctx, s.client, ask())
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
				assert.Zero(t, s.state(t).Claim)
			})
		}
	})
}

// failingStore is a store that can be broken.
type failingStore struct {
	continuation.Store

	broken atomic.Bool
}

func (f *failingStore) Update(
	ctx context.Context, key string, change func(continuation.State) continuation.State,
) error {
	if f.broken.Load() {
		return errors.New("store is gone")
	}
	return f.Store.Update(ctx, key, change)
}

// Observers are told outside every lock, so that one may close the stream that it is told about.
func TestCloseByAnObserverOfAStoreThatFails(t *testing.T) {
	t.Parallel()
	inModes(t, streamModes, func(t *testing.T, m mode) {
		store := &failingStore{Store: continuation.NewMemoryStore(continuation.MemoryOptions{})}
		server := carryontest.NewServer(t, carryontest.Text("One."), carryontest.Text("Two three.").HangAfter(2))
		var got opened
		told := make(chan struct{})
		tell := sync.OnceFunc(func() { close(told) })
		mw := middleware.New(twoTodos, middleware.WithStore(store), middleware.WithObserver(middleware.Observer{
			Failed: func(context.Context, middleware.Failed) {
				got.Close()
				tell()
			},
		}))
		ctx, cancel := context.WithCancel(continuation.WithSession(t.Context(), "s"))
		defer cancel()
		got, err := open(ctx, m.clientOn(server, mw), ask())
		require.NoError(t, err)
		readUntil(t, got.Recv, "Two")
		store.broken.Store(true)
		cancel() // the claim is given up on another goroutine than the consumer's
		select {
		case <-told:
		case <-time.After(5 * time.Second):
			require.Fail(t, "the observer waits for ever")
		}
	})
}
