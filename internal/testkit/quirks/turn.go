package quirks

import "net/http"

// Turn is an answer as an upstream sends it. The zero values of all fields below
// Usage make an ordinary answer.
type Turn struct {
	// Head is the body up to the finish reason, and Tail the rest. The head of a
	// first turn must be relayed byte for byte.
	Head, Tail string
	// Means is the correct reading of the turn.
	Means Reading
	// Usage is the JSON of the usage that counts, "" if there is none.
	Usage string

	// Type is the content type, "" for the usual one.
	Type string
	// Encoding is the content encoding.
	Encoding string
	// Status is the HTTP status, 0 for 200.
	Status int
	// Length is true if the answer has a Content-Length.
	Length bool
	// Refused is true if the model or a filter says no.
	Refused bool
	// Cut is true if the connection breaks after the body.
	Cut bool
	// Open is true if the connection stays open after the body, in silence.
	Open bool
	// Fault is the error that RoundTrip of the upstream returns; nil for an answer.
	Fault error
}

// Body returns the bytes of the answer.
func (t Turn) Body() string { return t.Head + t.Tail }

func (t Turn) status() int {
	if t.Status == 0 {
		return http.StatusOK
	}
	return t.Status
}

func (t Turn) contentType(unary bool) string {
	switch {
	case t.Type != "":
		return t.Type
	case unary:
		return "application/json"
	}
	return "text/event-stream"
}
