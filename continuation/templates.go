package continuation

import (
	"cmp"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	taskPlaceholder    = "taskDescription"
	attemptPlaceholder = "attemptCount"
)

// Templates are the texts that prompts are made of. A text may hold two
// placeholders, as often as it likes: {taskDescription}, which every Base
// needs, and {attemptCount}. The description holds no straight apostrophe, so
// that between a pair of them it is bound to stay data:
// '{taskDescription}'. Any other braces around one word are refused, for they
// are a misspelt placeholder; braces around more than that, JSON for example,
// are ordinary text.
//
// An empty text means the one of [LongTemplates], so that the zero value is
// ready to use. White space around a text is dropped, as a [Prompter] does the
// spacing; a Retry or Urgent that is nothing else leaves its line out.
type Templates struct {
	Standard StandardTemplates
	YOLO     YOLOTemplates
}

// StandardTemplates are the texts for hosts that let the model ask before it
// acts, which is the default.
type StandardTemplates struct {
	// Base is the body of each prompt.
	Base string
	// Retry is added from attempt 2 on.
	Retry string
}

// YOLOTemplates are the texts for hosts whose user approved everything in
// advance.
type YOLOTemplates struct {
	// Base is the body of each prompt.
	Base string
	// Retry is added at attempt 2.
	Retry string
	// Urgent is added from attempt 3 on.
	Urgent string
}

// LongTemplates returns the built-in texts, which a zero [Templates] stands
// for.
func LongTemplates() Templates {
	t := OneLineTemplates()
	t.Standard.Base = `You have an active task that needs completion:
'{taskDescription}'

Continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from continuing.

Remember to:
- Focus on the specific task described
- Make concrete progress toward completion
- Update the task status when appropriate
- Use todo_pause() if you encounter blockers or need a decision that only the user can make`
	t.YOLO.Base = `CONTINUE TASK IMMEDIATELY:
'{taskDescription}'

You MUST continue working on this task. Call todo_pause('reason') ONLY if there's an error preventing you from proceeding.

YOLO MODE - Take action now:
- Execute the task without asking for confirmation
- Make concrete progress immediately
- Only pause if there are actual blocking errors
- Update task status when complete`
	return t
}

// OneLineTemplates returns built-in texts whose Base is a single line, for
// models that need no more or pay dearly for each token.
func OneLineTemplates() Templates {
	return Templates{
		Standard: StandardTemplates{
			Base: "You have an active task: '{taskDescription}'. Continue working on this task. " +
				"Call todo_pause('reason') ONLY if there's an error preventing you from continuing.",
			Retry: "Note: This is continuation attempt #{attemptCount}. " +
				"Please make sure to take concrete action.",
		},
		YOLO: YOLOTemplates{
			Base: "CONTINUE TASK IMMEDIATELY: '{taskDescription}'. You MUST continue working on this task. " +
				"Call todo_pause('reason') ONLY if there's an error preventing you from proceeding.",
			Retry: "ATTEMPT #{attemptCount} - Take action now without asking for confirmation.",
			Urgent: "ATTEMPT #{attemptCount} - YOU MUST TAKE ACTION NOW. " +
				"No more analysis, proceed with execution.",
		},
	}
}

// Validate reports every text that [NewPrompter] would refuse. The error is or
// wraps one [*TemplateError] for each.
func (t Templates) Validate() error {
	_, err := t.compile()
	return err
}

// TemplateError says what is wrong with one text of [Templates]. Find it with
// [errors.As].
type TemplateError struct {
	// Template names the text as a path of fields, such as "YOLO.Urgent".
	Template string
	// Placeholder is the name that is unknown or missing, without braces. It
	// is empty if the text is not valid UTF-8.
	Placeholder string
	// Problem is the fault in words.
	Problem string
}

// Error returns a message such as
// "continuation: template Standard.Base: unknown placeholder {task}".
func (e *TemplateError) Error() string {
	return "continuation: template " + e.Template + ": " + e.Problem
}

