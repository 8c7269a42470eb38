package chatcompletions

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// writeBody writes the part of the model's message that is shown.
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
			w.shown(name, w.apart(name, value))
		}
	}, "content", reasoning)
}

// apart returns the value of a member with the separator put before its
// reasoning, if it has any.
func (w *writer) apart(name string, value []byte) []byte {
	switch text := w.dialect.text(value); {
	case w.edit.ReasoningSeparator == "":
		return value
	case slices.Contains(reasoningNames[:], name) && text != "":
		return rawjson.Quote(w.edit.ReasoningSeparator + text)
	case name == "reasoning_details":
		return w.detailsApart(value)
	}
	return value
}

// detailsApart returns reasoning in OpenRouter's form with the separator before
// its first text. It does not change Anthropic's reasoning, which is signed:
// the provider checks the signature when the reasoning is sent back.
func (w *writer) detailsApart(details []byte) []byte {
	s := rawjson.Over(details)
	for range s.Elements() {
		detail := s.Raw()
		if strings.HasPrefix(rawjson.TextOf(rawjson.Member(detail, "format")), "anthropic") {
			return details
		}
		m := rawjson.Over(detail)
		for name := range m.Members() {
			own := m.Raw()
			if (name == "text" || name == "summary") && rawjson.IsString(own) && !rawjson.IsEmpty(own) {
				at := s.At() - len(detail) + m.At() - len(own) + 1
				return slices.Concat(details[:at], bytes.Trim(rawjson.Quote(w.edit.ReasoningSeparator), `"`), details[at:])
			}
		}
	}
	return details
}

// shown writes a member, which the caller must see unless it is empty.
func (w *writer) shown(name string, value []byte) {
	w.shows = w.shows || !rawjson.IsEmpty(value)
	w.member(name, value)
}

// content writes the text in place of own, which is a string, a list of parts,
// null, or absent.
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

// parts writes a content that is a list of parts: the text goes into the first
// text part, and other parts do not change.
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

// toolCalls writes the calls that are shown. It leaves out an empty list, which
// some clients take for the end of the text.
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
