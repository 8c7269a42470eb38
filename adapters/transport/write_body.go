package transport

import (
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// writeBody writes what the model says, as far as it is to be shown.
func (w *writer) writeBody(s *rawjson.Scanner) {
	if w.edit.Rest || s.Kind() != '{' {
		s.Skip()
		empty := rawjson.Over([]byte("{}"))
		s = &empty
	}
	content, reasoned, key := false, false, w.extra.key()
	w.out = append(w.out, '{')
	for s.Open('{'); s.Member(); {
		name := string(s.Key())
		switch name {
		case "role":
			w.role(s.Raw())
		case "content":
			content = true
			w.content(s.Raw())
		case "tool_calls":
			w.toolCalls(s)
		case reasoningNames[0], reasoningNames[1]:
			raw := s.Raw()
			reasoned = reasoned || name == key
			w.reasoningMember(name, raw)
		default:
			raw := s.Raw()
			w.left = w.left || says(raw)
			w.member(name, raw)
		}
	}
	if !content {
		w.addText()
	}
	if !reasoned && key != "" {
		w.reasoningMember(key, nil)
	}
	w.out = append(w.out, '}')
}

// role writes the role, which only the first turn's chunks have.
func (w *writer) role(own []byte) {
	if w.edit.Later && !w.whole {
		return
	}
	w.left = w.left || says(own)
	w.member("role", own)
}

// says reports whether a member of a kind that is not known has something to
// say.
func says(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// addText writes the text, in a body that has no content.
func (w *writer) addText() {
	if w.edit.Text != "" {
		w.left = true
		w.member("content", rawjson.Quote(w.edit.Text))
	}
}

// content writes the text in place of own, which is a string, a list of parts,
// or null.
func (w *writer) content(own []byte) {
	w.left = w.left || w.edit.Text != ""
	switch {
	case len(own) > 0 && own[0] == '[' && (!w.whole || w.extra != nil && w.extra.listed):
		w.parts(own)
	case w.edit.Text == w.text(own):
		w.member("content", own)
	default:
		w.member("content", rawjson.Quote(w.edit.Text))
	}
}

// parts writes a content that is a list of parts: the text in its first part
// that is one, and what is not text as it is.
func (w *writer) parts(own []byte) {
	text := w.edit.Text
	w.key([]byte("content"))
	w.out = append(w.out, '[')
	s := rawjson.Over(own)
	for s.Open('['); s.Element(); {
		part := s.Raw()
		if w.text(member(part, "type")) != "text" {
			w.separate()
			w.out, w.left = append(w.out, part...), true
			continue
		}
		w.part(text)
		text = ""
	}
	w.part(text)
	w.out = append(w.out, ']')
}

func (w *writer) part(text string) {
	if text != "" {
		w.separate()
		w.out = append(append(append(w.out, `{"type":"text","text":`...), rawjson.Quote(text)...), '}')
	}
}

// reasoningMember writes the reasoning: of a chunk its own, of a whole answer
// that of all turns.
func (w *writer) reasoningMember(name string, own []byte) {
	if name == w.extra.key() {
		own = rawjson.Quote(strings.Join(w.extra.reasoning, middleware.Seam))
	}
	w.left = w.left || says(own)
	w.member(name, own)
}

// toolCalls writes those calls that are to be shown. An empty list is left out,
// which some clients take for the end of the text.
func (w *writer) toolCalls(s *rawjson.Scanner) {
	if s.Kind() != '[' {
		s.Skip()
		return
	}
	mark := len(w.out)
	w.key([]byte("tool_calls"))
	w.out = append(w.out, '[')
	for s.Open('['); s.Element(); {
		w.toolCall(s)
	}
	if w.out[len(w.out)-1] == '[' {
		w.out = w.out[:mark]
		return
	}
	w.left = true
	w.out = append(w.out, ']')
}

func (w *writer) toolCall(s *rawjson.Scanner) {
	edit := w.edit.Call(w.calls)
	w.calls++
	start := *s
	raw := s.Raw()
	c := readCall(&start)
	switch {
	case edit.Drop && (!edit.Rewrite || !c.more): // a fragment of a shown call may have more to say
		return
	case !edit.Rewrite || w.whole:
		w.separate()
		w.out = append(w.out, raw...)
		return
	}
	typed, indexed := !edit.First, false
	w.separate()
	w.out = append(w.out, '{')
	call := rawjson.Over(raw)
	for call.Open('{'); call.Member(); {
		value := call.Raw()
		switch name := string(call.Key()); {
		case name == "index":
			indexed = true
			w.count(name, edit.Index)
		case name != "type":
			w.member(name, value)
		case edit.First && says(value):
			typed = true
			w.member(name, value)
		}
	}
	if !indexed {
		w.count("index", edit.Index)
	}
	if !typed {
		w.member("type", []byte(`"function"`))
	}
	w.out = append(w.out, '}')
}
