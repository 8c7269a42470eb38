package fakellm

import "strings"

// framing is how events become the bytes of a stream.
type framing struct {
	noDone, comments, crlf bool
}

// NoDone ends a stream without its terminator, such as [DONE].
func (t Turn) NoDone() Turn {
	t.framing.noDone = true
	return t
}

// Comments puts a comment before each event of a stream, as a keep-alive does.
func (t Turn) Comments() Turn {
	t.framing.comments = true
	return t
}

// CRLF ends the lines of a stream with a carriage return and a line feed.
func (t Turn) CRLF() Turn {
	t.framing.crlf = true
	return t
}

// stream frames the events of an answer and the terminator: one piece each.
func (f framing) stream(events []event, terminator event) []string {
	pieces := make([]string, 0, len(events)+1)
	for _, e := range events {
		pieces = append(pieces, f.event(e))
	}
	if !f.noDone && terminator != (event{}) {
		pieces = append(pieces, f.event(terminator))
	}
	return pieces
}

func (f framing) event(e event) string {
	text := "data: " + strings.ReplaceAll(e.data, "\n", "\ndata: ") + "\n\n"
	if e.name != "" {
		text = "event: " + e.name + "\n" + text
	}
	if f.comments {
		text = ": keep-alive\n\n" + text
	}
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// halves splits a body that is not a stream into the two pieces that are sent.
func halves(body string) []string {
	if body == "" {
		return nil
	}
	return []string{body[:len(body)/2], body[len(body)/2:]}
}
