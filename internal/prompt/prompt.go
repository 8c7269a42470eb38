// Package prompt writes the message that asks the model to carry on, from the
// texts of [continuation.Templates].
package prompt

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/placeholder"
)

const (
	// fallbackTask is quoted if the caller has nothing to describe.
	fallbackTask = "Complete task"
	// previousLabel begins the line on the outcome of the previous attempt.
	previousLabel = "Previous attempt: "
	// scratchBytes is room for all values of a prompt: the descriptions of the task and of
	// the todos after it, a line of an error, and the rest.
	scratchBytes = (2+MaxNext)*description.MaxBytes + maxTool + 512
)

// MaxNext is how many todos a prompt names after the task.
const MaxNext = 2

// Input is what one prompt depends on.
type Input struct {
	// Task is the todo's content as its source gave it; see package
	// description.
	Task string
	// List is the todo list that Task is on.
	List List
	// Attempt counts continuations from 1; anything less means 1.
	Attempt int
	// Mode selects the texts. Every mode but YOLO has the standard ones.
	Mode continuation.ApprovalMode
	// End says how the text of the turn ended that the prompt follows.
	End handback.End
	// BreaksOff says that the text ended in the middle of something. End is then
	// handback.Announces.
	BreaksOff bool
	// InWords says that todo_pause is not among the tools, and that the model can
	// pause in words.
	InWords bool
	// Last is the outcome of the previous attempt. The prompt tells it from
	// attempt 2 on.
	Last decision.PromptResult
	// Rejection is why the model's todo_pause was rejected, or nil. It replaces
	// Last, at any attempt, because the model has no other way to learn of it.
	// The prompt shows it as one line of at most description.Max runes.
	Rejection error
}

// List is what a prompt says of a todo list. The zero List is one of which nothing is
// known.
type List struct {
	Todos int             // all of them; 0 if that is not known
	Open  int             // those that are open, the task too
	Next  [MaxNext]string // contents of open todos that come after the task; blank for none
	Tool  string          // the tool that marks todos as done; "" if it is not known
}

// Prompter makes prompts. Only [New] returns one that can be used. A
// Prompter never changes and is safe for concurrent use.
type Prompter struct {
	standard, yolo variant
}

// variant holds the texts of one approval mode.
type variant struct {
	// frame is how the built-in texts begin, whatever the templates are.
	frame template
	base  template
	// pauses says that base has the sentence on todo_pause.
	pauses bool
	// added is the text after the body, by attempt: none at the first, and the
	// last one for all later attempts.
	added [3]template
}

// Prompt returns the message that asks the model to carry on. Its first line
// is [continuation.PromptPreamble], followed by a blank line and the Base text. With
// InWords, and unless the Base has {whenToPause}, a paragraph follows on how to pause. From
// attempt 2 on, and after another blank line, come the Retry or Urgent text and a line on
// the previous attempt. A prompt does not end in a newline. The same input always gives the
// same prompt.
//
// What comes from a todo, a tool or a Rejection can add neither lines nor placeholders, and
// cannot leave its quotes. A blank Task is called "Complete task".
func (p *Prompter) Prompt(in Input) string {
	// All values share one buffer that never grows, so that only the prompt
	// itself is allocated.
	var scratch [scratchBytes]byte
	number := max(in.Attempt, 1)
	v, rest := in.values(scratch[:0], number)
	previous := appendPrevious(rest, &in, number)
	texts, addition := p.texts(in.Mode), p.addition(in.Mode, number)
	words := ""
	if in.InWords && !texts.pauses {
		words = "\n\n" + inWords
	}

	var b strings.Builder
	b.Grow(texts.base.size(&v) + len(words) + addition.size(&v) + len("\n\n") + len(previous))
	texts.base.render(&b, &v)
	b.WriteString(words)
	renderAddition(&b, addition, &v, previous)
	return b.String()
}

// values returns what the placeholders stand for, in dst, and the rest of dst.
func (in *Input) values(dst []byte, number int) (v values, rest []byte) {
	task := description.Append(dst, in.Task)
	if len(task) == 0 {
		task = append(task, fallbackTask...)
	}
	v[placeholder.Task] = task
	v[placeholder.Attempt] = strconv.AppendInt(behind(task), int64(number), 10)
	v[placeholder.Happened] = append(behind(v[placeholder.Attempt]), in.happened()...)
	v[placeholder.Open] = in.List.appendOpen(behind(v[placeholder.Happened]))
	v[placeholder.Tool] = in.List.appendTool(behind(v[placeholder.Open]))
	v[placeholder.Pause] = in.appendPause(behind(v[placeholder.Tool]))
	return v, behind(v[placeholder.Pause])
}

// behind returns the room behind a value.
func behind(value []byte) []byte { return value[len(value):] }

// texts returns the texts of a mode.
func (p *Prompter) texts(mode continuation.ApprovalMode) *variant {
	if mode == continuation.ApprovalYOLO {
		return &p.yolo
	}
	return &p.standard
}

