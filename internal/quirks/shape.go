package quirks

import "strings"

// shape is a streamed answer that may stand at either place.
type shape struct {
	name, why string
	// What is sent: a head up to the finish, and the rest. Without a tail it is
	// an ordinary one, with the reason.
	head, tail, reason string
	// What it means.
	text  string
	calls []Call
	usage string // in the tail; "-" is none, "" is what an ordinary tail has
	err   string
	// relayed is true if there is nothing to do when it comes first; an answer
	// that calls a tool needs not say so.
	relayed bool
	alter   func(*Turn)
}

// The usages of ordinary turns.
func draftUsage() string { return tokens(11, 7) }
func replyUsage() string { return tokens(13, 5) }

// draft is an ordinary first turn.
func draft() Turn {
	return plain("I will edit the file next.", opens()+words("I will edit", " the file next."), draftUsage()).at(one)
}

// reply is an ordinary second turn.
func reply() Turn {
	return plain("The file is edited.", opens()+words("The file", " is edited."), replyUsage()).at(two)
}

func plain(text, head, usage string) Turn {
	return Turn{
		Head: head, Tail: ends(`{}`, "stop") + bill(usage) + done,
		Usage: usage, Means: Reading{Text: text, Finish: "stop", Usage: counted(usage)},
	}
}

// at returns the turn with its envelope.
func (t Turn) at(envelope string) Turn {
	t.Head = strings.ReplaceAll(t.Head, here, envelope)
	t.Tail = strings.ReplaceAll(t.Tail, here, envelope)
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
	t := Turn{Head: s.head, Tail: s.tail, Usage: s.usage, Means: Reading{
		Text: s.text, Calls: s.calls, Finish: s.reason, Usage: counted(s.usage), Err: s.err,
	}}
	if t.Tail == "" {
		t.Tail = ends(`{}`, s.reason) + bill(s.usage) + done
	}
	if s.alter != nil {
		s.alter(&t)
	}
	return t.at(envelope)
}

// first returns the row in which the shape is the first answer.
func (s shape) first() Quirk {
	q := Quirk{Name: s.name, Why: s.why, First: s.turn(one), Second: reply()}
	if s.relayed || len(s.calls) > 0 {
		q.Effect = Relayed
	}
	return q
}

// second returns the row in which the shape is the second answer. One that
// fails costs the first nothing.
func (s shape) second() Quirk {
	q := Quirk{Name: s.name, Why: s.why, First: draft(), Second: s.turn(two)}
	if s.err != "" {
		q.Effect = Dropped
	}
	return q
}

// both returns the rows for each place.
func (s shape) both() []Quirk {
	first, second := s.first(), s.second()
	first.Name += ", turn 1"
	second.Name += ", turn 2"
	return []Quirk{first, second}
}

// twice returns the row in which both answers are the shape.
func (s shape) twice() Quirk {
	q := s.second()
	q.First = s.turn(one)
	return q
}

// atBothPlaces returns the rows for each place of each shape.
func atBothPlaces(shapes ...shape) []Quirk {
	var rows []Quirk
	for _, s := range shapes {
		rows = append(rows, s.both()...)
	}
	return rows
}
