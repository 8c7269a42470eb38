package transport

import (
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

// takesText reports whether text can be added to a content.
func takesText(content []byte) bool {
	s := rawjson.Over(content)
	return s.Kind() == '"' || s.Open('[') && s.Element()
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
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	for s.Open('{'); s.Member(); {
		if string(s.Key()) != "content" {
			s.Skip()
			continue
		}
		start := *s
		raw := s.Raw()
		for _, note := range notes {
			if note.Message == at && takesText(raw) {
				addText(e, start, s.At(), note.Text)
			}
		}
	}
}

// addText adds text to the content that s is at and that ends at an offset.
func addText(e *rawjson.Edits, s rawjson.Scanner, end int, text string) {
	if s.Kind() == '[' {
		appendTo(e, &s, marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"text", text}))
		return
	}
	quoted := rawjson.Quote(text)
	e.Insert(end-1, quoted[1:len(quoted)-1])
}
