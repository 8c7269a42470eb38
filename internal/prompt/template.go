package prompt

import (
	"cmp"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/placeholder"
)

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
