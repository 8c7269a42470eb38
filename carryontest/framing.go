package carryontest

import "strings"

// framing is how data payloads become an event stream.
type framing struct {
	noDone, comments, crlf bool
}

// NoDone ends the stream without [DONE].
func (t Turn) NoDone() Turn {
	t.framing.noDone = true
	return t
}

// Comments puts a comment before each event of the stream, as a keep-alive does.
func (t Turn) Comments() Turn {
	t.framing.comments = true
	return t
}

// CRLF ends the lines of the stream with a carriage return and a line feed.
func (t Turn) CRLF() Turn {
	t.framing.crlf = true
	return t
}

// stream frames the payloads, and the [DONE] after them: one piece each.
func (f framing) stream(payloads []string) []string {
	pieces := make([]string, 0, len(payloads)+1)
	for _, payload := range payloads {
		pieces = append(pieces, f.event(payload))
	}
	if !f.noDone {
		pieces = append(pieces, f.event("[DONE]"))
	}
	return pieces
}

func (f framing) event(payload string) string {
	text := "data: " + strings.ReplaceAll(payload, "\n", "\ndata: ") + "\n\n"
	if f.comments {
		text = ": keep-alive\n\n" + text
	}
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// halves is how a body that is no stream is written.
func halves(body string) []string {
	if body == "" {
		return nil
	}
	return []string{body[:len(body)/2], body[len(body)/2:]}
}
