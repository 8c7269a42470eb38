package faults

import "strings"

// Framing is how the payloads of an answer are sent.
type Framing struct {
	Name string
	// Whole is true if the body is a single payload.
	Whole bool
	// Length is true if the answer has a Content-Length.
	Length bool

	frame func(payload string) string
}

// Streams returns the framings of server-sent events.
func Streams() []Framing {
	between := func(name, before, end string) Framing {
		return Framing{Name: name, frame: func(payload string) string { return before + payload + end }}
	}
	return []Framing{
		between("LF", "data: ", "\n\n"),
		between("CRLF", "data: ", "\r\n\r\n"),
		between("CR", "data: ", "\r\r"),
		between("one LF", "data: ", "\n"),
		between("one CRLF", "data: ", "\r\n"),
		between("one CR", "data: ", "\r"),
		between("no space", "data:", "\n\n"),
		between("comments", ": keep-alive\n\n:\n\ndata: ", "\n\n"),
		between("comments between lines", ": keep-alive\ndata: ", "\n"),
		between("named events", "event: message\nid: 7\nretry: 100\ndata: ", "\n\n"),
		between("named events in CRLF", "event: message\r\nid: 7\r\ndata: ", "\r\n\r\n"),
		between("heartbeats", "data: ping\n\n"+"data:\n\n"+"data: ", "\n\n"),
		{Name: "several lines", frame: func(payload string) string {
			return "data: " + strings.ReplaceAll(payload, `,"choices":`, ",\ndata: \"choices\":") + "\n\n"
		}},
	}
}

// Wholes returns the framings of answers in one piece.
func Wholes() []Framing {
	bare := func(payload string) string { return payload }
	padded := func(payload string) string { return "\n \n" + payload + "\r\n" }
	return []Framing{
		{Name: "whole", Whole: true, frame: bare},
		{Name: "whole with its length", Whole: true, Length: true, frame: bare},
		{Name: "whole kept alive", Whole: true, frame: padded},
	}
}

// plain returns the framing of the same kind that all clients support.
func (f Framing) plain() Framing {
	if f.Whole {
		return Wholes()[0]
	}
	return Streams()[0]
}

// body returns the answer, and the offsets of its events.
func (f Framing) body(payloads []string) (text string, events []event) {
	var b strings.Builder
	for _, payload := range payloads {
		e := event{start: b.Len()}
		b.WriteString(f.frame(payload))
		e.payloadEnd, e.end = len(strings.TrimRight(b.String(), "\r\n")), b.Len()
		e.certain = e.end
		if strings.HasSuffix(b.String(), "\r") {
			e.certain++ // an LF may belong to it
		}
		events = append(events, e)
	}
	return b.String(), events
}

// event is the offsets of an event in an answer.
type event struct {
	start      int
	payloadEnd int // some clients have read the event here
	end        int
	certain    int // all clients have read the event here
}
