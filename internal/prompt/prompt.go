// Package prompt writes the message that asks the model to carry on, from the
// texts of [continuation.Templates].
package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/description"
)

const (
	// fallbackTask is quoted if the caller has nothing to describe.
	fallbackTask = "Complete task"
	// previousLabel begins the line on the outcome of the previous attempt.
	previousLabel = "Previous attempt: "
	// inWords follows the body where todo_pause is not among the tools.
	inWords = "\n\ntodo_pause is not among your tools. To pause, end your answer with it as text: todo_pause('reason')"
	// scratchBytes is room for all values of a prompt: the description, the
	// attempt and the line on the previous attempt.
	scratchBytes = 2*description.MaxBytes + 96 + maxSeen
	// maxSeen is how many bytes a line on the turn has at most.
	maxSeen = 192
)

// Lines on what was seen of the turn that the prompt follows. They never quote the
// model.
const (
	seenAnnounced = "\nYou announced the next step: do it now, with a tool call."
	seenQuestion  = "\nNobody can answer now: choose what you would recommend, say so, and go on. " +
		"What cannot be undone and was not asked for needs todo_pause."
	seenUnclear = "\nIf the task is done, mark it as done and go on with the next. " +
		"If you wait for the user or for other agents, or asked the user to do something, call todo_pause."
	seenBlank = "\nYour answer was blank: go on with the task now, with a tool call."
)

// Input is what one prompt depends on.
type Input struct {
	// Task is the todo's content as its source gave it; see package
	// description.
	Task string
	// Attempt counts continuations from 1; anything less means 1.
	Attempt int
	// Mode selects the texts. Every mode but YOLO has the standard ones.
	Mode continuation.ApprovalMode
	// End says how the text of the turn ended that the prompt follows.
	End continuation.TurnEnd
	// Blank says that the turn had no text and called nothing.
	Blank bool
	// InWords says that todo_pause is not among the tools, and that the model can
	// pause in words.
	InWords bool
	// Last is the outcome of the previous attempt. The prompt tells it from
	// attempt 2 on.
	Last continuation.PromptResult
	// Rejection is why the model's todo_pause was rejected, or nil. It replaces
	// Last, at any attempt, because the model has no other way to learn of it.
	// The prompt shows it as one line of at most description.Max runes.
	Rejection error
}

// Prompter makes prompts. Only [New] returns one that can be used. A
// Prompter never changes and is safe for concurrent use.
type Prompter struct {
	standard, yolo variant
}

// variant holds the texts of one approval mode.
type variant struct {
	base template
	// added is the text after the body, by attempt: none at the first, and the
	// last one for all later attempts.
	added [3]template
}

// Prompt returns the message that asks the model to carry on. Its first line
// is [continuation.PromptPreamble], followed by a blank line and the Base text. Behind
// the line with the description, a line may say what was seen of the turn. With InWords, a line follows on how to pause. From attempt 2 on, and after
// another blank line, come the Retry or Urgent text and a line on the previous
// attempt. A prompt does not end in a newline. The same input always gives the
// same prompt.
//
// A Task or Rejection can add neither lines nor placeholders. A blank Task is
// called "Complete task".
func (p *Prompter) Prompt(in Input) string {
	// All values share one buffer that never grows, so that only the prompt
	// itself is allocated.
	var scratch [scratchBytes]byte
	number := max(in.Attempt, 1)
	task := description.Append(scratch[:0], in.Task)
	if len(task) == 0 {
		task = append(task, fallbackTask...)
	}
	attempt := strconv.AppendInt(task[len(task):], int64(number), 10)
	previous := appendPrevious(attempt[len(attempt):], &in, number)
	seen := append(previous[len(previous):], in.seen()...)
	v := values{slotTask: task, slotAttempt: attempt, slotSeen: seen}
	body, addition := p.texts(in.Mode).base, p.addition(in.Mode, number)

	var b strings.Builder
	words := ""
	if in.InWords {
		words = inWords
	}
	b.Grow(body.size(&v) + len(words) + addition.size(&v) + len("\n\n") + len(previous))
	body.render(&b, &v)
	b.WriteString(words)
	renderAddition(&b, addition, &v, previous)
	return b.String()
}

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
	addition.render(b, v)
	if len(previous) == 0 {
		return
	}
	if len(addition) == 0 {
		b.WriteByte('\n') // what follows the body begins with a blank line
	}
	b.WriteByte('\n')
	b.Write(previous)
}

// seen returns the line on the turn, with a line break before it, or "". Where nobody
// is there, an unclear end gets none: many of these models only report what they did,
// and a line that offers a pause makes them take it.
func (in *Input) seen() string {
	switch {
	case in.Rejection != nil:
		return ""
	case in.End == continuation.EndAnnounces:
		return seenAnnounced
	case in.End == continuation.EndAsks:
		return seenQuestion
	case in.Blank:
		return seenBlank
	case in.End == continuation.EndUnclear && in.Mode != continuation.ApprovalYOLO:
		return seenUnclear
	}
	return ""
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
	case last == continuation.ResultSameAnswer:
		return append(dst, previousLabel+"same answer as before"...)
	case last == continuation.ResultNoProgress:
		return append(dst, previousLabel+"no tool was called and no todo changed"...)
	case last == continuation.ResultTimeout:
		return append(dst, previousLabel+"it failed (timeout)"...)
	case last == continuation.ResultTransport:
		return append(dst, previousLabel+"it failed (transport)"...)
	case last >= 100 && last <= 999:
		dst = append(dst, previousLabel+"it failed (HTTP "...)
		return append(strconv.AppendInt(dst, int64(last), 10), ')')
	case last > 0: // no HTTP status has fewer or more than three digits
		return append(dst, previousLabel+"it failed"...)
	}
	return dst
}

