package check

import (
	"context"
	"sync"

	"github.com/carryon-go/carryon/internal/scope"
)

// sharedRuns runs something that must not run twice at once, for callers that come at any
// time. A caller that comes while it runs waits for it.
type sharedRuns struct {
	run func(context.Context) error

	mu      sync.Mutex
	current *sharedRun // nil if none runs
}

// sharedRun is one run.
type sharedRun struct {
	calls   uint64             // how many tool calls there had been when it began
	known   bool               // calls is
	waiting int                // callers
	ctx     context.Context    //nolint:containedctx // of the run, which no single caller owns
	stop    context.CancelFunc // once nobody waits
	done    chan struct{}
	err     error // valid once done is closed
}

// join returns the result of a run that no tool call has made out of date: of the one
// under way, if there is one, or of a new one. When ctx ends, the run is ended unless
// others wait for it.
func (f *sharedRuns) join(ctx context.Context) error {
	for {
		calls, known := scope.ToolCalls(ctx)
		run, isCurrent := f.enter(ctx, calls, known)
		if !isCurrent {
			select {
			case <-run.done:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		select {
		case <-run.done:
			return run.err
		case <-ctx.Done():
			f.leave(run)
			return context.Cause(ctx)
		}
	}
}

// enter returns the run under way, or a new one. It reports whether its result will be of
// the present.
func (f *sharedRuns) enter(ctx context.Context, calls uint64, known bool) (under *sharedRun, isCurrent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if under = f.current; under != nil {
		if under.ctx.Err() != nil || !known || !under.known || under.calls != calls {
			return under, false
		}
		under.waiting++
		return under, true
	}
	run := &sharedRun{calls: calls, known: known, waiting: 1, done: make(chan struct{})}
	run.ctx, run.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.current = run
	go func() {
		err := f.run(run.ctx)
		f.mu.Lock()
		defer f.mu.Unlock()
		run.err, f.current = err, nil
		run.stop()
		close(run.done)
	}()
	return run, true
}

// leave notes that a caller does not wait any more. The last one waits until the run has
// ended, so that it leaves nothing behind.
func (f *sharedRuns) leave(run *sharedRun) {
	f.mu.Lock()
	run.waiting--
	last := run.waiting == 0
	if last {
		run.stop()
	}
	f.mu.Unlock()
	if last {
		<-run.done
	}
}
