package quirks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// ideal returns the readings of a row by a client without faults.
func ideal(q quirks.Quirk) quirks.Readings {
	return quirks.Readings{First: q.First.Means, Second: q.Second.Means, Joined: q.Means()}
}

// rightly is a client without faults.
const rightly = "a client without faults"

func TestJudgeAcceptsWhatIsMeant(t *testing.T) {
	t.Parallel()
	for _, q := range quirks.All() {
		assert.NoError(t, q.Judge(rightly, ideal(q)), q.Name)
	}
}

func TestJudgeRefusesWhatIsNotMeant(t *testing.T) {
	t.Parallel()
	const (
		joined  = "Q18 pause between two calls"
		dropped = "Q77 error object, turn 2"
		relayed = "Q36 finish length, turn 1"
	)
	for name, c := range map[string]struct {
		row    string
		change func(*quirks.Readings)
	}{
		"text lost":          {joined, func(s *quirks.Readings) { s.Joined.Text = s.First.Text }},
		"text twice":         {joined, func(s *quirks.Readings) { s.Joined.Text += s.Joined.Text }},
		"pause shown":        {joined, func(s *quirks.Readings) { s.Joined.Calls = s.Second.Calls }},
		"call lost":          {joined, func(s *quirks.Readings) { s.Joined.Calls = s.Joined.Calls[:1] }},
		"finish lost":        {joined, func(s *quirks.Readings) { s.Joined.Finish = "" }},
		"usage of one turn":  {joined, func(s *quirks.Readings) { s.Joined.Usage = s.Second.Usage }},
		"reasoning made up":  {joined, func(s *quirks.Readings) { s.Joined.Reasoning = "Hm." }},
		"error made up":      {joined, func(s *quirks.Readings) { s.Joined.Err = "bad JSON" }},
		"misread alone":      {joined, func(s *quirks.Readings) { s.Second.Calls = nil }},
		"first misread":      {relayed, func(s *quirks.Readings) { s.First.Finish, s.Joined.Finish = "stop", "stop" }},
		"error shown":        {dropped, func(s *quirks.Readings) { s.Joined.Text, s.Joined.Finish, s.Joined.Err = "The file", "", "overloaded" }},
		"usage of a failure": {dropped, func(s *quirks.Readings) { s.Joined.Usage.Total++ }},
		"relayed and joined": {relayed, func(s *quirks.Readings) { s.Joined.Text += "\n\nThe file is saved." }},
		"half a call whole":  {"Q79 cut within a call", func(s *quirks.Readings) { s.Joined.Err = "" }},
	} {
		q := row(t, c.row)
		s := ideal(q)
		c.change(&s)
		assert.Error(t, q.Judge(rightly, s), name)
	}
}

func TestJudgeAllowsForWhatAClientMisreads(t *testing.T) {
	t.Parallel()
	misread := func(name string, change func(q *quirks.Quirk, s *quirks.Readings)) (quirks.Quirk, quirks.Readings) {
		q := row(t, name)
		q.Misreads = map[string]string{rightly: "something"}
		s := ideal(q)
		change(&q, &s)
		return q, s
	}
	for name, change := range map[string]func(*quirks.Quirk, *quirks.Readings){
		"it reads what follows": func(_ *quirks.Quirk, s *quirks.Readings) {
			s.Second.Text = "The"
			s.Joined.Text = s.First.Text + "\n\nThe"
		},
		"it reads what is meant": func(_ *quirks.Quirk, s *quirks.Readings) { s.Second.Finish = "" },
		"it fails as before": func(_ *quirks.Quirk, s *quirks.Readings) {
			s.Second = quirks.Reading{Err: "bad JSON"}
			s.Joined = quirks.Reading{Text: s.First.Text, Err: "bad JSON"}
		},
		"it gives nothing but an error": func(_ *quirks.Quirk, s *quirks.Readings) {
			s.Second = quirks.Reading{Err: "too long"}
			s.Joined = s.Second
		},
		"it reads as much as without": func(_ *quirks.Quirk, s *quirks.Readings) {
			s.First.Text = "I"
			s.Joined = s.First
		},
		"it is deaf, and fails": func(_ *quirks.Quirk, s *quirks.Readings) {
			s.First = quirks.Reading{}
			s.Joined = quirks.Reading{Err: "bad JSON"}
		},
		"the row knows better": func(q *quirks.Quirk, s *quirks.Readings) {
			q.ReadsAs = map[string]string{rightly: "odd"}
			s.Second.Text, s.Joined.Text = "dd", "odd"
		},
	} {
		q, s := misread("Q00 a tool call as OpenAI sends it, turn 2", func(q *quirks.Quirk, s *quirks.Readings) {
			q.Second.Means.Text = "The file"
			*s = ideal(*q)
			change(q, s)
		})
		require.NoError(t, q.Judge(rightly, s), name)
	}
	q, s := misread("Q72 no DONE, turn 2", func(_ *quirks.Quirk, s *quirks.Readings) {
		s.Second.Text = "The"
		s.Joined.Text = "Th"
	})
	require.Error(t, q.Judge(rightly, s), "it reads worse than what follows")
	q, s = misread("Q72 no DONE, turn 2", func(*quirks.Quirk, *quirks.Readings) {})
	assert.ErrorContains(t, q.Judge(rightly, s), "does not misread", "the row says what is not so")
}

func TestJudgeAllowsForUsageThatIsToldEarly(t *testing.T) {
	t.Parallel()
	q := row(t, "Q42 usage just before the finish, turn 1")
	s := ideal(q)
	s.Joined.Usage = quirks.Usage{Prompt: 26, Completion: 15, Total: 41} // what was told before, and the joined usage
	require.NoError(t, q.Judge(rightly, s))
	s.Joined.Usage.Total++
	assert.Error(t, q.Judge(rightly, s))
}
