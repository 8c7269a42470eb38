// Package prompt writes the message that asks the model to carry on, from the
// texts of [continuation.Templates].
package prompt

import (
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
