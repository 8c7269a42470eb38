package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestIntervalHasTheMedianInIt(t *testing.T) {
	t.Parallel()
	values := make([]float64, 401)
	for i := range values {
		values[i] = float64((i * 7) % 401) // in no order
	}
	assert.Equal(t, interval{180, 200, 221}, intervalOf(values))
	assert.Equal(t, interval{5, 5, 5}, intervalOf([]float64{5}))
}

// What is worse all over its interval misses; what may be good enough does not.
func TestFiguresAreJudgedByTheirInterval(t *testing.T) {
	t.Parallel()
	assert.True(t, percent(1, interval{1.009, 1.02, 1.03}).kept)
	assert.False(t, percent(1, interval{1.011, 1.02, 1.03}).kept)
	assert.True(t, atMost(40, "ns", interval{39, 60, 70}).kept)
	assert.False(t, atMost(40, "ns", interval{41, 60, 70}).kept)
	assert.Equal(t, "+2.00 % (+1.10 to +3.00)", percent(1, interval{1.011, 1.02, 1.03}).text)
	assert.Equal(t, "1234 ns (-0.123 to 12.3)", atMost(40, "ns", interval{-0.1234, 1234.4, 12.34}).text)
	assert.True(t, count(2, 2).kept)
	assert.False(t, count(2, 3).kept)
}

// It sets the garbage collector, which there is but one of.
func TestPairsTakeTurns(t *testing.T) { //nolint:paralleltest // see above
	var order strings.Builder
	ratio, _ := pair{func() { order.WriteByte('b') }, func() { order.WriteByte('c') }}.compare(minPairs)
	assert.True(t, strings.HasPrefix(order.String(), strings.Repeat("bc", 10)+"bccbbc"), order.String()[:26])
	assert.Equal(t, 2*(10+minPairs), order.Len())
	assert.LessOrEqual(t, ratio.low, ratio.high)
}

func TestRunCountsWhatWasMissed(t *testing.T) {
	t.Parallel()
	of := func(kept bool) func(int) figure { return func(int) figure { return figure{"1 ns", kept} } }
	all := []bar{{"one", "<= 2 ns", of(true)}, {"two", "0", of(false)}, {"other", "0", of(false)}}
	var out strings.Builder
	assert.Equal(t, 1, run(&out, all, "o", minPairs)-run(&out, all, "other", minPairs))
	assert.Contains(t, out.String(), "one    <= 2 ns   1 ns      ok\n")
	assert.Contains(t, out.String(), "two    0         1 ns      MISSED\n")
}

// A bar is missed if it is missed every time.
func TestMissedBarIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	for keptAt, want := range map[int][2]int{1: {1, 0}, tries: {tries, 0}, tries + 1: {tries, 1}} {
		measured := 0
		missed := run(io.Discard, []bar{{"one", "", func(int) figure {
			measured++
			return figure{"", measured == keptAt}
		}}}, "", minPairs)
		assert.Equal(t, want, [2]int{measured, missed})
	}
}

// Every promise is measured, and the quick ones are kept.
func TestBarsAreMeasured(t *testing.T) { //nolint:paralleltest // as above
	seen := make(map[string]bool)
	for _, b := range bars() {
		assert.False(t, seen[b.name], b.name)
		seen[b.name] = true
		if strings.Contains(b.name, "allocations") {
			continue // the race detector allocates too
		}
		if strings.HasPrefix(b.name, "seam") {
			assert.NotEmpty(t, b.measure(minPairs).text, b.name)
		}
	}
	assert.Len(t, seen, 23)
	assert.Equal(t, 20*time.Microsecond, duration(20_012))
}
