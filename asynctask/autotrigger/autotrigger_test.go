package autotrigger_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/asynctask/autotrigger"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/scope"
)

// agent is a host whose turns behave as a test sets.
type agent struct {
	busy  atomic.Bool
	start time.Time

	mu    sync.Mutex
	told  []string
	when  []time.Duration // since the start
	react func(ctx context.Context) error
	errs  []error
}

func (a *agent) host() autotrigger.Host {
	return autotrigger.Host{Busy: a.busy.Load, Trigger: a.trigger, OnError: func(err error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.errs = append(a.errs, err)
	}}
}

func (a *agent) trigger(ctx context.Context, message string) error {
	a.mu.Lock()
	a.told, a.when = append(a.told, message), append(a.when, time.Since(a.start))
	react := a.react
	a.mu.Unlock()
	if react == nil {
		return nil
	}
	return react(ctx)
}

// reacts sets the behaviour of turns; nil ends them well at once.
func (a *agent) reacts(f func(ctx context.Context) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.react = f
}

// messages returns the messages that started the turns.
func (a *agent) messages() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told)
}

func (a *agent) times() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.when)
}

func (a *agent) failures() []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.errs)
}

// triggered runs f in a bubble with an agent and an AutoTrigger for session a.
func triggered(t *testing.T, f func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, a := asynctask.NewManager(), &agent{start: time.Now()}
		trigger := autotrigger.New(inA(t), m, a.host())
		synctest.Wait() // it has found nothing that ended before it
		f(t, setupOf(t, m), a, trigger)
		require.NoError(t, trigger.Stop(t.Context()))
		require.NoError(t, m.Close(t.Context()))
	})
}

// after lets d pass.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestTriggerStartsATurnWhenATaskEnds(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, _ *autotrigger.AutoTrigger) {
		a.reacts(func(ctx context.Context) error {
			assert.Equal(t, "a", continuation.Session(ctx))
			assert.True(t, scope.IsAutomatic(ctx), "no user asked for it")
			assert.Empty(t, s.told("a"), "no other delivery reports the task")
			return ctx.Err()
		})
		s.ends("b", "b1")
		s.begins("a", "running")
		after(time.Hour)
		require.Empty(t, a.messages())

		s.ends("a", "1")
		require.NoError(t, s.Cancel(t.Context(), s.tickets["running"]))
		after(autotrigger.Window)
		require.Len(t, a.messages(), 1)
		golden(t, "trigger", a.messages()[0])
		after(24 * time.Hour)
		assert.Len(t, a.messages(), 1, "the task is reported once")
		assert.Empty(t, s.told("a"))
		assert.Equal(t, []string{"b1"}, s.told("b"))
	})
}

func TestTriggerTellsABurstTogether(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, _ *autotrigger.AutoTrigger) {
		for _, id := range []string{"1", "2", "3", "4"} {
			s.ends("a", id)
			after(autotrigger.Window / 4)
		}
		require.Len(t, a.messages(), 1)
		assert.Len(t, ids(a.messages()[0]), 4)
		assert.Equal(t, []time.Duration{autotrigger.Window}, a.times(), "the window does not grow")
	})
}

func TestTriggerTellsWhatEndedWhileATurnRan(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, _ *autotrigger.AutoTrigger) {
		a.reacts(func(context.Context) error {
			if len(a.messages()) == 1 {
				s.ends("a", "2") //nolint:contextcheck // the setup has one
			}
			<-time.After(time.Hour) // far longer than a lease that is not renewed
			return nil
		})
		s.ends("a", "1")
		after(30 * time.Minute)
		assert.Equal(t, []string{"2"}, s.told("a"), "the first delivery still holds its task")
		after(3 * time.Hour)
		require.Len(t, a.messages(), 2)
		assert.Contains(t, a.messages()[1], "result of 2")
		assert.NotContains(t, a.messages()[1], "result of 1")
		assert.Empty(t, s.told("a"))
	})
}

func TestTriggerWaitsForABusyAgent(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
		a.busy.Store(true)
		s.ends("a", "1")
		after(time.Hour)
		assert.Empty(t, a.messages())
		assert.Equal(t, []string{"1"}, s.told("a"), "a request of the turn may carry it")

		a.busy.Store(false)
		after(autotrigger.BusyInterval)
		assert.Len(t, a.messages(), 1)

		a.busy.Store(true)
		s.ends("a", "2")
		after(time.Minute + autotrigger.BusyInterval/2)
		a.busy.Store(false)
		trigger.Idle()
		synctest.Wait()
		assert.Len(t, a.messages(), 2, "at once")
	})
}

