// Package measure measures code: memory and allocations for tests, and for
// benchmarks whether its time is linear. Tests assert counts, never time.
//
// It counts memory and allocations of the whole process. Other goroutines may
// be running, so the least of several measurements counts. Tests that measure
// must not run in parallel.
package measure

import (
	"math"
	"runtime"
	"testing"
	"time"
)

const tries = 5

// Live returns the bytes that are in use once the garbage collector has run.
func Live() int64 {
	runtime.GC()
	runtime.GC() // frees what the first one finalised, and empties the pools
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // far below the limit
}

// Allocated returns how many bytes f allocates, without allocations that happen
// only in its first run.
func Allocated(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range tries {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// Allocations returns how often f allocates, as the average of many runs.
func Allocations(f func()) float64 {
	least := math.Inf(1)
	for range tries {
		least = min(least, testing.AllocsPerRun(100/tries, f))
	}
	return least
}

const (
	// Longer is how many times as much work the longer function that is passed
	// to Linear must do.
	Longer = 32
	// quadratic is a slowdown that shows that time does not grow linearly. It is
	// far above Longer, for a busy machine, and far below the square of Longer.
	quadratic = Longer * Longer / 4
)

// Linear runs a benchmark with the name that reports how many times as long the
// longer function takes as the shorter one, in CPU time: about [Longer] times if
// the time is linear, the square of that if it is quadratic. The benchmark fails
// if the time does not grow linearly.
func Linear(b *testing.B, name string, shorter, longer func()) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		least := math.Inf(1)
		for b.Loop() {
			least = min(least, slowdown(cpuTime, shorter, longer))
		}
		b.ReportMetric(0, "ns/op") // the sum of all runs, which says nothing
		b.ReportMetric(least, "times-as-long")
		if least >= quadratic {
			b.Errorf("%d times the work takes %.0f times as long", Longer, least)
		}
	})
}

// slowdown takes its time from a clock.
func slowdown(clock func() time.Duration, shorter, longer func()) float64 {
	timed := func(work func()) time.Duration {
		began := clock()
		work()
		return clock() - began
	}
	least, most := time.Hour, time.Hour
	for range tries {
		least = min(least, timed(shorter))
	}
	for range tries {
		most = min(most, timed(longer))
		if float64(most) < quadratic/2*float64(least) {
			break
		}
	}
	return float64(most) / float64(max(least, 100*time.Microsecond)) // less is noise
}
