package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/conversation"
)

// A message that the agent wrote is none of the user's. A summary stands for what has answered the user, too.
func TestMessagesOfTheUser(t *testing.T) {
	t.Parallel()
	const (
		summary  = "This session is being continued from a previous conversation that ran out of context."
		reminder = "<system-reminder>Today is Sunday.</system-reminder>"
		answer   = "\x00" // of the model
	)
	for name, c := range map[string]struct {
		messages         []string
		user, previous   string
		users, firstCall int
		unanswered       bool
	}{
		"one":                        {[]string{"Go."}, "Go.", "", 1, 0, true},
		"answered":                   {[]string{"Go.", answer}, "Go.", "", 1, 2, false},
		"another":                    {[]string{"Go.", answer, "Stop."}, "Stop.", "<" + answer + ">", 2, 0, true},
		"a reminder behind it":       {[]string{"Go.", reminder}, "Go.", "", 1, 0, true},
		"a reminder behind a call":   {[]string{"Go.", answer, reminder}, "Go.", "", 1, 2, false},
		"a summary behind it":        {[]string{"Go.", summary}, "Go.", "", 1, 0, false},
		"a summary before it":        {[]string{summary, "Go."}, "Go.", "<" + summary + ">", 1, 0, true},
		"a summary alone":            {[]string{summary}, "", "", 0, 0, false},
		"a summary, then a call":     {[]string{summary, answer}, "", "", 0, 2, false},
		"a summary, then a reminder": {[]string{"Go.", summary, reminder}, "Go.", "", 1, 0, false},
		"nothing":                    {nil, "", "", 0, 0, false},
	} {
		var r conversation.Reader[string]
		for _, m := range c.messages {
			if m == answer {
				r.AddAnswer(true)
			} else {
				r.AddUser(m)
			}
			r.EndMessage(m)
		}
		firstCall := 1 + r.End(func(message string) string {
			if message == "" {
				return ""
			}
			return "<" + message + ">"
		})
		assert.Equal(t, []any{c.user, c.previous, c.users, c.unanswered}, []any{r.User, r.Previous, r.Users, r.Unanswered}, name)
		assert.Equal(t, c.firstCall, firstCall, name)
		assert.Equal(t, len(c.messages), r.Messages, name)
	}
}

func TestMessagesOfTheUserUseNoMemory(t *testing.T) { //nolint:paralleltest // measures memory
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		var r conversation.Reader[string]
		for _, text := range [...]string{"Go.", "<b>Go.</b>", "<system-reminder>Today is Sunday.</system-reminder>"} {
			r.AddUser(text)
			r.EndMessage(text)
		}
	}))
}
