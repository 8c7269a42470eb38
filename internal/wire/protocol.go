// Package wire is what the wire protocols have in common, and the interface
// behind which each of them is a package of its own. It knows JSON and
// server-sent events, and neither net/http nor the engine.
//
// A protocol edits bytes and translates nothing: everything that carryon does not
// edit keeps its place and its spelling.
package wire

import (
	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/sse"
)

// Protocol is a wire protocol. Its methods may be called by any number of
// goroutines.
type Protocol interface {
	// Match reports whether a POST request to the path may be the protocol's.
	Match(path string) bool
	// Parse reads the body of a request, and returns all that the engine must
	// know of it except Attachable. The History and the ToolNames it returns read
	// the body again, from later, when they are called; the Loop reads body. Parse reports false if the request is not
	// the protocol's; it then passes untouched.
	Parse(body []byte, later Body) (adapter.Request, Request, bool)
}

// Translator is a [Protocol] in which requests may refer to answers that were
// joined, under an id that means something else to the server. It translates
// them, whether or not carryon continues their answers.
type Translator interface {
	// Translates reports whether there may be anything to translate.
	Translates() bool
	// Translate returns the body of a request as the server must have it, or nil
	// if that is the body itself.
	Translate(body []byte) []byte
}

// Body is the body of a request, for as long as the call lasts.
type Body interface {
	// Bytes returns the body. The caller must not change it.
	Bytes() ([]byte, error)
}

// Request is what a protocol must know of a request while its answer is read. It
// holds no part of the body, which may be large.
type Request interface {
	// Stream reports whether the request asks for a stream.
	Stream() bool
	// Attachable returns the function of that name in [adapter.Request]. It
	// reads the body from later when it is first called.
	Attachable(later Body) func(message int) (text string, ok bool)
	// Add returns the body with what carryon adds to the caller's own request.
	Add(body []byte, a *adapter.Additions) []byte
	// Continue returns the body of a continuation's request.
	Continue(body []byte, k *adapter.Continuation) []byte
	// NewCodec returns what reads and shows the answer, if it is streamed.
	NewCodec() Codec
	// NewDialect returns what reads and shows the answer, if it is not streamed.
	// The answer of each turn is one event; see [sse.Document].
	NewDialect() adapter.Dialect[sse.Event]
	// Refusal returns the error in the body of an answer whose status is not
	// 200, or nil if there is none. The body may be cut off.
	Refusal(body []byte) error
}

// Codec reads and shows the events of one streamed answer. Besides being a
// dialect it says which events of the caller's own turn may be relayed unread.
type Codec interface {
	adapter.Dialect[sse.Event]
	adapter.Heartbeat[sse.Event]

	// Classify reports whether an event may be relayed: it does not end the
	// turn, and a continuation needs to know nothing of it but its values.
	// Classify adds to v the values in which later events will differ. An event
	// that differs from this one in nothing else, and has values of the same
	// JSON type in their place, may be relayed too. No event may be relayed
	// before the codec has read the first turn's id.
	//
	// The data is one line, and need not be JSON.
	Classify(name, data []byte, v *Values) bool
	// Observe reports a value of an event that is relayed, by its role: the text of
	// a string, and of any other value its JSON. It is valid until Observe returns.
	Observe(role Role, value []byte, r Relay)
}

// Holder is a [Codec] that holds back some of the events of the caller's own turn
// that the engine shows as they came: they would be others if a continuation
// followed.
type Holder interface {
	// Hold takes such an event. Next then has the events that are shown now.
	Hold(e sse.Event)
	// Release lets Next have all that is held, at the end of the stream.
	Release()
	// Next returns the next event to show, if there is one. It is valid until the
	// next Hold.
	Next() (sse.Event, bool)
	// IsHolding reports whether any are held: nothing may be relayed before them.
	IsHolding() bool
}
