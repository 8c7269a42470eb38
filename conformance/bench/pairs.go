package main

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// minPairs is the smallest number of pairs that a comparison needs.
const minPairs = 200

// interval is a median and its 95% confidence interval. Both come from the order
// of the values, so that nothing is assumed about their distribution.
type interval struct{ low, median, high float64 }

func intervalOf(values []float64) interval {
	slices.Sort(values)
	n := float64(len(values))
	reach := 0.98 * math.Sqrt(n)
	at := func(i float64) float64 { return values[int(min(max(i, 0), n-1))] }
	return interval{at(math.Floor(n/2 - reach)), at(math.Floor(n / 2)), at(math.Ceil(n/2 + reach))}
}

// pair is the same work done without carryon and with it.
type pair struct{ bare, carried func() }

// collectEvery is the number of pairs between two runs of the garbage collector.
const collectEvery = 8

// compare runs the two in turns, after a warm-up, and returns the ratio carried/bare and the difference in chunks. The
// garbage collector runs between pairs only: a collection takes as long as a hundred measurements, and would hide them.
func (p pair) compare(pairs int) (ratio, added interval) {
	return compareTimes(func() time.Duration { return timed(p.bare) }, func() time.Duration { return timed(p.carried) }, pairs)
}

// compareTimes is [pair.compare] for work that times a part of itself.
func compareTimes(bare, carried func() time.Duration, pairs int) (ratio, added interval) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 10 {
		bare()
		carried()
	}
	ratios, more := make([]float64, 0, pairs), make([]float64, 0, pairs)
	for i := range pairs {
		if i%collectEvery == 0 {
			runtime.GC()
		}
		var without, with time.Duration
		if (i+i/collectEvery)%2 == 0 { // neither side is always first, nor after the collector
			without, with = bare(), carried()
		} else {
			with, without = carried(), bare()
		}
		ratios = append(ratios, float64(with)/float64(without))
		more = append(more, float64(with-without)/chunkTime())
	}
	return intervalOf(ratios), intervalOf(more)
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// percent is the result of a ratio that may exceed 1 by at most limit percent.
func percent(limit float64, ratio interval) result {
	show := func(r float64) float64 { return 100 * (r - 1) }
	text := fmt.Sprintf("%+.2f%% (%+.2f to %+.2f)", show(ratio.median), show(ratio.low), show(ratio.high))
	return result{text, show(ratio.low) <= limit}
}

// atMost is the result of a number of chunks, or of any other multiple of a
// base, that may be at most limit.
func atMost(limit float64, n interval) result {
	return result{fmt.Sprintf("%.3f (%.3f to %.3f)", n.median, n.low, n.high), n.low <= limit}
}

// over divides an interval.
func (i interval) over(n float64) interval { return interval{i.low / n, i.median / n, i.high / n} }

// repeated measures, in chunks, work that has no bare counterpart. F returns how long the work took.
func repeated(times int, f func() time.Duration) interval {
	values := make([]float64, 0, times)
	for range times {
		values = append(values, float64(f())/chunkTime())
	}
	return intervalOf(values)
}

// inChunks measures how long f takes, in chunks.
func inChunks(limit float64, pairs int, f func()) result {
	const atLeast = 200 * time.Microsecond // so that reading the clock hardly counts
	n, chunks := timesFor(atLeast, f), timesFor(atLeast, decodeChunk)
	ratio, _ := pair{func() { runTimes(chunks, decodeChunk) }, func() { runTimes(n, f) }}.compare(max(pairs/2, minPairs))
	return atMost(limit, ratio.over(float64(n)/float64(chunks)))
}

// timesFor returns how often f must run to take at least d.
func timesFor(d time.Duration, f func()) int {
	n := 1
	for timed(func() { runTimes(n, f) }) < d {
		n *= 2
	}
	return n
}

func runTimes(n int, f func()) {
	for range n {
		f()
	}
}

// chunkTime returns how long a chunk takes at this moment, in nanoseconds. Each
// measurement in chunks calls it anew, because a busy machine may be half as fast a
// moment later.
func chunkTime() float64 {
	const times = 20
	return float64(timed(func() { runTimes(times, decodeChunk) })) / times
}

// typicalChunkTime returns how long a chunk takes on this machine, in nanoseconds.
func typicalChunkTime() float64 {
	values := make([]float64, minPairs)
	for i := range values {
		values[i] = chunkTime()
	}
	return intervalOf(values).median
}

// decodeChunk is the unit of everything that has no bare counterpart: standard
// library work that every client does for every chunk of a stream.
func decodeChunk() {
	var chunk struct {
		ID, Object, Model, SystemFingerprint string
		Created                              int64
		Choices                              []struct {
			Index        int
			Delta        struct{ Role, Content string }
			FinishReason *string `json:"finish_reason"`
		}
	}
	must(json.Unmarshal([]byte(unitChunk), &chunk))
}

// unitChunk is the chunk that decodeChunk decodes. Changing it changes all promises in chunks.
const unitChunk = `{"id":"chatcmpl-C6bjxzOr3Oz1rTiafksd6himIit3q","object":"chat.completion.chunk","created":1755691077,` +
	`"model":"gpt-4.1-2025-04-14","system_fingerprint":"fp_80956533cb","choices":[{"index":0,"delta":{"content":" some words"},` +
	`"logprobs":null,"finish_reason":null}],"usage":null}`
