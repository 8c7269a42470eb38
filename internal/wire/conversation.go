package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
)

// Facts are the facts about a request, as its body is read: above all, the last message of the user and what follows it.
// The zero value is ready. A protocol calls Begin at the list of messages; for each message AddUser or AddAnswer, or
// neither, and then EndMessage; and End when the body was read.
type Facts struct {
	adapter.Request

	list      rawjson.Scanner // at the list of messages
	firstCall int             // the number of the message with the first call after the user's last one, or 0
	previous  []byte          // the content of the message before the user's last one
	last      []byte          // the content of the message that was added last
}

// Begin begins the list of messages, which is next in s. If there are several lists, the last one counts.
func (f *Facts) Begin(s *rawjson.Scanner) {
	f.Messages, f.System, f.Users, f.User, f.FirstUser, f.Unanswered = 0, 0, 0, "", "", false
	f.list, f.firstCall, f.previous, f.last = *s, 0, nil, nil
}

// AddUser adds a message with the role of the user, which text identifies.
func (f *Facts) AddUser(text string) {
	if adapter.IsAutomatic(text) {
		f.Unanswered = f.Unanswered && !automatic.IsSummary(text) // the summary is also of what answered the user
		return
	}
	if f.Users == 0 {
		f.FirstUser = text
	}
	f.Users++
	f.User, f.Unanswered, f.firstCall, f.previous = text, true, 0, f.last
}

// AddAnswer adds a message of the model, which may call tools, or of a tool.
func (f *Facts) AddAnswer(calls bool) {
	f.Unanswered = false
	if calls && f.firstCall == 0 {
		f.firstCall = f.Messages + 1
	}
}

// EndMessage ends the message that was added, which has this content.
func (f *Facts) EndMessage(content []byte) {
	f.Messages++
	f.last = content
}

// LeaveAloneIf records the reason to leave the request alone, if it applies and no other was recorded.
func (f *Facts) LeaveAloneIf(applies bool, reason continuation.Reason) {
	if applies && f.LeaveAlone == reasons.None {
		f.LeaveAlone = reason
	}
}

// End sets what all messages together say. textOf returns the text that identifies a content. addLoop adds what identifies
// a tool loop: the messages up to the first call, which is in the one with that index. list is at the list of messages.
func (f *Facts) End(textOf func(content []byte) string, addLoop func(list rawjson.Scanner, firstCall int, add func(text string))) {
	if f.Unanswered {
		f.Previous = textOf(f.previous)
	}
	if list, first := f.list, f.firstCall-1; first >= 0 {
		f.Loop = func(add func(string)) { addLoop(list, first, add) }
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
