// Package wire has the common parts of the wire protocols, and the interface that each of them implements in a package
// of its own. It knows JSON and server-sent events, but neither net/http nor the engine.
//
// A protocol edits bytes and translates nothing: everything that carryon does not
// edit keeps its place and its spelling.
package wire

import (
	"net/url"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// Protocol is a wire protocol. Its methods may be called by any number of
// goroutines.
type Protocol interface {
	// Match reports whether a POST request to the URL may belong to the protocol.
	Match(u *url.URL) bool
	// Parse reads the body of a request to the URL, and returns everything that the engine must know about it, except
	// Attachable.
	// The History and the ToolNames that it returns re-read the body from source when called; the Loop
	// reads body. Parse reports false if the request is not of the protocol; it then passes untouched.
	Parse(u *url.URL, body []byte, source Body) (adapter.Request, Request, bool)
}

// Translator is a [Protocol] in which a request may refer to a joined answer by an id that means something else to the
// server. It translates such requests, whether or not carryon continues their answers. An id has its meaning for the
// caller who was shown it, and for nobody else.
type Translator interface {
	// For returns the protocol for the requests of one caller. The function adds the texts that tell the caller from
	// others, which are hashed and not stored.
	For(caller func(add func(text string))) Protocol
	// Translates reports whether any request may need translation.
	Translates() bool
	// Translate returns the body that the server must get, or nil if that is the body itself.
	Translate(body []byte) []byte
}

// MaxRepeated is how many bytes of an answer, such as its id, carryon writes into each of the later chunks. More would
// make a small answer very large, so it is not joined.
const MaxRepeated = 4 << 10

// Body is the body of a request. It is available until the call ends.
type Body interface {
	// Bytes returns the body. The caller must not change it.
	Bytes() ([]byte, error)
}

// Request is a parsed request, as its protocol needs it to read the answer. It keeps no part of the body, which may be
// large.
type Request interface {
	// Stream reports whether the request asks for a stream.
	Stream() bool
	// Attachable returns the function of that name in [adapter.Request]. It
	// reads the body from source when it is first called.
	Attachable(source Body) func(message int) (text string, ok bool)
	// Add returns the body with carryon's additions to the caller's own request.
	Add(body []byte, a *adapter.Additions) []byte
	// Continue returns the body of a continuation's request.
	Continue(body []byte, k *adapter.Continuation) []byte
	// NewCodec returns the codec for the answer, if it is streamed.
	NewCodec() Codec
	// NewDialect returns the dialect for the answer, if it is not streamed. The answer of each turn is one event; see
	// [sse.Document].
	NewDialect() adapter.Dialect[sse.Event]
	// Refusal returns the error in the body of an answer whose status is not
	// 200, or nil if there is none. The body may be cut off.
	Refusal(body []byte) error
}

// Codec reads and shows the events of one streamed answer. It is a dialect that also says which events of the caller's
// own turn may be relayed unread.
type Codec interface {
	adapter.Dialect[sse.Event]
	adapter.Heartbeat[sse.Event]

	// Classify reports whether an event may be relayed: it does not end the turn, and a continuation needs only its
	// values. Classify adds to v the values that vary from event to event. An event that differs only in these values,
	// and has values of the same JSON types, may be relayed too. No event may be relayed before the codec has read the
	// first turn's id, which Classify may do itself.
	//
	// The data is one line, and need not be JSON.
	Classify(name, data []byte, v *Values) bool
	// Observe reports a value of a relayed event to r, by its role: the text of a string, or the JSON of any other
	// value. The value is valid until Observe returns.
	Observe(role Role, value []byte, r Relay)
}

// Holder is a [Codec] that delays some events of the caller's own turn that the engine shows unchanged, because a
// continuation would change them.
type Holder interface {
	// Hold takes such an event. After that, Next returns the events to show now.
	Hold(e sse.Event)
	// Release makes Next return all events that are held, at the end of the stream.
	Release()
	// Next returns the next event to show, if there is one. It is valid until the
	// next Hold.
	Next() (sse.Event, bool)
	// IsHolding reports whether any events are held. Nothing may be relayed before them.
	IsHolding() bool
}
