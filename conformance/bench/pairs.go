package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// minPairs is how many pairs a comparison needs at least.
const minPairs = 200

// interval is a median and where it lies with 95 % confidence, by the order of
// the values: it needs no assumption about how they are distributed.
type interval struct{ low, median, high float64 }

func intervalOf(values []float64) interval {
	slices.Sort(values)
	n := float64(len(values))
	reach := 0.98 * math.Sqrt(n)
	at := func(i float64) float64 { return values[int(min(max(i, 0), n-1))] }
	return interval{at(math.Floor(n/2 - reach)), at(math.Floor(n / 2)), at(math.Ceil(n/2 + reach))}
}

// pair is two ways to do the same.
type pair struct{ bare, carried func() }

// sweep is after how many pairs the garbage collector runs.
const sweep = 8

// compare runs the two by turns, after a few for practice, and returns the
// ratio carried/bare and what is added, in nanoseconds. The garbage collector
// runs between the pairs and not in them: it strikes one stream in a few, takes
// as long as a hundred of what is measured here, and would drown it.
func (p pair) compare(pairs int) (ratio, added interval) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 10 {
		p.bare()
		p.carried()
	}
	ratios, more := make([]float64, 0, pairs), make([]float64, 0, pairs)
	for i := range pairs {
		if i%sweep == 0 {
			runtime.GC()
		}
		var bare, carried time.Duration
		if i%2 == 0 { // the first one of a pair is not always the same
			bare, carried = timed(p.bare), timed(p.carried)
		} else {
			carried, bare = timed(p.carried), timed(p.bare)
		}
		ratios = append(ratios, float64(carried)/float64(bare))
		more = append(more, float64(carried-bare))
	}
	return intervalOf(ratios), intervalOf(more)
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// percent is a bar of a ratio: at most so many percent over bare.
func percent(limit float64, ratio interval) figure {
	show := func(r float64) float64 { return 100 * (r - 1) }
	text := fmt.Sprintf("%+.2f %% (%+.2f to %+.2f)", show(ratio.median), show(ratio.low), show(ratio.high))
	return figure{text, show(ratio.low) <= limit}
}

// atMost is a bar of what is added, per unit.
func atMost(limit float64, unit string, added interval) figure {
	text := fmt.Sprintf("%s %s (%s to %s)", digits(added.median), unit, digits(added.low), digits(added.high))
	return figure{text, added.low <= limit}
}

// digits shows three digits of a number, or all before the point.
func digits(n float64) string {
	if math.Abs(n) >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.3g", n)
}

// over divides an interval.
func (i interval) over(n float64) interval { return interval{i.low / n, i.median / n, i.high / n} }

// repeated measures something often, by itself, in nanoseconds.
func repeated(times int, f func() time.Duration) interval {
	values := make([]float64, 0, times)
	for range times {
		values = append(values, float64(f()))
	}
	return intervalOf(values)
}