func TestTriggerLeavesToOthersWhatTheyTell(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
		s.ends("a", "1")
		d := s.deliver()
		after(time.Minute)
		assert.Empty(t, a.messages())
		s.settle(d, delivery.Delivered)
		after(time.Hour)
		assert.Empty(t, a.messages())

		s.ends("a", "2")
		d = s.deliver()
		after(time.Minute)
		s.settle(d, delivery.Unread) // the request failed, and no other follows
		after(autotrigger.BusyInterval)
		require.Len(t, a.messages(), 1)
		assert.Contains(t, a.messages()[0], "result of 2")

		s.ends("a", "3")
		s.deliver() // a stream that is abandoned
		trigger.Idle()
		after(delivery.Life + autotrigger.BusyInterval)
		require.Len(t, a.messages(), 2)
		assert.Contains(t, a.messages()[1], "result of 3")
	})
}

func TestFailedTriggerLosesNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("model overloaded")
	for name, turn := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return broken },
		"panic": func(context.Context) error { panic(broken) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
				a.reacts(turn)
				s.ends("a", "1")
				after(autotrigger.Window)
				require.Len(t, a.messages(), 1)
				require.Len(t, a.failures(), 1)
				require.ErrorIs(t, a.failures()[0], broken)
				assert.Equal(t, []string{"1"}, s.told("a"))

				s.ends("a", "2")
				trigger.Idle()
				after(autotrigger.RetryDelay - 1)
				assert.Len(t, a.messages(), 1, "not before the delay is over")
				a.reacts(nil)
				after(1)
				require.Len(t, a.messages(), 2)
				assert.Contains(t, a.messages()[1], "result of 1")
				assert.Contains(t, a.messages()[1], "result of 2")
				assert.Empty(t, s.told("a"))
			})
		})
	}
}

func TestFailuresInARowPutTheNextTryOffAndEndInRest(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
		a.reacts(func(context.Context) error { return errors.New("no") })
		s.ends("a", "1")
		after(24 * time.Hour)
		trigger.Idle()
		after(time.Hour)
		first := autotrigger.Window
		assert.Equal(t, []time.Duration{
			first, first + 30*time.Second, first + 90*time.Second, first + 210*time.Second, first + 450*time.Second,
		}, a.times())
		assert.Equal(t, []string{"1"}, s.told("a"), "the next request carries it")
		s.ends("b", "b1")
		after(time.Hour)
		require.Len(t, a.messages(), 5, "the end of a task in another session changes nothing")

		s.ends("a", "2")
		after(24 * time.Hour)
		assert.Len(t, a.messages(), 6, "another end is another try, of everything")
		assert.Contains(t, a.messages()[5], "result of 1")

		a.reacts(nil)
		s.ends("a", "3")
		after(time.Minute)
		assert.Len(t, a.messages(), 7)
		assert.Empty(t, s.told("a"))

		a.reacts(func(context.Context) error { return errors.New("no") })
		s.ends("a", "4")
		after(autotrigger.Window + autotrigger.RetryDelay)
		assert.Len(t, a.messages(), 9, "after a success the failures are counted anew")
	})
}

func TestAgentThatBecameBusyIsNoFailure(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, _ *autotrigger.AutoTrigger) {
		a.reacts(func(context.Context) error { return autotrigger.ErrBusy })
		s.ends("a", "1")
		after(autotrigger.Window + 10*autotrigger.BusyInterval)
		assert.Len(t, a.messages(), 11)
		assert.Empty(t, a.failures())
		assert.Equal(t, []string{"1"}, s.told("a"))
	})
}

func TestPanicOfBusyCountsAsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setupOf(t, asynctask.NewManager())
		var told atomic.Int32
		trigger := autotrigger.New(inA(t), s.Manager, autotrigger.Host{
			Busy:    func() bool { panic("oh") },
			Trigger: func(context.Context, string) error { t.Error("triggered"); return nil },
			OnError: func(err error) {
				if err.Error() == "panic: oh" {
					told.Add(1)
				}
				panic("and this panics too")
			},
		})
		s.ends("a", "1")
		after(autotrigger.Window + autotrigger.BusyInterval)
		assert.EqualValues(t, 2, told.Load())
		require.NoError(t, trigger.Stop(t.Context()))
	})
}

func TestTriggerTellsWhatEndedBeforeIt(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
		require.NoError(t, trigger.Stop(t.Context()))
		s.ends("a", "1")
		after(time.Hour)
		assert.Empty(t, a.messages(), "a stopped one does nothing")

		var message string
		again := autotrigger.New(inA(t), s.Manager, autotrigger.Host{
			Busy:    a.busy.Load,
			Trigger: func(_ context.Context, m string) error { message = m; return nil },
		})
		synctest.Wait()
		assert.Contains(t, message, "result of 1")
		require.NoError(t, again.Stop(t.Context()))
	})
}

