package scenarios_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// slow returns a check that fails after a time, and the time at which its ctx has ended, if
// it has before.
func slow(takes time.Duration) (middleware.Option, *time.Duration) {
	ended, began := new(time.Duration), time.Now()
	return middleware.WithCheck(func(ctx context.Context, _ middleware.NextTurn) error {
		select {
		case <-time.After(takes):
			return unmet("no")
		case <-ctx.Done():
			*ended = time.Since(began)
			return ctx.Err()
		}
	}), ended
}

// A deadline of the caller's ends the check before it costs the answer.
func TestDeadlineEndsACheck(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		for name, limit := range map[string]func(context.Context, time.Duration) (context.Context, context.CancelFunc){
			"of the ctx": context.WithTimeout,
			"of -max-wait": func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return continuation.WithDeadline(ctx, time.Now().Add(d)), func() {}
			},
		} {
			check, ended := slow(time.Hour)
			s := scenario.NewInBubble(t, m, finished(), check)
			began := time.Now()
			ctx, cancel := limit(s.Ctx, time.Minute)
			got := s.Call(ctx, worked(), fakellm.Text("All done."))
			cancel()
			scenario.RequireComplete(t, m, got, "All done.", "stop")
			assert.Equal(t, reasons.Deadline, got.Outcome.Reason, name)
			assert.Equal(t, continuation.CheckUnknown, got.Outcome.Check)
			assert.Equal(t, 58*time.Second, time.Since(began))
			synctest.Wait()
			assert.Equal(t, 58*time.Second, *ended)
			assert.Equal(t, []string{"check"}, failures(s.Events))
		}
	})
}

// If there is no time for a continuation, the check is not asked.
func TestCheckIsNotAskedWithoutTime(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, finished(), middleware.WithCheck(func(context.Context, middleware.NextTurn) error {
			t.Error("asked")
			return nil
		}))
		ctx, cancel := context.WithTimeout(s.Ctx, time.Minute)
		defer cancel()
		got := s.Call(ctx, worked(), doFirst(func() { <-time.After(40 * time.Second) }, fakellm.Text("All done.")))
		assert.Equal(t, reasons.Deadline, got.Outcome.Reason)
	})
}

func TestCallerEndsACheck(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		check, ended := slow(time.Hour)
		s := scenario.NewInBubble(t, m, finished(), check)
		ctx, cancel := context.WithCancel(s.Ctx)
		time.AfterFunc(time.Minute, cancel)
		got := s.Call(ctx, worked(), fakellm.Text("All done."))
		require.ErrorIs(t, got.Err, context.Canceled)
		assert.Equal(t, "All done.", got.Text+map[bool]string{true: "All done."}[got.Text == ""])
		assert.Equal(t, reasons.BrokeOff, got.Outcome.Reason)
		synctest.Wait()
		assert.Equal(t, time.Minute, *ended)
	})
}

func TestCloseEndsACheck(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		check, ended := slow(time.Hour)
		s := scenario.NewInBubble(t, m, finished(), check)
		s.Server.Append(fakellm.Text("All done."))
		stream, err := scenario.Open(s.Ctx, s.Client, worked())
		require.NoError(t, err)
		time.AfterFunc(time.Minute, func() { _ = stream.Close() })
		for err == nil {
			_, err = stream.Recv()
		}
		require.NotErrorIs(t, err, io.EOF)
		synctest.Wait()
		assert.Equal(t, time.Minute, *ended)
		assert.Equal(t, reasons.BrokeOff, stream.Outcome().Reason)
	})
}

// The end of the program ends the check, and waits for it.
func TestDrainEndsAndAwaitsACheck(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		began := time.Now()
		returned, drained := make(chan time.Duration, 1), make(chan time.Duration, 1)
		s := scenario.NewInBubble(t, m, finished(), middleware.WithCheck(func(ctx context.Context, _ middleware.NextTurn) error {
			<-ctx.Done()
			<-time.After(2 * time.Second) // to end what it has started
			returned <- time.Since(began)
			return ctx.Err()
		}))
		time.AfterFunc(time.Minute, func() {
			_ = s.Middleware.Drain(t.Context())
			drained <- time.Since(began)
		})
		got := s.Call(s.Ctx, worked(), fakellm.Text("All done."))
		scenario.RequireComplete(t, m, got, "All done.", "stop")
		assert.Equal(t, time.Minute, time.Since(began), "the answer does not wait")
		assert.Equal(t, reasons.Shutdown, got.Outcome.Reason)
		assert.Equal(t, 62*time.Second, <-returned)
		assert.Equal(t, 62*time.Second, <-drained)
	})
}

// A check that ignores its ctx does not hold the answer.
func TestCheckThatDoesNotListen(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.AllModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.NewInBubble(t, m, finished(), middleware.WithCheck(func(context.Context, middleware.NextTurn) error {
			<-time.After(time.Hour)
			return nil
		}))
		began := time.Now()
		ctx, cancel := context.WithTimeout(s.Ctx, time.Minute)
		defer cancel()
		got := s.Call(ctx, worked(), fakellm.Text("All done."))
		scenario.RequireComplete(t, m, got, "All done.", "stop")
		assert.Equal(t, 58*time.Second, time.Since(began))
		<-time.After(2 * time.Hour)
	})
}

// The first failure waits for no interval, the next for what is left of it: a check that
// takes long has waited enough.
func TestCheckAndTheInterval(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
		check, _ := slow(400 * time.Millisecond)
		s := scenario.NewInBubble(t, m, finished(), check)
		s.Call(s.Ctx, worked(), scenario.Texts("One.", "Two.", "Three.", "Four.", "Five.")...)
		assert.Equal(t, []time.Duration{400 * time.Millisecond, time.Second, time.Second, time.Second}, gaps(s))
	})
}
