package middleware_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
)

// illEngine is an engine that hangs while it is ill, and counts its updates.
type illEngine struct {
	records.Records

	isIll atomic.Bool
	asked atomic.Int32
	left  atomic.Int32 // until it is ill; 0 if that is not counted
}

// hangAfter heals the engine for that many updates.
func (e *illEngine) hangAfter(updates int) {
	e.isIll.Store(updates == 0)
	e.left.Store(int32(updates)) //nolint:gosec // a small number
}

func (e *illEngine) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	e.asked.Add(1)
	if e.isIll.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if e.left.Load() > 0 && e.left.Add(-1) == 0 {
		defer e.isIll.Store(true)
	}
	return e.Records.Update(ctx, key, f)
}

// Tasks on an engine that hangs cost one call half a second, and the calls after it
// nothing, until a call finds that it answers again.
func TestTasksThatHangCostOneCallItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &illEngine{Records: records.NewMemoryEngine()}
		var faults []error
		tasks := asynctask.NewManager(asynctask.WithRecords(engine))
		call := withoutTodos(t, middleware.WithTasks(tasks), middleware.WithObserver(middleware.Observer{
			Failed: func(_ context.Context, f middleware.Failed) { faults = append(faults, f.Err) },
		}))
		takes := func() time.Duration {
			began := time.Now()
			call()
			return time.Since(began)
		}
		assert.Zero(t, takes())
		engine.isIll.Store(true)
		assert.Equal(t, 500*time.Millisecond, takes())
		asked := engine.asked.Load()
		for range 10 {
			assert.Zero(t, takes())
		}
		assert.Equal(t, asked, engine.asked.Load(), "the calls do not ask the engine")
		assert.Len(t, faults, 1, "the failure is reported once")
		require.ErrorIs(t, faults[0], context.DeadlineExceeded)

		<-time.After(5 * time.Second)
		assert.Equal(t, 500*time.Millisecond, takes(), "one call tries again")
		assert.Zero(t, takes())
		engine.isIll.Store(false)
		<-time.After(5 * time.Second)
		assert.Zero(t, takes())
		asked = engine.asked.Load()
		assert.Zero(t, takes())
		assert.Greater(t, engine.asked.Load(), asked, "the tasks are asked again")
	})
}
