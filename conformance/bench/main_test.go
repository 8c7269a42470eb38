package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A result is broken only if its whole interval is beyond the limit.
func TestResultsAreJudgedByTheirInterval(t *testing.T) {
	t.Parallel()
	assert.True(t, percent(1, interval{1.009, 1.02, 1.03}).kept)
	assert.False(t, percent(1, interval{1.011, 1.02, 1.03}).kept)
	assert.True(t, atMost(0.4, interval{0.39, 0.6, 0.7}).kept)
	assert.False(t, atMost(0.4, interval{0.41, 0.6, 0.7}).kept)
	assert.Equal(t, "+2.00% (+1.10 to +3.00)", percent(1, interval{1.011, 1.02, 1.03}).text)
	assert.Equal(t, "1234.400 (-0.123 to 12.340)", atMost(40, interval{-0.1234, 1234.4, 12.34}).text)
	assert.True(t, count(2, 2).kept)
	assert.False(t, count(2, 3).kept)
}

// Work that is a chunk, done twice, takes two chunks, whatever the machine.
func TestChunksMeasureWork(t *testing.T) { //nolint:paralleltest // it sets the garbage collector
	twice := func() { decodeChunk(); decodeChunk() }
	assert.True(t, inChunks(2.5, minPairs, twice).kept)
	assert.False(t, inChunks(1.5, minPairs, twice).kept)
}

// It sets the garbage collector, of which a process has one.
func TestPairsTakeTurns(t *testing.T) { //nolint:paralleltest // see above
	var order strings.Builder
	ratio, _ := pair{func() { order.WriteByte('b') }, func() { order.WriteByte('c') }}.compare(minPairs)
	assert.True(t, strings.HasPrefix(order.String(), strings.Repeat("bc", 10)+"bccbbc"), order.String()[:26])
	assert.Equal(t, 2*(10+minPairs), order.Len())
	assert.LessOrEqual(t, ratio.low, ratio.high)
}

func TestRunCountsBrokenPromises(t *testing.T) {
	t.Parallel()
	of := func(kept bool) func(int) result { return func(int) result { return result{"1", kept} } }
	all := []promise{{"one", "<= 2", of(true)}, {"two", "0", of(false)}, {"three", "0", of(false)}}
	var out strings.Builder
	rows, broken := run(&out, all, "o", minPairs)
	assert.Equal(t, 1, broken)
	assert.Contains(t, out.String(), "one   <= 2      1         ok\n")
	assert.Contains(t, out.String(), "two   0         1         BROKEN\n")
	assert.Equal(t, []row{{"≤ 2", "one = 1"}, {"0", "two = 1, **missed**"}}, rows)
	assert.Equal(t, row{"≤ 3% over bare", "x = +2.31%, 2 goroutines"},
		rowOf(promise{name: "x", bound: "<= 3% over bare"}, result{"+2.31% (+1.72 to +2.80), 2 goroutines", true}))

	document := filepath.Join(t.TempDir(), "document.md")
	require.Error(t, write(document, rows), "there is none")
	require.NoError(t, os.WriteFile(document, []byte("Before.\n"+begin+"old\n"+end+"After.\n"), 0o600))
	require.NoError(t, write(document, append(rows, row{"≤ 2", "three = 2"})))
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	assert.Equal(t, "Before.\n"+begin+"| promised | what was measured |\n|---|---|\n| ≤ 2 | one = 1; three = 2 |\n| 0 | two = 1, **missed** |\n"+
		end+"After.\n", string(text))
	require.NoError(t, os.WriteFile(document, []byte(begin), 0o600))
	require.ErrorContains(t, write(document, rows), "no marks")
}

// A promise is broken only if every try breaks it.
func TestBrokenPromiseIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	for keptAt, want := range map[int][2]int{1: {1, 0}, tries: {tries, 0}, tries + 1: {tries, 1}} {
		measured := 0
		_, broken := run(io.Discard, []promise{{"one", "", func(int) result {
			measured++
			return result{"", measured == keptAt}
		}}}, "", minPairs)
		assert.Equal(t, want, [2]int{measured, broken})
	}
}

// Every promise has a unique name, and the quick ones can be measured.
func TestPromisesAreMeasured(t *testing.T) { //nolint:paralleltest // as above
	seen := make(map[string]bool)
	for _, p := range promises() {
		assert.False(t, seen[p.name], p.name)
		seen[p.name] = true
		if strings.HasPrefix(p.name, "join") {
			assert.NotEmpty(t, p.measure(minPairs).text, p.name)
		}
	}
	assert.Len(t, seen, 39)
}

// The requests have the sizes that the promises name, and the model answers each kind of them.
func TestProxiedRequests(t *testing.T) {
	t.Parallel()
	model := newModel()
	for _, p := range proxied() {
		for of, about := range map[task]float64{shortTask: 4000, longTask: 60_000} {
			for _, kind := range []string{oneEvent, manyEvents, wholeOne} {
				body := p.request(kind, of)
				assert.True(t, json.Valid([]byte(body)), p.name)
				assert.InEpsilon(t, about, len(body), 0.1, p.name)
				path, _, _ := strings.Cut("/v1"+p.path(kind), "?")
				assert.NotEmpty(t, model[[2]string{path, kindOf(path, []byte(body))}], p.name)
				assert.Equal(t, kind, kindOf(path, []byte(body)), p.name)
			}
		}
	}
}