func TestStopEndsATurnAndWaitsForIt(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*testing.T, *setup, *autotrigger.AutoTrigger) error{
		"stop":  func(t *testing.T, _ *setup, a *autotrigger.AutoTrigger) error { return a.Stop(t.Context()) },
		"close": func(t *testing.T, s *setup, _ *autotrigger.AutoTrigger) error { return s.Close(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]error{"stop": autotrigger.ErrStopped, "close": asynctask.ErrClosed}[name]
			triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
				a.reacts(func(ctx context.Context) error {
					<-ctx.Done()
					<-time.After(time.Minute)
					return context.Cause(ctx)
				})
				s.ends("a", "1")
				after(autotrigger.Window)
				began := time.Now()
				require.NoError(t, stop(t, s, trigger))
				assert.Equal(t, time.Minute, time.Since(began))
				require.ErrorIs(t, a.failures()[0], want)
				assert.Equal(t, []string{"1"}, s.told("a"))
			})
		})
	}
}

func TestStopWaitsNoLongerThanItsCtx(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
		a.reacts(func(context.Context) error { <-time.After(time.Hour); return nil })
		s.ends("a", "1")
		after(autotrigger.Window)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, trigger.Stop(ctx), context.DeadlineExceeded)
		require.ErrorIs(t, s.Close(ctx), context.DeadlineExceeded)
	})
}

func TestTriggerEndsWithItsCtx(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setupOf(t, asynctask.NewManager())
		ctx, cancel := context.WithCancel(inA(t))
		trigger := autotrigger.New(ctx, s.Manager, autotrigger.Host{
			Busy:    func() bool { return false },
			Trigger: func(context.Context, string) error { t.Error("triggered"); return nil },
		})
		cancel()
		synctest.Wait()
		s.ends("a", "1")
		after(time.Hour)
		ended, cancelled := context.WithCancel(t.Context())
		cancelled()
		require.NoError(t, trigger.Stop(ended), "there is nothing to wait for")
		require.NoError(t, s.Close(ended))
	})
}

func TestTriggerThatEndsItsGoroutineLosesNothing(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, trigger *autotrigger.AutoTrigger) {
		a.reacts(func(context.Context) error { runtime.Goexit(); return nil })
		s.ends("a", "1")
		after(autotrigger.Window)
		assert.Equal(t, []string{"1"}, s.told("a"))
		require.NoError(t, trigger.Stop(t.Context()))
	})
}

func TestTriggerOfAClosedManagerDoesNothing(t *testing.T) {
	t.Parallel()
	m := asynctask.NewManager()
	require.NoError(t, m.Close(t.Context()))
	trigger := autotrigger.New(inA(t), m, autotrigger.Host{
		Busy: func() bool { return false }, Trigger: func(context.Context, string) error { return nil },
	})
	require.NoError(t, trigger.Stop(t.Context()))
}

func TestTriggerOfOneConversation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setupOf(t, asynctask.NewManager(asynctask.WithOneConversation()))
		var messages []string
		trigger := autotrigger.New(t.Context(), s.Manager, autotrigger.Host{
			Busy:    func() bool { return false },
			Trigger: func(_ context.Context, m string) error { messages = append(messages, m); return nil },
		})
		s.ends("a", "1")
		after(autotrigger.Window)
		assert.Len(t, messages, 1)
		require.NoError(t, trigger.Stop(t.Context()))
	})
}

func TestATriggerTellsOfItsSessionOnly(t *testing.T) {
	t.Parallel()
	triggered(t, func(t *testing.T, s *setup, a *agent, _ *autotrigger.AutoTrigger) {
		s.ends("b", "b1")
		s.ends("", "nobody's")
		s.ends("a", "a1")
		after(autotrigger.Window)
		require.Len(t, a.messages(), 1)
		assert.Equal(t, []string{"a1"}, ids(a.messages()[0]))
	})
}

func TestWrongUsePanics(t *testing.T) {
	t.Parallel()
	m := asynctask.NewManager()
	host := autotrigger.Host{
		Busy:    func() bool { return true },
		Trigger: func(context.Context, string) error { return nil },
	}
	stopped := autotrigger.New(inA(t), m, host)
	require.NoError(t, stopped.Stop(t.Context()))
	var noCtx context.Context
	for want, f := range map[string]func(){
		"nil tasks":                     func() { autotrigger.New(t.Context(), nil, host) },
		"a Host needs Busy and Trigger": func() { autotrigger.New(inA(t), m, autotrigger.Host{}) },
		"nil context":                   func() { _ = stopped.Stop(noCtx) },
		"an AutoTrigger needs a session (see continuation.WithSession)": func() {
			autotrigger.New(t.Context(), m, host)
		},
	} {
		assert.PanicsWithValue(t, "carryon/asynctask/autotrigger: "+want, f)
	}
	require.NoError(t, m.Close(t.Context()))
}
