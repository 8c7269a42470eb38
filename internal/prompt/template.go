package prompt

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/carryon-go/carryon/continuation"
)

const (
	taskPlaceholder    = "taskDescription"
	attemptPlaceholder = "attemptCount"
)

// New returns a Prompter for the texts of t. The error wraps one
// [*continuation.TemplateError] for each text that is refused, in field order.
func New(t continuation.Templates) (*Prompter, error) {
	var c compiler
	d := continuation.LongTemplates()
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

// placeholder returns the expression for braces around one word, which it
// captures. Compiling it takes longer than all else that New does.
var placeholder = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // constant
	return regexp.MustCompile(`\{([\p{L}\p{Nd}_]+)\}`)
})

// compiler turns texts into templates and collects their errors.
type compiler struct{ faults []error }

// body compiles the body of a prompt, with the line that every prompt opens
// with. What was seen of the turn follows the first line with the description.
func (c *compiler) body(name, text string) template {
	t, ok := c.parse(name, continuation.PromptPreamble+"\n\n"+strings.TrimSpace(text))
	if !ok {
		return nil
	}
	task := slices.IndexFunc(t, func(s segment) bool { return s.then == slotTask })
	if task < 0 {
		c.fault(name, taskPlaceholder, "needs {"+taskPlaceholder+"}")
		return nil
	}
	for i := task + 1; i < len(t); i++ {
		if line, rest, ends := strings.Cut(t[i].text, "\n"); ends {
			return slices.Replace(t, i, i+1, segment{line, slotSeen}, segment{"\n" + rest, t[i].then})
		}
	}
	return append(t, segment{"", slotSeen})
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
	c.faults = append(c.faults, &continuation.TemplateError{Template: name, Placeholder: placeholder, Problem: problem})
}

// parse splits text at its placeholders, and reports whether it could.
func (c *compiler) parse(name, text string) (template, bool) {
	var t template
	if !utf8.ValidString(text) {
		c.fault(name, "", "not valid UTF-8")
		return t, false
	}
	end := 0
	for _, at := range placeholder().FindAllStringSubmatchIndex(text, -1) {
		before := text[end:at[0]]
		end = at[1]
		switch word := text[at[2]:at[3]]; word {
		case taskPlaceholder:
			t = append(t, segment{before, slotTask})
		case attemptPlaceholder:
			t = append(t, segment{before, slotAttempt})
		default:
			c.fault(name, word, "unknown placeholder {"+word+"}")
			return t, false
		}
	}
	if end < len(text) {
		t = append(t, segment{text[end:], slotNone})
	}
	return t, true
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