// The placeholders in a text.
const (
	taskPlaceholder    = "{taskDescription}"
	attemptPlaceholder = "{attemptCount}"
)

// New returns a Prompter for the texts of t. It fails as [continuation.Templates.Check]
// does.
func New(t continuation.Templates) (*Prompter, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	d := continuation.LongTemplates()
	var p Prompter
	p.standard.base = body(cmp.Or(t.Standard.Base, d.Standard.Base))
	p.standard.added[1] = addition(cmp.Or(t.Standard.Retry, d.Standard.Retry))
	p.standard.added[2] = p.standard.added[1]
	p.yolo.base = body(cmp.Or(t.YOLO.Base, d.YOLO.Base))
	p.yolo.added[1] = addition(cmp.Or(t.YOLO.Retry, d.YOLO.Retry))
	p.yolo.added[2] = addition(cmp.Or(t.YOLO.Urgent, d.YOLO.Urgent))
	return &p, nil
}

// body compiles the body of a prompt, with the line that every prompt opens with. What
// was seen of the turn follows the first line with the description.
func body(text string) template {
	t := parse(continuation.PromptPreamble + "\n\n" + strings.TrimSpace(text))
	task := slices.IndexFunc(t, func(s segment) bool { return s.then == slotTask })
	for i := task + 1; i < len(t); i++ {
		if line, rest, ends := strings.Cut(t[i].text, "\n"); ends {
			return slices.Replace(t, i, i+1, segment{line, slotSeen}, segment{"\n" + rest, t[i].then})
		}
	}
	return append(t, segment{"", slotSeen})
}

// addition compiles a text that may follow the body, or nothing.
func addition(text string) template {
	text = strings.TrimSpace(text)
	if text != "" {
		text = "\n\n" + text
	}
	return parse(text)
}

// parse splits text at its placeholders.
func parse(text string) template {
	var t template
	begin := 0
	for at := 0; at < len(text); at++ {
		placeholder, then := taskPlaceholder, slotTask
		if strings.HasPrefix(text[at:], attemptPlaceholder) {
			placeholder, then = attemptPlaceholder, slotAttempt
		}
		if strings.HasPrefix(text[at:], placeholder) {
			t = append(t, segment{text[begin:at], then})
			begin = at + len(placeholder)
			at = begin - 1
		}
	}
	if begin < len(text) {
		t = append(t, segment{text[begin:], slotNone})
	}
	return t
}

// template is a text split at its placeholders; an empty one renders nothing.
// render puts values between the parts without scanning them, so a placeholder
// in a value has no effect.
type template []segment

// segment is a piece of text and what comes after it.
type segment struct {
	text string
	then slot
}

type slot uint8

const (
	slotNone slot = iota
	slotTask
	slotAttempt
	slotSeen
	slotCount
)

// values are what the slots of a template are filled with.
type values [slotCount][]byte

// size returns the length of what render writes.
func (t template) size(v *values) int {
	n := 0
	for i := range t {
		n += len(t[i].text) + len(v[t[i].then])
	}
	return n
}

// render writes the text with its values to b.
func (t template) render(b *strings.Builder, v *values) {
	for i := range t {
		b.WriteString(t[i].text)
		b.Write(v[t[i].then])
	}
}

// NothingOpen is the line with which the model answers the question if nothing is open.
const NothingOpen = "Nothing is open."

// question is the prompt for a user turn without a list.
const question = continuation.PromptPreamble + `

Is anything of what was asked still open? If so, go on with it now, with a tool call. If an error keeps you from it, or it needs a decision that only the user can make, call todo_pause('reason').

If nothing is open, reply with exactly this line, and nothing else:
` + NothingOpen

// Question returns the message that asks the model whether anything of what the user
// asked for is still open. Its first line is [continuation.PromptPreamble]. With pausesInWords
// it says how to pause without the tool.
func Question(pausesInWords bool) string {
	if pausesInWords {
		return question + inWords
	}
	return question
}

// nothingOpen is [NothingOpen] without what does not count.
const nothingOpen = "nothing is open"

// Reply reads the answer to a [Question] piece by piece. It tells whether the answer is
// the line [NothingOpen] and nothing else. Case, white space around the words,
// punctuation and the marks of Markdown do not count. The zero value stands for a turn
// that answers no question. It is small, because every open stream has one.
type Reply struct {
	matched uint8 // bytes of nothingOpen that were read
	spaced  bool  // white space was read since the last letter
	pending bool  // the answer may be the line
}

// NewReply returns a Reply that has read nothing.
func NewReply() Reply { return Reply{pending: true} }

// Add reads the next piece of the answer.
func (r *Reply) Add(text string) {
	if !r.pending {
		return
	}
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			r.spaced = r.matched > 0
		case !unicode.In(c, unicode.P, unicode.Sm, unicode.Sk):
			r.letter(unicode.ToLower(c))
		}
	}
}

// letter reads a character that counts.
func (r *Reply) letter(c rune) {
	rest := nothingOpen[r.matched:]
	space := len(rest) > 0 && rest[0] == ' '
	if space {
		rest = rest[1:]
	}
	if len(rest) == 0 || space != r.spaced || rune(rest[0]) != c {
		r.pending = false
		return
	}
	r.matched, r.spaced = uint8(len(nothingOpen)-len(rest)+1), false //nolint:gosec // the line is short
}

// Release notes that the answer holds something else than the line.
func (r *Reply) Release() { r.pending = false }

// IsPending reports whether the answer may be the line: what was read of it is the
// beginning of the line, or all of it.
func (r *Reply) IsPending() bool { return r.pending }

// SaysNothingOpen reports whether what was read is the line and nothing else.
func (r *Reply) SaysNothingOpen() bool { return r.pending && int(r.matched) == len(nothingOpen) }
