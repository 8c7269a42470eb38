package transport

import "slices"

// event is a piece of a stream: an event with JSON in it, or whatever else
// stands between two of them. Its bytes are valid until the source is read
// again, unless they were cloned.
type event struct {
	raw      []byte // as it came, or as it is shown
	from, to int    // where the JSON stands in raw
	joined   []byte // the JSON, if it came in several lines
	kind     kind
	made     bool // raw is our own
}

type kind uint8

const (
	filler  kind = iota // blank lines, comments, and what says nothing
	chunk               // JSON
	done                // [DONE]
	failure             // an error, or what can't be read
)

// json returns the JSON of a chunk.
func (e *event) json() []byte {
	if e.joined != nil {
		return e.joined
	}
	return e.raw[e.from:e.to]
}

func (e *event) clone() event {
	c := *e
	c.raw, c.joined = slices.Clone(e.raw), slices.Clone(e.joined)
	return c
}

// What stands around the JSON of an event of our own, and ends a stream.
const (
	eventHead = "data: "
	eventTail = "\n\n"
	doneEvent = eventHead + "[DONE]" + eventTail
)

// madeEvent returns an event of our own. Raw is eventHead and the JSON; the
// blank line behind them is added.
func madeEvent(raw []byte) event {
	end := len(raw)
	return event{raw: append(raw, eventTail...), from: len(eventHead), to: end, kind: chunk, made: true}
}
