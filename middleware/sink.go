package middleware

import (
	"strings"

	"github.com/carryon-go/carryon/pause"
)

// NoIndex is what a [Dialect] reports as the index of a tool call that came
// without one.
const NoIndex = -1 << 31

// Sink takes what a [Dialect] reads from the chunks of a turn. Its methods may
// be called in any order and number for one chunk; the order of the calls of
// Call is that in which [Edit.Call] asks about them. The strings may share
// memory with the chunk: what the sink keeps longer, it copies.
type Sink struct {
	keep    *transcript
	calls   tracker
	printed pause.Printed
	asked   *string // the reason of a pause that the adapter has read

	number    int  // of the turn; 1 is the caller's own
	watching  bool // calls to todo_pause are carryon's own
	printable bool // the model may print todo_pause as text
	began     bool // something was shown before this turn
	said      bool // the turn has shown text

	legacy  bool
	refused bool
	many    bool
	late    bool // more came after the finish
	done    bool // the provider has said that the turn is over
	finish  string
	err     error
	usage   Usage

	chunk chunk
}

// chunk is what the chunk just read adds. Text is what may be shown of it.
type chunk struct {
	text     string
	entries  []entry
	size     int  // its bytes, or those of what it adds
	finishes bool // it has the finish reason
	texted   bool // it has text of its own, shown or held back
	other    bool // content that is neither text nor a call
	usage    bool
}

// clone returns a copy that outlives the next chunk.
func (c chunk) clone() chunk {
	c.entries = append([]entry(nil), c.entries...)
	c.text = strings.Clone(c.text)
	return c
}

// begin makes the sink ready for a turn.
func (s *Sink) begin(number int, watching, printable, began bool) {
	entries := s.chunk.entries[:0]
	*s = Sink{
		number: number, watching: watching, printable: printable, began: began,
		keep: s.keep, calls: tracker{unwatched: !watching}, chunk: chunk{entries: entries},
	}
}

// next makes the sink ready for a chunk.
func (s *Sink) next() {
	s.chunk = chunk{entries: s.chunk.entries[:0]}
}

// Text reports text that is meant for the reader.
func (s *Sink) Text(text string) {
	if text == "" {
		return
	}
	s.chunk.size += len(text)
	s.chunk.texted = true
	if s.printable {
		text = s.printed.Write(strings.Clone(text))
	}
	s.show(text)
}

// show adds text to what the chunk shows, after the seam if it is the first of
// a later turn.
func (s *Sink) show(text string) {
	if text == "" {
		return
	}
	if !s.said && s.number > 1 && s.began {
		text = Seam + text
	}
	s.said = true
	if s.chunk.text == "" {
		s.chunk.text = text
	} else {
		s.chunk.text += text
	}
	if s.keep != nil {
		s.keep.add(text)
	}
}

// Reasoning reports text that the model wrote for itself.
func (s *Sink) Reasoning(text string) {
	if text == "" {
		return
	}
	s.chunk.other = true
	s.chunk.size += len(text)
	if s.keep != nil {
		s.keep.think(text)
	}
}

// Call reports a tool call or a fragment of one: its index in the turn or
// [NoIndex], and what it adds to the id, the name and the arguments.
func (s *Sink) Call(index int, id, name, arguments string) {
	at := s.calls.add(index, id, name, arguments)
	s.chunk.size += len(id) + len(name) + len(arguments)
	s.chunk.entries = append(s.chunk.entries, entry{
		slot: at, empty: id == "" && name == "" && arguments == "",
	})
	if s.calls.others > 0 && s.printable {
		// A turn that calls tools pauses by a call or not at all.
		s.printable = false
		s.show(s.printed.Release())
	}
}

// Pause reports that the model pauses, and why, in a form that only the adapter
// can read: that of an agent which writes its calls as text. The adapter reports
// no such text. It is judged as a printed call is, and like one it counts in
// continuations alone, and not beside a tool call or a todo_pause of the
// caller's own.
func (s *Sink) Pause(reason string) {
	if s.printable {
		s.asked = &reason
	}
}

// OtherCall reports a tool call that is not told through Call: one in the form
// that tool calls replaced, or one of another choice.
func (s *Sink) OtherCall() { s.legacy, s.chunk.other = true, true }

// Refusal reports that the model refuses.
func (s *Sink) Refusal() { s.refused, s.chunk.other = true, true }

// OtherChoice reports content of a choice other than the first.
func (s *Sink) OtherChoice() { s.many, s.chunk.other = true, true }

// Finish reports the provider's finish reason; "" is none.
func (s *Sink) Finish(reason string) {
	if reason == "" {
		return
	}
	if reason != s.finish {
		s.finish = cloneReason(reason)
	}
	s.chunk.finishes = true
}

// cloneReason saves the copy of the reasons that nearly all turns end with.
func cloneReason(reason string) string {
	switch reason {
	case "stop":
		return "stop"
	case "tool_calls":
		return "tool_calls"
	}
	return strings.Clone(reason)
}

// Done reports that the provider has said that nothing more is to come in this
// turn, as with "[DONE]". A turn that is done without a finish reason has none.
func (s *Sink) Done() { s.done = true }

// Size reports the size of the whole chunk in bytes, where a dialect knows it,
// for the bounds on what is held back. Without it the size is that of what the
// chunk adds.
func (s *Sink) Size(bytes int) { s.chunk.size += bytes }

// Usage reports token counts. The last of a turn counts.
func (s *Sink) Usage(u Usage) {
	s.chunk.usage = true
	s.usage = u
}

// Fail reports an error that came in place of content.
func (s *Sink) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// showedCall reports whether the turn has shown a tool call or a part of one.
func (s *Sink) showedCall() bool { return s.calls.others > 0 || s.legacy }

// adds reports whether the chunk adds anything that a reader would miss.
func (c *chunk) adds() bool {
	return c.text != "" || len(c.entries) > 0 || c.other
}

// end ends the turn: calls whose name is still open get the name they have,
// and text that may have been a printed pause is shown or taken for one. What
// is still to be shown is added to the chunk at hand.
func (s *Sink) end() (printed string, ok bool) {
	s.calls.settle()
	if !s.printable {
		return "", false
	}
	s.printable = false
	if s.showedCall() {
		s.show(s.printed.Release())
		return "", false
	}
	reason, ok, rest := s.printed.End()
	s.show(rest)
	if s.asked != nil {
		return *s.asked, true
	}
	return reason, ok
}

// rest returns the text that is held back in a turn that has failed.
func (s *Sink) rest() string {
	s.next()
	s.show(s.printed.Release())
	return s.chunk.text
}
