package langchaingo

import (
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/finish"
	"github.com/carryon-go/carryon/internal/pausecall"
	"github.com/carryon-go/carryon/pause"
)

// unreadable is the finish of an answer that a text agent can't read. It is not
// a plain one, and never shown.
const unreadable = "unreadable to the agent"

// agentAnswers is the dialect of a text agent's answers. The agent is to read
// a joined answer as it would have read the turns: as its last turn, if that
// calls a tool, and else as a finish with the answers of all turns.
type agentAnswers struct {
	*answers

	read     func(string) Reading
	ownPause bool
	streams  streams

	// What the turns come to.
	given  string // to the agent, as far as it finishes
	shown  string // by the agent, of that
	action string // the last turn, if it calls a tool
}

func newAgentAnswers(a *answers, s streams, ownPause bool) *agentAnswers {
	s.each(func(one *stream) { one.quiet = true })
	return &agentAnswers{answers: a, read: a.model.options.read, ownPause: ownPause, streams: s}
}

// Read implements [adapter.Dialect].
func (d *agentAnswers) Read(a **llms.ContentResponse, t adapter.TurnReader) {
	d.readCalls(*a, t)
	whole := d.readRest(*a, t)
	if d.later {
		if whole { // else nothing of it is kept, and what is said can't be taken back
			d.readLater(textOf(*a), t)
		}
		return
	}
	kind := d.readFirst(firstText(*a), t)
	reason := stopReason(*a)
	if kind == Unreadable && (reason == "" || finish.IsPlainStop(reason)) {
		t.Finish(unreadable)
	}
}

// readFirst reads the agent's own turn, which it is given as it is.
func (d *agentAnswers) readFirst(text string, t adapter.TurnReader) ReadingKind {
	t.Text(text)
	reading := d.read(text)
	if reading.Kind == Action {
		t.OtherCall()
	}
	d.given, d.shown = text, reading.Answer
	return reading.Kind
}

// readLater reads a turn that the agent is given as a part of its own.
func (d *agentAnswers) readLater(text string, t adapter.TurnReader) {
	reading := d.read(text)
	if reading.Kind == Action {
		if pause.Is(reading.Tool) && !d.ownPause {
			t.Pause(reasonIn(reading.Input))
			return
		}
		d.action = text
		t.OtherCall()
		return
	}
	if reason, rest, ok := printedPause(text); ok && !d.ownPause {
		t.Pause(reason)
		text, reading = rest, d.read(rest)
	}
	answer := text
	if reading.Kind == Finish {
		answer = reading.Answer
	}
	if reading.Kind != Finish || d.read(answer).Kind == Action {
		answer = untilThought(answer)
	}
	more := d.fitting(strings.TrimSpace(answer))
	if more == "" {
		return
	}
	d.given += adapter.SeparatorAfter(d.given) + more
	d.shown = d.read(d.given).Answer
	t.Text(more)
	d.streams.each(func(one *stream) { one.say(more) })
}

// fitting returns more as it can be added: the agent must read the whole as a
// finish with more at the end of the answer, whatever words there are in more
// that mean something to it.
func (d *agentAnswers) fitting(more string) string {
	for _, more := range []string{more, strings.ReplaceAll(more, ":", " :")} {
		if more == "" {
			break
		}
		reading := d.read(d.given + adapter.SeparatorAfter(d.given) + more)
		answer := strings.TrimSpace(reading.Answer)
		if reading.Kind == Finish && strings.HasPrefix(answer, strings.TrimSpace(d.shown)) &&
			strings.HasSuffix(answer, more) {
			return more
		}
	}
	return ""
}

// AppendShown implements [adapter.Dialect].
func (d *agentAnswers) AppendShown(
	dst []*llms.ContentResponse, a **llms.ContentResponse, e *adapter.Edit,
) []*llms.ContentResponse {
	edit := *e
	if d.action != "" {
		edit.Text = d.action
		return d.answers.AppendShown(dst, a, &edit)
	}
	edit.Text = d.given
	if notice := d.fitting(strings.TrimPrefix(strings.TrimPrefix(e.Text, d.given), adapter.SeparatorAfter(d.given))); notice != "" {
		edit.Text += adapter.SeparatorAfter(d.given) + notice
	}
	return d.answers.AppendShown(dst, a, &edit)
}

// firstText returns what an agent of langchaingo reads of an answer.
func firstText(a *llms.ContentResponse) string {
	if a == nil || len(a.Choices) == 0 || a.Choices[0] == nil {
		return ""
	}
	return a.Choices[0].Content
}

// textOf returns the text in all blocks of an answer.
func textOf(a *llms.ContentResponse) string {
	var b strings.Builder
	for _, choice := range choicesOf(a) {
		b.WriteString(choice.Content)
	}
	return b.String()
}

// printedPause finds a call of todo_pause at the end of a text, and returns the
// text without it.
func printedPause(text string) (reason, rest string, ok bool) {
	var printed pausecall.Finder
	shown := printed.Write(text)
	reason, ok, held := printed.End()
	return reason, shown + held, ok
}

// reasonIn returns the reason in the input of a pause that is written as an
// action: an object as the tool would have it, or the bare reason.
func reasonIn(input string) string {
	if reason, _ := pause.Parse(input, pause.Lenient); reason != "" {
		return reason
	}
	return strings.Trim(strings.TrimSpace(input), "\"'`")
}

// untilThought returns what stands before the first line that a text agent has
// for itself.
func untilThought(text string) string {
	length := 0
	for line := range strings.Lines(text) {
		if isThought(line) {
			break
		}
		length += len(line)
	}
	return text[:length]
}

func isThought(line string) bool {
	line = strings.TrimLeft(line, " \t*")
	for _, word := range []string{"Thought:", "Action:", "Action Input:", "Observation:"} {
		if len(line) >= len(word) && strings.EqualFold(line[:len(word)], word) {
			return true
		}
	}
	return false
}
