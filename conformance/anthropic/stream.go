package anthropic

import (
	"errors"
	"io"

	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
)

// source gives the engine the events of the SDK's stream.
type source struct{ *ssestream.Stream[event] }

// Recv implements [adapter.Source].
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
func newStream(call *join.Call, first source, open adapter.Open[event]) *ssestream.Stream[event] {
	return ssestream.NewStream[event](&decoder{joined: join.NewStream(call, newEvents(), first, open)}, nil)
}

// decoder gives the SDK's stream the events to decode: those of the joined one.
type decoder struct {
	joined *join.Stream[event]
	event  event
	err    error
}

// Next implements [ssestream.Decoder].
func (d *decoder) Next() bool {
	d.event, d.err = d.joined.Recv()
	return d.err == nil
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
func (d *decoder) Close() error { return d.joined.Close() }
