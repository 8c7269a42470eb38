package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/session"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	before := continuation.State{Unjudged: true, Watermarks: continuation.Watermarks{Set: true, Todos: 4, Completed: 1, Active: 3}}
	for name, c := range map[string]struct {
		change            func(before *continuation.State)
		completed, active int
		want              session.Verdict
	}{
		"todos finished":        {nil, 3, 1, session.Verdict{Kind: session.Progress, Finished: 2}},
		"todos cancelled":       {nil, 1, 1, session.Verdict{Kind: session.Progress}},
		"nothing":               {nil, 1, 3, session.Verdict{Kind: session.NoProgress}},
		"the same answer":       {func(s *continuation.State) { s.LastResult = continuation.ResultSameAnswer }, 1, 3, session.Verdict{Kind: session.Repeated}},
		"progress all the same": {func(s *continuation.State) { s.LastResult = continuation.ResultSameAnswer }, 2, 2, session.Verdict{Kind: session.Progress, Finished: 1}},
		"judged before":         {func(s *continuation.State) { s.Unjudged = false }, 3, 1, session.Verdict{}},
		"no list before":        {func(s *continuation.State) { s.Watermarks = continuation.Watermarks{} }, 3, 1, session.Verdict{}},
		"endless finished todos": {
			func(s *continuation.State) { s.Watermarks.Completed = 24 }, 25, 3, session.Verdict{Kind: session.NoProgress},
		},
	} {
		from := before
		if c.change != nil {
			c.change(&from)
		}
		to := from
		to.Watermarks.Completed, to.Watermarks.Active = c.completed, c.active
		after, got := session.Judge(from, to)
		assert.Equal(t, c.want, got, name)
		if got.Kind != session.NotJudged {
			to.Unjudged = false
		}
		assert.Equal(t, to, after, name)
		_, again := session.Judge(after, after)
		if got.Kind != session.NotJudged {
			assert.Equal(t, session.Verdict{}, again, "%s: it is judged once", name)
		}
	}
}

func TestAnsweredContinuationIsToBeJudgedInItsUserTurn(t *testing.T) {
	t.Parallel()
	s := session.Release(busyState(), 5, session.Ending{Answered: true})
	assert.True(t, s.Unjudged)
	assert.False(t, session.RegisterUserTurn(s, session.UserTurnOf(2, "go on")).Unjudged)
	assert.False(t, session.Release(busyState(), 5, session.Ending{}).Unjudged, "it failed")
}