// compile parses each text once, and fails with all faults in field order.
func (t Templates) compile() (*Prompter, error) {
	var c compiler
	d := LongTemplates()
	var p Prompter
	p.standard.base = c.body("Standard.Base", cmp.Or(t.Standard.Base, d.Standard.Base))
	p.standard.added[1] = c.addition("Standard.Retry", cmp.Or(t.Standard.Retry, d.Standard.Retry))
	p.standard.added[2] = p.standard.added[1]
	p.yolo.base = c.body("YOLO.Base", cmp.Or(t.YOLO.Base, d.YOLO.Base))
	p.yolo.added[1] = c.addition("YOLO.Retry", cmp.Or(t.YOLO.Retry, d.YOLO.Retry))
	p.yolo.added[2] = c.addition("YOLO.Urgent", cmp.Or(t.YOLO.Urgent, d.YOLO.Urgent))
	if err := errors.Join(c.faults...); err != nil {
		return nil, err
	}
	return &p, nil
}

// compiler turns texts into templates and gathers what is wrong with them.
type compiler struct{ faults []error }

// body compiles the body of a prompt, with the line that every prompt opens
// with.
func (c *compiler) body(name, text string) template {
	t, ok := c.parse(name, PromptPreamble+"\n\n"+strings.TrimSpace(text))
	if ok && t.tasks == 0 {
		c.fault(name, taskPlaceholder, "needs {"+taskPlaceholder+"}")
	}
	return t
}

// addition compiles a text that may follow the body, or nothing.
func (c *compiler) addition(name, text string) template {
	if text = strings.TrimSpace(text); text != "" {
		text = "\n\n" + text
	}
	t, _ := c.parse(name, text)
	return t
}

func (c *compiler) fault(name, placeholder, problem string) {
	c.faults = append(c.faults, &TemplateError{Template: name, Placeholder: placeholder, Problem: problem})
}

// parse splits text at its placeholders, and reports whether it could.
func (c *compiler) parse(name, text string) (template, bool) {
	var t template
	if !utf8.ValidString(text) {
		c.fault(name, "", "not valid UTF-8")
		return t, false
	}
	for {
		start, end := nextPlaceholder(text)
		if end == 0 {
			t.add(text, slotNone)
			return t, true
		}
		switch word := text[start+1 : end-1]; word {
		case taskPlaceholder:
			t.add(text[:start], slotTask)
		case attemptPlaceholder:
			t.add(text[:start], slotAttempt)
		default:
			c.fault(name, word, "unknown placeholder {"+word+"}")
			return t, false
		}
		text = text[end:]
	}
}

// nextPlaceholder returns where the first "{word}" of text begins and ends; an
// end of 0 means that there is none.
func nextPlaceholder(text string) (start, end int) {
	open := -1
	for i, r := range text {
		switch {
		case r == '{':
			open = i
		case r == '}' && open >= 0 && i > open+1:
			return open, i + 1
		case !isWord(r):
			open = -1
		}
	}
	return 0, 0
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// template is a text split at its placeholders. Values are put between the
// parts and never scanned, so that no value can hold a placeholder.
type template struct {
	segments        []segment
	literal         int // bytes of all texts
	tasks, attempts int // how often each value occurs
}

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
)

// values are what the slots of a template are filled with.
type values struct{ task, attempt []byte }

func (t *template) add(text string, then slot) {
	t.segments = append(t.segments, segment{text: text, then: then})
	t.literal += len(text)
	switch then {
	case slotTask:
		t.tasks++
	case slotAttempt:
		t.attempts++
	}
}

// empty reports whether there is nothing to render.
func (t *template) empty() bool {
	return t.literal == 0
}

// size returns the length of what render writes.
func (t *template) size(v *values) int {
	return t.literal + t.tasks*len(v.task) + t.attempts*len(v.attempt)
}

// render writes the text with its values to b.
func (t *template) render(b *strings.Builder, v *values) {
	for i := range t.segments {
		b.WriteString(t.segments[i].text)
		switch t.segments[i].then {
		case slotTask:
			b.Write(v.task)
		case slotAttempt:
			b.Write(v.attempt)
		}
	}
}
