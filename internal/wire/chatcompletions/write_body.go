package chatcompletions

import (
	"strconv"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// writeBody writes what the model says, as far as it is shown.
func (w *writer) writeBody(own []byte) {
	reasoning := w.reasoningKey()
	if own == nil && w.text == "" && reasoning == "" {
		return
	}
	if w.synthetic() {
		own = nil
	}
	w.key(w.body())
	w.object(own, func(name string, value []byte) {
		switch {
		case name == "role" && w.edit.Continuation && w.document == nil: // of the chunks only the first turn's have one
		case name == "content":
			w.content(value)
		case name == "tool_calls":
			w.toolCalls(value)
		case name != "" && name == reasoning:
			w.shown(name, rawjson.Quote(w.document.reasoning.Text()))
		case value != nil:
			w.shown(name, value)
		}
	}, "content", reasoning)
}

// shown writes a member that the caller must see unless it is empty.
func (w *writer) shown(name string, value []byte) {
	w.shows = w.shows || !rawjson.IsEmpty(value)
	w.member(name, value)
}

// content writes the text in place of own, which is a string, a list of parts,
// or null; or not there.
func (w *writer) content(own []byte) {
	w.shows = w.shows || w.text != ""
	switch {
	case len(own) > 0 && own[0] == '[' && (w.document == nil || w.document.inParts):
		w.parts(own)
	case own != nil && w.text == w.dialect.text(own):
		w.member("content", own)
	case own != nil || w.text != "":
		w.member("content", rawjson.Quote(w.text))
	}
}

// parts writes a content that is a list of parts: the text in its first part of
// text, and what is not text unchanged.
func (w *writer) parts(own []byte) {
	text := w.text
	w.key("content")
	w.out = append(w.out, '[')
	s := rawjson.Over(own)
	for range s.Elements() {
		part := s.Raw()
		if w.dialect.text(rawjson.Member(part, "type")) != "text" {
			w.comma('[')
			w.out, w.shows = append(w.out, part...), true
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
		w.comma('[')
		w.out = rawjson.AppendQuote(append(w.out, `{"type":"text","text":`...), text)
		w.out = append(w.out, '}')
	}
}

// reasoningKey returns the member in which a whole answer shows the reasoning of
// the turns that were kept, or "" if there is none.
func (w *writer) reasoningKey() string {
	if w.document == nil || w.document.reasoning.Text() == "" {
		return ""
	}
	return w.document.reasoningKey
}

// toolCalls writes those calls that are shown. An empty list is left out: some
// clients take it for the end of the text.
func (w *writer) toolCalls(own []byte) {
	mark := len(w.out)
	w.key("tool_calls")
	w.out = append(w.out, '[')
	s := rawjson.Over(own)
	for range s.Elements() {
		w.toolCall(s.Raw())
	}
	if w.out[len(w.out)-1] == '[' {
		w.out = w.out[:mark]
		return
	}
	w.shows = true
	w.out = append(w.out, ']')
}

func (w *writer) toolCall(own []byte) {
	edit := w.edit.Call(w.calls)
	w.calls++
	s := rawjson.Over(own)
	switch {
	case edit.Drop && (!edit.Rewrite || !readCall(&s).more): // a fragment of a shown call may have more to say
		return
	case !edit.Rewrite || w.document != nil:
		w.comma('[')
		w.out = append(w.out, own...)
		return
	}
	w.comma('[')
	w.object(own, func(name string, value []byte) {
		switch {
		case name == "index":
			w.member(name, strconv.AppendInt(nil, int64(edit.Index), 10))
		case name != "type":
			w.member(name, value)
		case edit.First && rawjson.IsEmpty(value):
			w.member(name, []byte(`"function"`))
		case edit.First:
			w.member(name, value)
		}
	}, "index", "type")
}
