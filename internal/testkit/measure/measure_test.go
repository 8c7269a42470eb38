package measure_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/measure"
)

func TestLiveSeesWhatIsKept(t *testing.T) { //nolint:paralleltest // measures memory
	const size = 64 << 20
	before := measure.Live()
	kept := make([]byte, size)
	assert.InDelta(t, size, measure.Live()-before, size/10)
	runtime.KeepAlive(kept)
}

func TestAllocatedLeavesOutTheFirstRun(t *testing.T) { //nolint:paralleltest // measures memory
	const size = 1 << 20
	var once, each []byte
	got := measure.Allocated(func() {
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
	assert.InDelta(t, 3, measure.Allocations(func() {
		for i := range kept {
			kept[i] = new(int)
		}
	}), 0)
	assert.Zero(t, measure.Allocations(func() {}))
	runtime.KeepAlive(kept)
}

func TestSlowdownTellsTheSquareFromTheLine(t *testing.T) { //nolint:paralleltest // measures time
	const n = 1000
	lines := func(n int) func() { return func() { _ = strings.Count(strings.Repeat("ab", 100*n), "b") } }
	squares := func(n int) func() {
		return func() {
			sum := 0
			for i := range n {
				for j := range n {
					sum += i ^ j
				}
			}
			runtime.KeepAlive(sum)
		}
	}
	assert.Less(t, measure.Slowdown(lines(n), lines(measure.Longer*n)), float64(measure.Quadratic))
	assert.Greater(t, measure.Slowdown(squares(n), squares(measure.Longer*n)), float64(measure.Quadratic))
}
