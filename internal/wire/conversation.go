package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
)

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
		e.Replace(s.At()-len(raw), s.At(), quoted)
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
