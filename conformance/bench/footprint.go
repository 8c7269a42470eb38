package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// openStreams is the number of streams that are open at once.
const openStreams = 10_000

// openers open streams without carryon (bare) and with it (carried).
type openers struct{ bare, carried func() receiver }

// read reads the streams to their end.
func (o openers) read() pair { return pair{read(o.bare), read(o.carried)} }

// opened is the number of events that a stream has received when its memory is
// measured: the first event and one chunk of text.
const opened = 2

// waiting answers every request with some events, one per read, as a network would deliver them, and then sends nothing
// more.
type waiting []string

func (w waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.Body.Close()
	silence, _ := io.Pipe()
	parts := make([]io.Reader, 0, len(w)+1)
	for _, event := range w {
		parts = append(parts, strings.NewReader(event))
	}
	body := io.MultiReader(append(parts, silence)...)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: struct {
			io.Reader
			io.Closer
		}{body, silence}, ContentLength: -1, Request: r,
	}, nil
}

// footprint is the result of measuring the memory and the goroutines that carryon
// adds to an open stream, without the stream's text.
func footprint(o openers) result {
	bare, none := held(o.bare)
	carried, some := held(o.carried)
	added, goroutines := carried-bare-float64(len(word)), some-none
	return result{fmt.Sprintf("%.0f B, %d goroutines", added, goroutines), added <= 2<<10 && goroutines == 0}
}

// held opens many streams and returns the live memory of one, and the number of
// goroutines of all.
func held(open func() receiver) (memory float64, goroutines int) {
	streams := make([]receiver, openStreams)
	before, running := measure.Live(), runtime.NumGoroutine()
	for i := range streams {
		streams[i] = open()
		for range opened {
			_, err := streams[i].Recv()
			must(err)
		}
	}
	memory, goroutines = float64(measure.Live()-before)/openStreams, runtime.NumGoroutine()-running
	for _, s := range streams {
		_ = s.Close()
	}
	return memory, goroutines
}
