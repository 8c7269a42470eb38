package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/conversation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
)

// RequestReader reads the body of a request: above all, which messages are the user's. The zero value is ready. A protocol
// calls Begin at the list of messages, then the methods of [conversation.Reader] for each message, and End when the whole
// body was read.
type RequestReader struct {
	conversation.Reader[[]byte] // of the contents

	list rawjson.Scanner // at the list of messages
}

// Begin begins the list of messages, which is next in s.
func (r *RequestReader) Begin(s *rawjson.Scanner) {
	r.Reader.Begin()
	r.list = *s
}

// LeaveAloneIf records the reason to leave the request alone, if it applies and no other was recorded.
func (r *RequestReader) LeaveAloneIf(applies bool, reason continuation.Reason) {
	if applies && r.LeaveAlone == reasons.None {
		r.LeaveAlone = reason
	}
}

// End sets what all messages together say. textOf returns the text that identifies a content. addLoop adds what identifies
// a tool loop: the messages up to the first call, which is in the one with that index. list is at the list of messages.
func (r *RequestReader) End(textOf func(content []byte) string, addLoop func(list rawjson.Scanner, firstCall int, add func(text string))) {
	list := r.list
	if first := r.Reader.End(textOf); first >= 0 {
		r.Loop = func(add func(string)) { addLoop(list, first, add) }
	}
}

// Attach joins attachments to the messages, which are the next value in s: to the value of one of these members, or as
// the first of them if a message has none. partOf returns the part of a content that has a text.
func Attach(e *rawjson.Edits, s rawjson.Scanner, a *adapter.Additions, partOf func(text string) []byte, members ...string) {
	if len(a.Attachments) == 0 {
		return
	}
	all := maps.Collect(a.ByMessage())
	for at := range s.Elements() {
		texts := all[at]
		if len(texts) == 0 || s.Kind() != '{' {
			continue
		}
		var last rawjson.Edits // of the last member of that name, which counts
		found := false
		for name := range s.Members() {
			if slices.Contains(members, name) {
				last, found = last[:0], true
				AddTexts(&last, &s, texts, partOf)
			}
		}
		if !found {
			last.Insert(s.At()-1, slices.Concat([]byte{','}, rawjson.Quote(members[0]), []byte{':'}, rawjson.Quote(strings.Join(texts, ""))))
		}
		*e = append(*e, last...)
	}
}

// AddTexts adds texts to the content that is next in s, if it takes any: to the end of a string, or as parts behind all
// others. A content that is null counts as empty text.
func AddTexts(e *rawjson.Edits, s *rawjson.Scanner, texts []string, partOf func(text string) []byte) {
	list := *s
	quoted := rawjson.Quote(strings.Join(texts, ""))
	switch raw := s.Raw(); {
	case rawjson.IsNull(raw):
		e.ReplaceNext(&list, quoted)
	case rawjson.IsString(raw):
		e.Insert(s.At()-1, quoted[1:len(quoted)-1])
	case TakesText(raw):
		parts := make([][]byte, len(texts))
		for i, text := range texts {
			parts[i] = partOf(text)
		}
		e.Append(&list, parts...)
	}
}

// TakesText reports whether text can be added to a content, which is a string or a list of parts.
func TakesText(content []byte) bool {
	s := rawjson.Over(content)
	return s.Kind() == '"' || s.Open('[') && s.Element()
}
