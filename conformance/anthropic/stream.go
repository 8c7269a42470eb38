package anthropic

import (
	"errors"
	"io"

	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/carryon-go/carryon/middleware"
)

// source gives the engine the events of the SDK's stream.
type source struct{ *ssestream.Stream[event] }

// Recv implements [middleware.Source].
func (s source) Recv() (event, error) {
	if s.Next() {
		return s.Current(), nil
	}
	if err := s.Err(); err != nil {
		return event{}, err
	}
	return event{}, io.EOF
}

// newStream returns the joined stream of a call's turns as one of the SDK's.
func newStream(call *middleware.Call, first source, open middleware.Open[event]) *ssestream.Stream[event] {
	dialect := newEvents()
	return ssestream.NewStream[event](&decoder{
		splice: middleware.NewSplice(call, dialect, first, open),
		events: dialect, frame: frame{open: map[int64]int64{}},
	}, nil)
}

// decoder gives the SDK's stream the events to decode: those of the splice.
type decoder struct {
	splice *middleware.Splice[event]
	events *events
	frame  frame
	event  event
	err    error
}

// Next implements [ssestream.Decoder].
func (d *decoder) Next() bool {
	for len(d.frame.ready) == 0 {
		if d.err != nil {
			return false
		}
		d.read()
	}
	d.event, d.frame.ready = d.frame.ready[0], d.frame.ready[1:]
	return true
}

// read makes the next event ready, or remembers how the stream ended.
func (d *decoder) read() {
	c, err := d.splice.Recv()
	switch {
	case err == nil:
		d.frame.put(c)
		return
	case errors.Is(err, io.EOF) && d.events.ended:
		d.frame.put(*parse[event](`{"type":"message_stop"}`))
	}
	d.err = err
}

// Event implements [ssestream.Decoder].
func (d *decoder) Event() ssestream.Event {
	return ssestream.Event{Type: d.event.Type, Data: []byte(d.event.RawJSON())}
}

// Err implements [ssestream.Decoder].
func (d *decoder) Err() error {
	if errors.Is(d.err, io.EOF) {
		return nil
	}
	return d.err
}

// Close implements [ssestream.Decoder].
func (d *decoder) Close() error { return d.splice.Close() }
