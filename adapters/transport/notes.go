package transport

import (
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// carrier returns the function that tells the engine where notes can be joined.
// It reads the messages if it is called, which it is if there are any.
func (r *request) carrier() func(i int) (string, bool) {
	var messages [][]byte
	return func(i int) (string, bool) {
		if messages == nil {
			body, err := r.bytes()
			if err != nil {
				return "", false
			}
			messages = elements(member(body, "messages"))
		}
		if i >= len(messages) {
			return "", false
		}
		s := rawjson.Over(messages[i])
		m := readMessage(&s)
		role := string(m.role)
		return contentOf(m.content), (role == `"user"` || role == `"tool"`) && takesText(m.content)
	}
}

// takesText reports whether text can be added to a content. One that is absent
// or null is an empty text, which some clients leave out.
func takesText(content []byte) bool {
	s := rawjson.Over(content)
	return rawjson.IsNull(content) || s.Kind() == '"' || s.Open('[') && s.Element()
}

// annotate returns the body with the notes joined to its messages.
func annotate(body []byte, notes []middleware.Note) []byte {
	if len(notes) == 0 {
		return body
	}
	var e rawjson.Edits
	s := rawjson.Over(body)
	for s.Open('{'); s.Member(); {
		if string(s.Key()) != "messages" || s.Kind() != '[' {
			s.Skip()
			continue
		}
		at := 0
		for s.Open('['); s.Element(); at++ {
			annotateMessage(&e, &s, at, notes)
		}
	}
	return e.Apply(body)
}

// annotateMessage joins to a message what is meant for it.
func annotateMessage(e *rawjson.Edits, s *rawjson.Scanner, at int, notes []middleware.Note) {
	texts := textsFor(at, notes)
	if s.Kind() != '{' || len(texts) == 0 {
		s.Skip()
		return
	}
	absent := true
	for s.Open('{'); s.Member(); {
		if string(s.Key()) != "content" {
			s.Skip()
			continue
		}
		absent = false
		start := *s
		if takesText(s.Raw()) {
			addTexts(e, start, s.At(), texts)
		}
	}
	if absent {
		e.Insert(s.At()-1, append([]byte(`,"content":`), rawjson.Quote(strings.Join(texts, ""))...))
	}
}

// textsFor returns the texts of the notes for one message.
func textsFor(message int, notes []middleware.Note) []string {
	var texts []string
	for _, note := range notes {
		if note.Message == message {
			texts = append(texts, note.Text)
		}
	}
	return texts
}

// addTexts adds texts to the content that s is at and that ends at an offset.
func addTexts(e *rawjson.Edits, s rawjson.Scanner, end int, texts []string) {
	switch s.Kind() {
	case '[':
		for _, text := range texts {
			at := s
			appendTo(e, &at, marshal(struct {
				Type string `json:"type"`
				Text string `json:"text"`
			}{"text", text}))
		}
	case '"':
		quoted := rawjson.Quote(strings.Join(texts, ""))
		e.Insert(end-1, quoted[1:len(quoted)-1])
	default:
		e.Replace(s.At(), end, rawjson.Quote(strings.Join(texts, "")))
	}
}
