package measure

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLiveSeesWhatIsKept(t *testing.T) { //nolint:paralleltest // measures memory
	const size = 64 << 20
	before := Live()
	kept := make([]byte, size)
	assert.InDelta(t, size, Live()-before, size/10)
	runtime.KeepAlive(kept)
}

func TestAllocatedLeavesOutTheFirstRun(t *testing.T) { //nolint:paralleltest // measures memory
	const size = 1 << 20
	var once, each []byte
	got := Allocated(func() {
		if once == nil {
			once = make([]byte, 8*size)
		}
		each = make([]byte, size)
	})
	assert.InDelta(t, size, got, size/2)
	runtime.KeepAlive(once)
	runtime.KeepAlive(each)
}

func TestAllocationsAreCounted(t *testing.T) { //nolint:paralleltest // measures memory
	var kept [3]*int
	assert.InDelta(t, 3, Allocations(func() {
		for i := range kept {
			kept[i] = new(int)
		}
	}), 0)
	assert.Zero(t, Allocations(func() {}))
	runtime.KeepAlive(kept)
}

func TestSlowdownTellsTheSquareFromTheLine(t *testing.T) {
	t.Parallel()
	const line, square = Longer, Longer * Longer
	var now time.Duration
	clock := func() time.Duration { return now }
	lasts := func(d time.Duration) func() { return func() { now += d } }
	assert.InDelta(t, line, slowdown(clock, lasts(time.Millisecond), lasts(line*time.Millisecond)), 0)
	assert.InDelta(t, square, slowdown(clock, lasts(time.Millisecond), lasts(square*time.Millisecond)), 0)
	assert.InDelta(t, 1, slowdown(clock, lasts(0), lasts(100*time.Microsecond)), 0, "what is too short to measure")

	runs := 0
	recovers := func() {
		runs++
		if runs < tries {
			now += time.Minute // other work on the machine
		}
		now += line * time.Millisecond
	}
	assert.InDelta(t, line, slowdown(clock, lasts(time.Millisecond), recovers), 0, "the least of several runs counts")
	assert.Less(t, float64(2*line), float64(quadratic))
	assert.Less(t, float64(2*quadratic), float64(square))
}
