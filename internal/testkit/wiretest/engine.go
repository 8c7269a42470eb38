package wiretest

import (
	"errors"
	"io"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// NoReader returns an [adapter.TurnReader] that takes nothing.
func NoReader() adapter.TurnReader { return noReader{} }

type noReader struct{}

func (noReader) Text(string)                      {}
func (noReader) Reasoning(string)                 {}
func (noReader) Call(int, string, string, string) {}
func (noReader) OtherCall()                       {}
func (noReader) Pause(string)                     {}
func (noReader) Refusal()                         {}
func (noReader) Signed()                          {}
func (noReader) Unknown()                         {}
func (noReader) Content()                         {}
func (noReader) OtherChoice()                     {}
func (noReader) Response(_, _ string)             {}
func (noReader) Finish(string)                    {}
func (noReader) Done()                            {}
func (noReader) Usage(adapter.Usage)              {}
func (noReader) Size(int)                         {}
func (noReader) Fail(error)                       {}

// Engine is a [wire.Stream] that shows everything unchanged, and lets all be relayed that may be.
type Engine struct {
	noReader

	Texts, Thoughts strings.Builder // of all events
	Handled         int             // objects that were not relayed
	ReadsAll        bool            // nothing is relayed
	EndsTurns       bool            // after each event

	source *wire.Source
	codec  wire.Codec
}

// ErrClosed is the error of a body that was closed.
var ErrClosed = errors.New("closed")

// Open returns the body of an answer to the request, and the engine behind it.
func Open(request wire.Request, answer io.Reader) (*wire.AnswerBody, *Engine) {
	g := &Engine{source: wire.NewSource(io.NopCloser(answer), nil), codec: request.NewCodec()}
	return wire.NewAnswerBody(g, g.codec, g.source), g
}

// Relay implements [wire.Stream].
func (g *Engine) Relay() wire.Relay {
	if g.ReadsAll {
		return nil
	}
	return g
}

// Recv implements [wire.Stream].
func (g *Engine) Recv() (sse.Event, error) { return g.Handle(g.source.Recv()) }

// TryRecv implements [wire.Stream].
func (g *Engine) TryRecv() (sse.Event, bool) {
	e, ok := g.source.TryRecv()
	if ok {
		e, _ = g.Handle(e, nil)
	}
	return e, ok
}

// Ended implements [wire.Stream].
func (g *Engine) Ended() bool { return false }

// Close implements [wire.Stream].
func (g *Engine) Close() error { return g.source.Close() }

// ErrClosed implements [wire.Stream].
func (g *Engine) ErrClosed() error { return ErrClosed }

// Handle implements [wire.Relay].
func (g *Engine) Handle(e sse.Event, err error) (sse.Event, error) {
	if err != nil {
		return e, err
	}
	g.codec.Read(&e, g)
	if g.EndsTurns {
		g.codec.EndTurn(false)
	}
	if e.Kind == sse.Object {
		g.Handled++
	}
	return e, nil
}

// Text implements [adapter.TurnReader].
func (g *Engine) Text(text string) { g.Texts.WriteString(text) }

// Reasoning implements [adapter.TurnReader].
func (g *Engine) Reasoning(text string) { g.Thoughts.WriteString(text) }
