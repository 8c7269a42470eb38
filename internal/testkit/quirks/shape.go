package quirks

import "strings"

// shape is a streamed answer that may be the first or the second one.
type shape struct {
	name, why string
	// What is sent: a head up to the finish reason, and the tail. An empty tail
	// becomes an ordinary one with the reason.
	head, tail, reason string
	// What it means.
	text  string
	calls []Call
	usage string // in the tail; "-" for none, "" for that of an ordinary tail
	err   string
	// relayed is true if carryon does not continue after it. An answer that calls
	// a tool is never continued and need not set it.
	relayed bool
	refused bool // the model or a filter says no
	alter   func(*Turn)
}

// The usages of ordinary turns.
func draftUsage() string { return tokens(11, 7) }
func replyUsage() string { return tokens(13, 5) }

// draft is an ordinary first turn.
func draft() Turn {
	return plain("I will edit the file next.", roleChunk()+textChunks("I will edit", " the file next."), draftUsage()).at(firstEnvelope)
}

// reply is an ordinary second turn. It has other words than the shapes, because an answer
// that repeats the one before it is not shown.
func reply() Turn {
	return plain("The file is saved.", roleChunk()+textChunks("The file", " is saved."), replyUsage()).at(secondEnvelope)
}

// reworded returns the turn of a shape with the words of reply.
func (t Turn) reworded() Turn {
	for _, part := range []*string{&t.Head, &t.Tail, &t.Means.Text} {
		*part = strings.ReplaceAll(*part, " is edited.", " is saved.")
	}
	return t
}

func plain(text, head, usage string) Turn {
	return Turn{
		Head: head, Tail: finishChunk(`{}`, "stop") + usageChunk(usage) + done,
		Usage: usage, Means: Reading{Text: text, Finish: "stop", Usage: counted(usage)},
	}
}

// at returns the turn with its envelope.
func (t Turn) at(envelope string) Turn {
	t.Head = strings.ReplaceAll(t.Head, placeholder, envelope)
	t.Tail = strings.ReplaceAll(t.Tail, placeholder, envelope)
	return t
}

// turn returns the answer with the envelope.
func (s shape) turn(envelope string) Turn {
	if s.reason == "" && s.err == "" {
		s.reason = "stop"
	}
	if s.usage == "" {
		s.usage = replyUsage()
	}
	if s.usage == "-" {
		s.usage = ""
	}
	t := Turn{Head: s.head, Tail: s.tail, Usage: s.usage, Refused: s.refused, Means: Reading{
		Text: s.text, Calls: s.calls, Finish: s.reason, Usage: counted(s.usage), Err: s.err,
	}}
	if t.Tail == "" {
		t.Tail = finishChunk(`{}`, s.reason) + usageChunk(s.usage) + done
	}
	if s.alter != nil {
		s.alter(&t)
	}
	return t.at(envelope)
}

// first returns the row in which the shape is the first answer.
func (s shape) first() Quirk {
	q := Quirk{Name: s.name, Why: s.why, First: s.turn(firstEnvelope), Second: reply()}
	if s.relayed || len(s.calls) > 0 {
		q.Effect = Relayed
	}
	return q
}

// second returns the row in which the shape is the second answer. If it fails,
// the first answer is shown all the same.
func (s shape) second() Quirk {
	q := Quirk{Name: s.name, Why: s.why, First: draft(), Second: s.turn(secondEnvelope)}
	if s.err != "" || s.refused {
		q.Effect = Dropped
	}
	return q
}

// both returns the rows for both positions.
func (s shape) both() []Quirk {
	first, second := s.first(), s.second()
	first.Name += ", turn 1"
	second.Name += ", turn 2"
	return []Quirk{first, second}
}

// twice returns the row in which both answers are the shape.
func (s shape) twice() Quirk {
	q := s.second()
	q.First = s.turn(firstEnvelope).reworded()
	return q
}

// atBothPositions returns the rows for both positions of each shape.
func atBothPositions(shapes ...shape) []Quirk {
	var rows []Quirk
	for _, s := range shapes {
		rows = append(rows, s.both()...)
	}
	return rows
}
