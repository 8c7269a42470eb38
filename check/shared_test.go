package check

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/scope"
)

// Ends that come while a run goes on share it, unless a model has called a tool in between;
// then they run again, but not before it has ended. A run goes on as long as somebody waits.
func TestSharedRuns(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		calls []any // of models at each end, nil if that is not known
		leave int   // how many of the first do not wait
		runs  int
		took  time.Duration
	}{
		"one":                         {[]any{uint64(3)}, 0, 1, time.Minute},
		"nothing was called":          {[]any{uint64(3), uint64(3), uint64(3)}, 0, 1, time.Minute},
		"a tool was called":           {[]any{uint64(3), uint64(4), uint64(4)}, 0, 2, 2 * time.Minute},
		"nobody knows":                {[]any{nil, nil}, 0, 2, 2 * time.Minute},
		"the first leaves":            {[]any{uint64(3), uint64(3)}, 1, 1, time.Minute},
		"all leave":                   {[]any{uint64(3), uint64(3)}, 2, 1, time.Second},
		"the only one leaves, others": {[]any{uint64(3), uint64(4)}, 1, 2, time.Second + time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, runs, running := time.Now(), 0, 0
				shared := &sharedRuns{run: func(ctx context.Context) error {
					runs++
					running++
					assert.Equal(t, 1, running)
					defer func() { running-- }()
					select {
					case <-time.After(time.Minute):
						return failed
					case <-ctx.Done():
						return ctx.Err()
					}
				}}
				results := make(chan error, len(c.calls))
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				for i, calls := range c.calls {
					asking := t.Context()
					if i < c.leave {
						asking = ctx
					}
					if n, ok := calls.(uint64); ok {
						asking = scope.WithToolCalls(asking, n)
					}
					go func() { results <- shared.join(asking) }()
					synctest.Wait()
				}
				<-time.After(time.Second)
				leave()
				for i := range c.calls {
					if err := <-results; i < c.leave {
						require.ErrorIs(t, err, context.Canceled)
					} else {
						assert.Equal(t, failed, err)
					}
				}
				assert.Equal(t, c.runs, runs)
				assert.Equal(t, c.took, time.Since(began))
			})
		})
	}
}
