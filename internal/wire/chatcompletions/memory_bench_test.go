package chatcompletions_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
)

// How many streams are held open at once.
const (
	openStreams = 10_000 // in benchmarks
	someStreams = 1_000  // in tests
)

// stuck answers every request with a part of a stream, event by event, whose
// body then waits until it is closed.
type stuck []string

func (s stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: &stuckBody{events: s, closed: make(chan struct{})}, ContentLength: -1, Request: r,
	}, nil
}

type stuckBody struct {
	events []string
	closed chan struct{}
}

func (b *stuckBody) Read(p []byte) (int, error) {
	if len(b.events) == 0 {
		<-b.closed
		return 0, io.ErrClosedPipe
	}
	n := copy(p, b.events[0])
	b.events = b.events[1:]
	return n, nil
}

func (b *stuckBody) Close() error {
	close(b.closed)
	return nil
}

// footprint is the cost of open streams: the live memory of one, in bytes, and
// the goroutines of all.
type footprint struct {
	memory     float64
	goroutines int
}

// footprintOf opens streams, has each read that many bytes and wait for more,
// and measures them.
func footprintOf(tb testing.TB, through http.RoundTripper, streams, read int) footprint {
	tb.Helper()
	responses := make([]*http.Response, streams) // as clients hold them
	before, goroutines := measure.Live(), runtime.NumGoroutine()
	for i := range responses {
		responses[i] = openBench(tb, through, benchRequest)
	}
	arrived, left := make(chan struct{}, streams), make(chan struct{}, streams)
	for _, response := range responses {
		go func() {
			body := response.Body
			buffer := make([]byte, 4<<10)
			for total := 0; total < read; {
				n, err := body.Read(buffer)
				if err != nil {
					tb.Error(err)
					break
				}
				total += n
			}
			arrived <- struct{}{}
			_, _ = body.Read(buffer) // waits until the stream is closed
			runtime.KeepAlive(buffer)
			left <- struct{}{}
		}()
	}
	for range responses {
		<-arrived
	}
	f := footprint{float64(measure.Live()-before) / float64(streams), runtime.NumGoroutine() - goroutines}
	for _, response := range responses {
		_ = response.Body.Close()
	}
	for range responses {
		<-left
	}
	return f
}

// addedTo returns what the transport adds to open streams that wait after their
// first events.
func addedTo(tb testing.TB, stream benchStream, streams, events int) footprint {
	tb.Helper()
	part := stuck(strings.SplitAfter(stream.body, stream.blank())[:events])
	read := len(strings.Join(part, ""))
	footprintOf(tb, part, streams, read) // so that the runtime's own memory for goroutines is in both
	bare := footprintOf(tb, part, streams, read)
	carried := footprintOf(tb, transport.New(part, middleware.New(recordedDone)), streams, read)
	return footprint{carried.memory - bare.memory, carried.goroutines - bare.goroutines}
}

// BenchmarkOpenStreams measures what the transport adds to each of 10,000 open
// streams: at their beginning, and after half of their events, with the text so
// far left out.
func BenchmarkOpenStreams(b *testing.B) {
	for _, stream := range typicalStreams() {
		for name, events := range map[string]int{"begun": 2, "half": stream.events() / 2} {
			b.Run(stream.name+"/"+name, func(b *testing.B) {
				var added footprint
				for b.Loop() {
					added = addedTo(b, stream, openStreams, events)
				}
				b.ReportMetric(added.memory-float64(stream.text(events)), "B/stream")
				b.ReportMetric(float64(added.goroutines), "goroutines")
			})
		}
	}
}

// An open stream costs little, and no goroutine.
func TestOpenStreamsAreSmall(t *testing.T) {
	limit, streams := maxFootprint, someStreams
	if measure.RaceDetector {
		limit, streams = 1.1*limit, streams/4 // it takes memory of its own, and time
	}
	for _, stream := range typicalStreams() {
		for _, events := range []int{2, stream.events() / 2} {
			added := addedTo(t, stream, streams, events)
			for range 3 { // other work of the process is measured, too
				if again := addedTo(t, stream, streams, events); again.memory < added.memory {
					added = again
				}
			}
			assert.Zero(t, added.goroutines, stream.name)
			assert.LessOrEqual(t, added.memory-float64(stream.text(events)), limit, "%s after %d events", stream.name, events)
		}
	}
}

// maxFootprint is how much memory an open stream may use in addition to the text.
const maxFootprint = float64(2 << 10)
