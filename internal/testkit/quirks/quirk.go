package quirks

import (
	"slices"
	"strings"
)

// The clients whose misreadings the rows list.
const (
	GoOpenAI    = "go-openai"
	LangChainGo = "langchaingo"
	OpenAIGo    = "openai-go"
)

// Quirk is a row of the table: two answers, and the result that carryon makes
// of them.
type Quirk struct {
	// Name begins with the quirk's number: "Q01 index missing, turn 2".
	Name string
	// Why is a sentence on who sends this, or why it matters.
	Why string
	// Unary is true if the request does not ask for a stream.
	Unary bool
	// First is the answer to the caller's request, Second the one to the
	// continuation, which is not sent if Effect is Relayed.
	First, Second Turn
	// Effect says what carryon makes of the two.
	Effect Effect
	// Shown is the text of Second that the caller should see, if that is less
	// than Second means.
	Shown *string
	// Notice is the notice of a pause at the end; "" for none.
	Notice string
	// ReadsAs is the text that a client reads of the joined answer, by the client's
	// name, where it can be derived neither from what the answers mean nor from
	// what the client reads of each alone.
	ReadsAs map[string]string
	// Misreads says what clients get wrong when they read an answer alone, by the
	// client's name.
	Misreads map[string]string
}

// Effect says what carryon makes of two answers.
type Effect int

// The effects.
const (
	// Joined shows both turns as one answer.
	Joined Effect = iota
	// Relayed shows the first answer byte for byte; there is no second.
	Relayed
	// Dropped shows the first answer, and of the second the text that was sent
	// before it failed.
	Dropped
	// Broken ends in an error, because the second answer failed when a part of a
	// tool call had been shown.
	Broken
)

// All returns the table. The rows belong to the caller.
func All() []Quirk {
	rows := slices.Concat(
		calls(), finishes(), usages(), envelopes(), contents(), framings(), failures(), pauses(), unaries(), unaryFailures(),
	)
	addMisreads(rows)
	return rows
}

// Slug returns the name as the name of a file.
func (q Quirk) Slug() string {
	words := strings.FieldsFunc(strings.ToLower(q.Name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// Means returns the correct reading of the joined answer.
func (q Quirk) Means() Reading {
	first, second := q.First.Means, q.Second.Means
	if q.Shown != nil {
		second.Text = *q.Shown
	}
	return q.join(first, second)
}

// join returns the reading of the joined answer that follows from the readings
// of each answer alone.
func (q Quirk) join(first, second Reading) Reading {
	if q.Effect == Relayed || q.Effect == Dropped && q.Unary {
		return first
	}
	both := Reading{
		Text:      paragraphs(first.Text, second.Text, q.Notice),
		Reasoning: first.Reasoning + second.Reasoning,
		Finish:    first.Finish,
		Usage:     first.Usage,
	}
	switch q.Effect {
	case Joined:
		both.Usage = first.Usage.extendedBy(second.Usage)
		both.Calls, both.Finish = withoutPause(second.Calls), second.Finish
		if len(both.Calls) == 0 && len(second.Calls) > 0 {
			both.Finish = first.Finish // which was a plain stop
		}
		both.Err = second.Err
	case Broken:
		both.Calls, both.Finish, both.Err = second.Calls, "", second.Err
		both.Usage = Usage{}
	}
	if q.Unary {
		both.Reasoning = paragraphs(first.Reasoning, second.Reasoning)
	}
	return both
}

// withoutPause returns the calls of the caller's own tools.
func withoutPause(calls []Call) []Call {
	var own []Call
	for _, call := range calls {
		if !strings.EqualFold(call.Name, "todo_pause") {
			own = append(own, call)
		}
	}
	return own
}

// paragraphs joins the texts that are not empty, with the separator of turns.
func paragraphs(texts ...string) string {
	whole := ""
	for _, text := range texts {
		for whole != "" && text != "" && !strings.HasSuffix(whole, "\n\n") {
			whole += "\n"
		}
		whole += text
	}
	return whole
}
