package langchaingo

import (
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/pausecall"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/separator"
	"github.com/carryon-go/carryon/pause"
)

// unreadable is the finish reason of an answer that a text agent can't read. It
// is not a plain stop, and the caller never sees it.
const unreadable = "unreadable to the agent"

// agentAnswers is the dialect of a text agent's answers. The agent must read a
// joined answer like the turns it was made of: like the last turn, if that
// calls a tool, and otherwise as a finish with the answers of all turns.
type agentAnswers struct {
	*answers

	read     func(string) Reading
	ownPause bool
	streams  streams

	// The result of the turns so far.
	agentText
	kept agentText // before the current turn
}

// agentText is what an agent is given.
type agentText struct {
	given  string // the text for the agent, as long as the turns finish
	shown  string // the answer that the agent reads in given
	action string // the text of the last turn, if it calls a tool
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
		if whole { // a failed turn is dropped, and text that was streamed can't be taken back
			d.readLater(textOf(*a), t)
		}
		return
	}
	kind := d.readFirst(firstText(*a), t)
	reason := stopReason(*a)
	if kind == Unreadable && (reason == "" || handback.IsPlainStop(reason)) {
		t.Finish(unreadable)
	}
}

// readFirst reads the first turn, which the agent gets unchanged.
func (d *agentAnswers) readFirst(text string, t adapter.TurnReader) ReadingKind {
	t.Text(text)
	reading := d.read(text)
	if reading.Kind == Action {
		t.OtherCall()
	}
	d.given, d.shown = text, reading.Answer
	return reading.Kind
}

// readLater reads a later turn, which is joined to the first.
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
	d.given += d.separator() + more
	d.shown = d.read(d.given).Answer
	t.Text(more)
	d.streams.each(func(one *stream) { one.say(more) })
}

// fitting returns more in a form that can be added, or "" if there is none: the
// agent must read the whole as a finish whose answer ends with more, even if
// more has words that mean something to the agent.
func (d *agentAnswers) fitting(more string) string {
	for _, more := range []string{more, strings.ReplaceAll(more, ":", " :")} {
		if more == "" {
			break
		}
		reading := d.read(d.given + d.separator() + more)
		answer := strings.TrimSpace(reading.Answer)
		if reading.Kind == Finish && strings.HasPrefix(answer, strings.TrimSpace(d.shown)) &&
			strings.HasSuffix(answer, more) {
			return more
		}
	}
	return ""
}

// separator returns what stands between given and more text.
func (d *agentAnswers) separator() string {
	if d.given == "" {
		return ""
	}
	return separator.After(d.given)
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
	if notice := d.fitting(strings.TrimPrefix(strings.TrimPrefix(e.Text, d.given), d.separator())); notice != "" {
		edit.Text += d.separator() + notice
	}
	return d.answers.AppendShown(dst, a, &edit)
}

// EndTurn implements [adapter.Dialect].
func (d *agentAnswers) EndTurn(keep bool) {
	if !keep {
		d.agentText = d.kept
	}
	d.kept = d.agentText
	d.answers.EndTurn(keep)
}

// firstText returns the part of an answer that an agent of langchaingo reads.
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

// reasonIn returns the reason of a pause that the model wrote as an action. The
// input is an object with the tool's arguments, or the bare reason.
func reasonIn(input string) string {
	if reason, _ := pausetool.Parse(input, pausetool.Lenient); reason != "" {
		return reason
	}
	return strings.Trim(strings.TrimSpace(input), "\"'`")
}

// untilThought returns the text before the first line that a text agent would
// parse.
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