// addition returns what follows the body at an attempt.
func (p *Prompter) addition(mode continuation.ApprovalMode, number int) template {
	added := &p.texts(mode).added
	return added[min(number, len(added))-1]
}

// renderAddition writes what follows the body, and the line on the previous attempt.
func renderAddition(b *strings.Builder, addition template, v *values, previous []byte) {
	body := b.Len()
	addition.render(b, v)
	if len(previous) == 0 {
		return
	}
	if b.Len() == body {
		b.WriteByte('\n') // what follows the body begins with a blank line
	}
	b.WriteByte('\n')
	b.Write(previous)
}

// appendPrevious appends the line on the previous attempt, if there is one. The
// line never quotes a provider.
func appendPrevious(dst []byte, in *Input, number int) []byte {
	switch last := in.Last; {
	case in.Rejection != nil:
		dst = append(dst, previousLabel+"the pause reason was rejected"...)
		if problem := in.Rejection.Error(); !description.Blank(problem) {
			dst = description.AppendLine(append(dst, ": "...), problem)
		}
		return dst
	case number == 1:
		return dst
	case last == decision.ResultSameAnswer:
		return append(dst, previousLabel+"same answer as before"...)
	case last == decision.ResultNoProgress:
		return append(dst, previousLabel+"no tool was called and no todo changed"...)
	case last == decision.ResultTimeout:
		return append(dst, previousLabel+"it failed (timeout)"...)
	case last == decision.ResultTransport:
		return append(dst, previousLabel+"it failed (transport)"...)
	case last >= 100 && last <= 999:
		dst = append(dst, previousLabel+"it failed (HTTP "...)
		return append(strconv.AppendInt(dst, int64(last), 10), ')')
	case last > 0: // no HTTP status has fewer or more than three digits
		return append(dst, previousLabel+"it failed"...)
	}
	return dst
}

// MaxWords is how many words the built-in prompt has at most at attempt 1, without the
// names of todos, which are data. With three names of eight words it has no more either:
// weak models lose the task in longer ones.
const MaxWords = 95

// The built-in texts. They keep the frame of [continuation.LongTemplates], and say the
// rest once.
const (
	standardFrame = `You have an active task that needs completion:
'{taskDescription}'

Continue working on this task.`
	yoloFrame = `CONTINUE TASK IMMEDIATELY:
'{taskDescription}'

You MUST continue working on this task.`
	inFrame = ` If already done, mark it {withTodoTool} and take the next.
{whatHappened} {openTodos}
{whenToPause}`
)

// Sentences on the turn that the prompt follows. They never quote the model.
const (
	happenedNoTool    = "Your answer called no tool."
	happenedBlank     = "Your answer was blank."
	happenedBreakOff  = "Your answer broke off."
	happenedAnnounced = "You announced a step but called no tool."
	happenedQuestion  = "You called no tool; nobody can answer: decide yourself."
)

// happened returns the sentence on the turn, or "" if it called todo_pause: a line of its
// own says that the pause was rejected.
func (in *Input) happened() string {
	switch {
	case in.Rejection != nil:
		return ""
	case in.BreaksOff:
		return happenedBreakOff
	}
	switch in.End {
	case handback.Blank:
		return happenedBlank
	case handback.Announces:
		return happenedAnnounced
	case handback.Asks:
		return happenedQuestion
	case handback.Unclear, handback.Waits, handback.Leaves:
	}
	return happenedNoTool
}

// Parts of the sentence that says when to pause.
const (
	pauseTool   = "Call todo_pause only for "
	pausePrint  = "Pause only for "
	pauseError  = "errors you cannot mend"
	pauseWait   = "something started that must finish"
	pauseUser   = "what the user must decide or do"
	pauseUndone = "what cannot be undone and was not asked for"
	// inWords says how to pause where todo_pause is not among the tools. What it shows in
	// the quotes is too short for a reason, so a model that copies it is told.
	inWords = "todo_pause is not among your tools. To pause, end your answer with todo_pause('…'), the reason in the quotes."
)

// appendPause appends the sentence that says when to pause, and how. Only where somebody is
// there, a decision of the user is a case: weak models take every way out that is offered.
// Where the model has asked and nobody answers, some steps are still not the model's to take.
func (in *Input) appendPause(dst []byte) []byte {
	begin := pauseTool
	if in.InWords {
		begin = pausePrint
	}
	last := ""
	switch {
	case in.Mode != continuation.ApprovalYOLO:
		last = pauseUser
	case in.End == handback.Asks:
		last = pauseUndone
	}
	dst = append(append(dst, begin...), pauseError...)
	if last == "" {
		dst = append(append(dst, " or "...), pauseWait...)
	} else {
		dst = append(append(dst, ", "...), pauseWait...)
		dst = append(append(dst, ", or "...), last...)
	}
	dst = append(dst, '.')
	if in.InWords {
		dst = append(dst, " "+inWords...)
	}
	return dst
}

