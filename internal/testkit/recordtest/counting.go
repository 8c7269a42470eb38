package recordtest

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Counter keeps a number under each key of a store.
type Counter interface {
	// Count adds one to the number under key in one update, which calls [GiveWay], and
	// returns it as it was stored.
	Count(key string) (int, error)
	// Counted returns the number under key.
	Counted(key string) string
}

// AtomicUpdates counts from many goroutines. An update that fails must not have been
// counted, and one that succeeds must have been, with the last result.
func AtomicUpdates(tb testing.TB, c Counter) {
	tb.Helper()
	const workers, rounds = 8, 50
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		results []int
	)
	for range workers {
		wg.Go(func() {
			for range rounds {
				if result, err := c.Count("shared"); err == nil {
					mu.Lock()
					results = append(results, result)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	require.NotEmpty(tb, results, "no update got through")
	want := make([]int, len(results))
	for i := range want {
		want[i] = i + 1
	}
	assert.ElementsMatch(tb, want, results, "every update has to see all those before it")
	assert.Equal(tb, strconv.Itoa(len(results)), c.Counted("shared"))
}

// ConcurrentKeys counts from many goroutines, each under its own key.
func ConcurrentKeys(tb testing.TB, c Counter) {
	tb.Helper()
	const workers, rounds = 8, 20
	var wg sync.WaitGroup
	stored := make([]int, workers)
	for worker := range workers {
		wg.Go(func() {
			for range rounds {
				if _, err := c.Count(strconv.Itoa(worker)); err == nil {
					stored[worker]++
				}
			}
		})
	}
	wg.Wait()
	for worker, want := range stored {
		assert.Positive(tb, want, "no update of key %d got through", worker)
		assert.Equal(tb, strconv.Itoa(want), c.Counted(strconv.Itoa(worker)), "updates of key %d", worker)
	}
}

// GiveWay lets other goroutines run, to catch a store that reads and writes in two steps.
func GiveWay() {
	for range 10 {
		runtime.Gosched()
	}
}

// AwkwardKeys returns keys that a store may confuse or fail on.
func AwkwardKeys() []string {
	long := strings.Repeat("k", 1000)
	return []string{
		"a", "A", " a", "a ", "a/b", "a:b", "a%2Fb", "a.b", "*", "%", "_", "a\n", "a\x00", "\x00a", "\x00", "a\x00b", "\x00loop/1f", "loop/1f",
		"\u00e9", "e\u0301", "\U0001f6d1", "\u4fee", "'; --", "../a", "\xff", "\xfe", "\ufffd", "a\xff",
		long, long + "x", "x" + long,
	}
}
