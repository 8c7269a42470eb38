package fakellm

// protocol is an API that the server speaks. It reads requests and renders answers, and knows nothing of HTTP or time.
type protocol interface {
	// serves reports whether a path belongs to the protocol.
	serves(path string) bool
	// read fills in the fields of r that depend on the protocol, from its body.
	read(r *Request) error
	// stream renders the answer to a request as the events of a stream, up to the terminator. The number of the
	// request counts from 1.
	stream(a answer, r Request, number int) []event
	// document renders the answer to a request as the body of a response.
	document(a answer, r Request, number int) string
	// terminator is the event after the answer that marks the stream as complete. It is the zero event in a protocol
	// whose answers end with an event of their own.
	terminator() event
	// crlf reports whether lines of a stream end with CRLF.
	crlf() bool
	// literal returns the event with this data.
	literal(data string) event
	// failure renders an error as an event, whose data is also the body of an HTTP error.
	failure(kind failureKind, text string) event
}

// event is one event of a stream. Its name is "" in protocols whose events have no names.
type event struct {
	name, data string
}

// failureKind says whose mistake an error is.
type failureKind int

const (
	badRequest failureKind = iota
	serverError
)

// protocols returns the protocols of a new Server. Each Server has its own, because some store their answers.
func protocols() []protocol {
	return []protocol{chatCompletions{}, messages{}, newResponses(), gemini{}, gemini{wrapped: true}}
}

// protocolOf returns the protocol whose requests have this path.
func (s *Server) protocolOf(path string) (protocol, bool) {
	for _, p := range s.protocols {
		if p.serves(path) {
			return p, true
		}
	}
	return nil, false
}