// appendOpen appends the sentence that says how many todos are open, and which come next,
// or nothing if the list is not known.
func (l *List) appendOpen(dst []byte) []byte {
	if l.Todos <= 0 {
		return dst
	}
	dst = strconv.AppendInt(dst, int64(l.Open), 10)
	dst = strconv.AppendInt(append(dst, " of "...), int64(l.Todos), 10)
	dst = append(dst, " todo"...)
	if l.Todos != 1 {
		dst = append(dst, 's')
	}
	if l.Open == 1 {
		dst = append(dst, " is open"...)
	} else {
		dst = append(dst, " are open"...)
	}
	before := ", next '"
	for _, content := range l.Next {
		if !description.Blank(content) {
			dst = description.Append(append(dst, before...), content)
			dst = append(dst, '\'')
			before = ", '"
		}
	}
	return append(dst, '.')
}

// maxTool is how many bytes the name of a tool has at most: more than any provider takes.
const maxTool = 128

// appendTool appends "with" and the name of the tool that marks todos as done, or nothing if
// it is not known. The name comes from the conversation, so one that no tool can have is
// left out.
func (l *List) appendTool(dst []byte) []byte {
	if l.Tool == "" || len(l.Tool) > maxTool || strings.ContainsFunc(l.Tool, isForeign) {
		return dst
	}
	return append(append(dst, "with "...), l.Tool...)
}

// isForeign reports whether no name of a tool has r.
func isForeign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.:/", r)
}

// New returns a Prompter for the texts of t. For an empty text it takes the built-in one. It
// fails as [continuation.Templates.Check] does.
func New(t continuation.Templates) (*Prompter, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	d := continuation.LongTemplates() // the attempt's notes are the same
	p := Prompter{standard: newVariant(standardFrame, t.Standard.Base), yolo: newVariant(yoloFrame, t.YOLO.Base)}
	p.standard.added[1] = addition(cmp.Or(t.Standard.Retry, d.Standard.Retry))
	p.standard.added[2] = p.standard.added[1]
	p.yolo.added[1] = addition(cmp.Or(t.YOLO.Retry, d.YOLO.Retry))
	p.yolo.added[2] = addition(cmp.Or(t.YOLO.Urgent, d.YOLO.Urgent))
	return &p, nil
}

// newVariant compiles the body of a mode.
func newVariant(frame, base string) variant {
	base = cmp.Or(base, frame+inFrame)
	return variant{frame: body(frame), base: body(base), pauses: strings.Contains(base, placeholder.Pause.String())}
}

// body compiles the body of a prompt, with the line that every prompt opens with.
func body(text string) template {
	return parse(continuation.PromptPreamble + "\n\n" + strings.TrimSpace(text))
}

// addition compiles a text that may follow the body, or nothing.
func addition(text string) template {
	text = strings.TrimSpace(text)
	if text != "" {
		text = "\n\n" + text
	}
	return parse(text)
}

// template is a text split at its placeholders; an empty one renders nothing.
// render puts values between the parts without scanning them, so a placeholder
// in a value has no effect.
type template []segment

// segment is a piece of text, or a slot, and the white space before it.
type segment struct {
	gap, text string
	slot      placeholder.Slot
}

// parse splits text at its placeholders.
func parse(text string) template {
	var t template
	for text != "" {
		at, next := firstPlaceholder(text)
		words := strings.TrimSpace(text[:at])
		gap := text[:at]
		if words != "" {
			begin := strings.Index(text, words)
			t = append(t, segment{gap: text[:begin], text: words})
			gap = text[begin+len(words) : at]
		}
		if next != placeholder.None {
			t = append(t, segment{gap: gap, slot: next})
		}
		text = text[at+len(next.String()):]
	}
	return t
}

// firstPlaceholder returns where the first placeholder of a text begins, and its slot; or
// the end of the text.
func firstPlaceholder(text string) (int, placeholder.Slot) {
	for at := range len(text) {
		if text[at] != '{' {
			continue
		}
		for s := placeholder.Task; s < placeholder.Count; s++ {
			if strings.HasPrefix(text[at:], s.String()) {
				return at, s
			}
		}
	}
	return len(text), placeholder.None
}

// values are what the slots of a template are filled with.
type values [placeholder.Count][]byte

// size returns the length of what render writes, or a little more.
func (t template) size(v *values) int {
	n := 0
	for i := range t {
		n += len(t[i].gap) + len(t[i].text) + len(v[t[i].slot])
	}
	return n
}

// render writes the text with its values to b. A value that is empty takes the white space
// on one of its sides with it.
func (t template) render(b *strings.Builder, v *values) {
	gap, joined := "", false
	for i := range t {
		s := &t[i]
		if joined {
			gap = join(gap, s.gap)
		} else {
			gap = s.gap
		}
		joined = s.slot != placeholder.None && len(v[s.slot]) == 0
		if !joined {
			b.WriteString(gap)
			b.WriteString(s.text)
			b.Write(v[s.slot])
		}
	}
}

// join returns what is left of the white space on both sides of nothing: none before
// punctuation, otherwise the side with more line breaks.
func join(before, after string) string {
	lines := strings.Count(before, "\n")
	if after == "" && lines == 0 || strings.Count(after, "\n") > lines {
		return after
	}
	return before
}
