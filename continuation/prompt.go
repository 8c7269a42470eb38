package continuation

import (
	"strconv"
	"strings"
)

// PromptPreamble is the first line of every prompt, whatever the templates. It
// keeps a model from taking the prompt for an answer or an approval by the
// user.
const PromptPreamble = "(Automatic message: no new message has come from the user.)"

const (
	// fallbackTask is quoted if the caller has nothing to describe.
	fallbackTask = "Complete task"
	// previousLabel begins the line on what came of the attempt before.
	previousLabel = "Previous attempt: "
	// promptScratch holds every value of a prompt: the description, the
	// attempt and the line on the attempt before.
	promptScratch = 2*lineBytes + 96
)

// Previous says what came of the attempt before a prompt.
type Previous uint8

const (
	// PreviousNone means that there is nothing to say.
	PreviousNone Previous = iota
	// PreviousSameAnswer means that the model repeated its answer.
	PreviousSameAnswer
	// PreviousNoProgress means that the model answered without calling a tool
	// and no todo changed.
	PreviousNoProgress
	// PreviousRejected means that the model tried to pause and its reason was
	// rejected.
	PreviousRejected
	// PreviousFailed means that the attempt ended in an error.
	PreviousFailed
)

// PromptInput is what one prompt depends on.
type PromptInput struct {
	// Task is the todo's content as its source gave it; see [Describe].
	Task string
	// Attempt counts continuations from 1, which is also what anything less
	// stands for.
	Attempt int
	// YOLO selects the texts for hosts whose user approved everything in
	// advance.
	YOLO bool
	// Previous is told to the model from attempt 2 on; PreviousRejected is
	// told at any attempt, for the model has no other way to learn of it.
	Previous Previous
	// Problem completes Previous. For PreviousRejected it is the error; it is
	// shown as one line of at most MaxDescription runes. For PreviousFailed it
	// is "timeout", "transport" or "HTTP " and a status of three digits;
	// anything else is not shown, so that no text of a provider gets into a
	// prompt.
	Problem string
}

// Prompter makes prompts. Only [NewPrompter] returns one that can be used. A
// Prompter never changes and is safe for concurrent use.
type Prompter struct {
	standard, yolo variant
}

// variant holds the texts of one approval mode.
type variant struct {
	base template
	// added is what follows the body, by attempt: nothing at the first, and
	// the last one's for all after it.
	added [3]template
}

// NewPrompter returns a Prompter for the texts of t, or the error of
// [Templates.Validate].
func NewPrompter(t Templates) (*Prompter, error) {
	return t.compile()
}

// Prompt returns the message that asks the model to carry on. Its first line
// is [PromptPreamble], followed by a blank line and the Base text; from attempt
// 2 on, and after another blank line, come the Retry or Urgent text and a line
// on the previous attempt. There is no newline at its end. The same input
// always gives the same prompt.
//
// A Task or Problem can add neither lines nor placeholders. A blank Task is
// called "Complete task".
func (p *Prompter) Prompt(in PromptInput) string {
	// All values share one buffer that never grows, each after the last, so
	// that the prompt itself is all there is to allocate.
	var scratch [promptScratch]byte
	number := max(in.Attempt, 1)
	v := values{task: appendDescription(scratch[:0], in.Task)}
	if len(v.task) == 0 {
		v.task = append(v.task, fallbackTask...)
	}
	v.attempt = strconv.AppendInt(v.task[len(v.task):], int64(number), 10)
	previous := appendPrevious(v.attempt[len(v.attempt):], in, number)
	body, addition := p.choose(in.YOLO, number)

	var b strings.Builder
	b.Grow(body.size(&v) + addition.size(&v) + len("\n\n") + len(previous))
	body.render(&b, &v)
	addition.render(&b, &v)
	if len(previous) > 0 {
		if addition.empty() {
			b.WriteByte('\n') // what follows the body begins with a blank line
		}
		b.WriteByte('\n')
		b.Write(previous)
	}
	return b.String()
}

// choose returns the body of a prompt and what to add to it.
func (p *Prompter) choose(yolo bool, number int) (body, addition *template) {
	v := &p.standard
	if yolo {
		v = &p.yolo
	}
	return &v.base, &v.added[min(number, len(v.added))-1]
}

// appendPrevious appends the line on the attempt before, if there is one.
func appendPrevious(dst []byte, in PromptInput, number int) []byte {
	if number == 1 && in.Previous != PreviousRejected {
		return dst
	}
	switch in.Previous {
	case PreviousSameAnswer:
		dst = append(dst, previousLabel+"same answer as before"...)
	case PreviousNoProgress:
		dst = append(dst, previousLabel+"no tool was called and no todo changed"...)
	case PreviousRejected:
		dst = append(dst, previousLabel+"the pause reason was rejected"...)
		dst = appendProblem(dst, in.Problem)
	case PreviousFailed:
		dst = append(dst, previousLabel+"it failed"...)
		if kind := failureKind(in.Problem); kind != "" {
			dst = append(dst, " ("...)
			dst = append(dst, kind...)
			dst = append(dst, ')')
		}
	}
	return dst
}

// appendProblem appends ": " and problem as one line, or nothing if it is
// blank.
func appendProblem(dst []byte, problem string) []byte {
	if Blank(problem) {
		return dst
	}
	dst = append(dst, ": "...)
	start := len(dst)
	dst = appendLine(dst, problem, MaxDescription+1, '\'')
	return append(dst[:start], cutLine(dst[start:], MaxDescription)...)
}

// failureKind returns the part of problem that is certain to be none of a
// provider's words.
func failureKind(problem string) string {
	const prefix, length = "HTTP ", len("HTTP 000")
	if problem == "timeout" || problem == "transport" {
		return problem
	}
	if len(problem) < length || !strings.HasPrefix(problem, prefix) {
		return ""
	}
	for _, c := range []byte(problem[len(prefix):length]) {
		if c < '0' || c > '9' {
			return ""
		}
	}
	return problem[:length]
}
