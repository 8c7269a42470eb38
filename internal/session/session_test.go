package session_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/todo"
)

// Continuations that repeat an answer are counted as long as they come in a row, and renewed by progress and a new user turn.
func TestRepeatedAnswersAreCounted(t *testing.T) {
	t.Parallel()
	release := func(s continuation.State, e session.Ended) continuation.State {
		return session.Release(session.Claim(s, 1, noon, time.Minute), 1, e)
	}
	same := session.Ended{Answered: true, Result: continuation.ResultSameAnswer}
	s := release(release(continuation.State{}, same), same)
	assert.Equal(t, 2, s.Repeats)
	assert.Equal(t, 2, release(s, session.Ended{Result: continuation.ResultTimeout, Unshown: true}).Repeats, "a failure says nothing about the model")
	assert.Zero(t, release(s, session.Ended{Answered: true, Result: continuation.ResultNoProgress}).Repeats)
	assert.Zero(t, release(s, session.Ended{Answered: true, Called: true}).Repeats)
	assert.Zero(t, session.RegisterUserTurn(s, session.UserTurnOf(1, "Do it.")).Repeats)
	s.Watermarks = continuation.Watermarks{Set: true, Todos: 1, Active: 1}
	assert.Zero(t, session.ObserveList(s, []todo.Todo{{Content: "a", Status: todo.Completed}}, todo.WrittenNow).Repeats)
}

func TestWaitsAreCounted(t *testing.T) {
	t.Parallel()
	s := session.Wait(session.Wait(continuation.State{}, noon), noon.Add(time.Minute))
	assert.Equal(t, continuation.Waiting{Since: noon, Turns: 2}, s.Waiting)
	assert.False(t, s.Waiting.IsOver(noon.Add(time.Minute), time.Hour))
	assert.True(t, s.Waiting.IsOver(noon.Add(time.Hour), time.Hour))
	assert.Zero(t, session.RegisterUserTurn(s, session.UserTurnOf(1, "Do it.")).Waiting)
}

var noon = time.Date(2030, time.January, 1, 12, 0, 0, 0, time.UTC)

// busyState is in the middle of its second continuation, with every field set.
func busyState() continuation.State {
	s := session.RegisterUserTurn(continuation.State{}, session.UserTurnOf(1, "go"))
	s.Attempts, s.Continuations, s.Tokens, s.Stale = 1, 1, 40, 99
	s.Paused = continuation.Pause{Reason: "blocked", Since: noon}
	s.LastResult = continuation.PromptResult(503)
	s.Watermarks = continuation.Watermarks{Set: true, Completed: 1, Active: 2}
	return session.Claim(s, 5, noon, continuation.DefaultLimits().ClaimLife)
}

func TestRegisterUserTurnOfANewUserTurnStartsAnew(t *testing.T) {
	t.Parallel()
	next := session.UserTurnOf(2, "go on")
	got := session.RegisterUserTurn(busyState(), next)
	assert.Equal(t, continuation.State{
		UserTurn:   2,
		Message:    message(next),
		Users:      2,
		Answered:   true,
		LastPrompt: noon, // the interval holds across user turns
		Stale:      99,   // and so does what is known of the list
	}, got)
	assert.NotEqual(t, busyState().UserTurn, got.UserTurn)
}

func TestRegisterUserTurnOfTheSameUserTurnChangesNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, busyState(), session.RegisterUserTurn(busyState(), session.UserTurnOf(1, "go")))
}

func TestRegisterUserTurnOfAnAutomaticCallChangesNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, busyState(), session.RegisterUserTurn(busyState(), session.UserTurn{}))
	assert.Zero(t, session.RegisterUserTurn(continuation.State{}, session.UserTurn{}))
}

func TestFirstUserTurnKeepsAPauseSetBeforeIt(t *testing.T) {
	t.Parallel()
	s := session.RegisterUserTurn(session.Pause(continuation.State{}, "not yet", noon, 0), session.UserTurnOf(1, "go"))
	assert.Equal(t, continuation.Pause{Reason: "not yet", Since: noon}, s.Paused)
	assert.NotZero(t, s.UserTurn)
	s = session.RegisterUserTurn(s, session.UserTurnOf(2, "go on"))
	assert.False(t, s.Paused.IsSet(), "the next one ends it")
}

// A session whose first calls were automatic has used budgets before its first
// user turn. The first message of the user begins a new turn as usual.
func TestFirstUserTurnAfterAutomaticCallsStartsBudgetsAnew(t *testing.T) {
	t.Parallel()
	s := session.RegisterUserTurn(continuation.State{}, session.UserTurn{})
	s = session.Release(session.Claim(s, 1, noon, continuation.DefaultLimits().ClaimLife), 1, session.Ended{Tokens: 50, Result: continuation.ResultNoProgress})
	s = session.Claim(s, 2, noon.Add(time.Second), continuation.DefaultLimits().ClaimLife)
	s.Watermarks = continuation.Watermarks{Set: true, Active: 1}
	s = session.RegisterUserTurn(s, session.UserTurnOf(1, "go"))
	assert.Zero(t, s.Attempts)
	assert.Zero(t, s.Continuations)
	assert.Zero(t, s.Tokens)
	assert.Zero(t, s.Watermarks)
	assert.Zero(t, s.LastResult)
	assert.Zero(t, s.Claim, "a newer user turn releases the claim")
	assert.Equal(t, noon.Add(time.Second), s.LastPrompt)
}

func TestFirstUserTurnEndsAPauseOfAutomaticCalls(t *testing.T) {
	t.Parallel()
	s := session.Release(session.Claim(continuation.State{}, 1, noon, continuation.DefaultLimits().ClaimLife), 1, session.Ended{})
	s = session.Pause(s, "blocked", noon, 17)
	s = session.RegisterUserTurn(s, session.UserTurnOf(1, "go"))
	assert.False(t, s.Paused.IsSet())
	assert.Equal(t, uint64(17), s.Stale)
}

func TestTextAgentsTurnGrows(t *testing.T) {
	t.Parallel()
	grow := func(text string) session.UserTurn { return session.GrowingUserTurnOf(1, text) }
	start := session.Claim(session.RegisterUserTurn(continuation.State{}, grow("Question")), 1, noon, continuation.DefaultLimits().ClaimLife)
	cases := []struct {
		name string
		turn session.UserTurn
		same bool
	}{
		{"the same text", grow("Question"), true},
		{"more text", grow("Question\nThought: ..."), true},
		{"one more byte of a rune", grow("Question\u00e9"[:9]), true},
		{"less text", grow("Quest"), false},
		{"another text", grow("Another question"), false},
		{"the text, but not at the start", grow("> Question"), false},
		{"more text, one more user message", session.GrowingUserTurnOf(2, "Question\nmore"), false},
		{"more text of a request that does not grow", session.UserTurnOf(1, "Question\nmore"), false},
		{"the same text of a request that does not grow", session.UserTurnOf(1, "Question"), true},
		{"a name", session.NamedUserTurn("Question"), false},
	}
	for _, c := range cases {
		got := session.RegisterUserTurn(start, c.turn)
		assert.Equal(t, c.same, got.Continuations == 1, c.name)
		assert.Equal(t, c.same, got.Claim.Token == 1, c.name)
	}
}

func TestTextAgentsTurnGrowsStepByStep(t *testing.T) {
	t.Parallel()
	text := "Q"
	s := session.Claim(session.RegisterUserTurn(continuation.State{}, session.GrowingUserTurnOf(1, text)), 1, noon, continuation.DefaultLimits().ClaimLife)
	for range 5 {
		text += "\nAction: x\nObservation: y"
		s = session.RegisterUserTurn(s, session.GrowingUserTurnOf(1, text))
		require.Equal(t, 1, s.Continuations)
		require.Equal(t, len(text), s.TextLength)
	}
	s = session.RegisterUserTurn(s, session.GrowingUserTurnOf(1, "Q"))
	assert.Zero(t, s.Continuations, "the same question again is a new turn")
}

func TestATurnThatDoesNotGrowIsNotExtended(t *testing.T) {
	t.Parallel()
	s := session.Claim(session.RegisterUserTurn(continuation.State{}, session.UserTurnOf(1, "go")), 1, noon, continuation.DefaultLimits().ClaimLife)
	assert.Zero(t, session.RegisterUserTurn(s, session.GrowingUserTurnOf(1, "go on")).Continuations)
	s = session.Claim(session.RegisterUserTurn(continuation.State{}, session.GrowingUserTurnOf(1, "")), 1, noon, continuation.DefaultLimits().ClaimLife)
	assert.Zero(t, session.RegisterUserTurn(s, session.GrowingUserTurnOf(1, "anything")).Continuations, "everything begins with nothing")
}

func TestClaim(t *testing.T) {
	t.Parallel()
	before := session.RegisterUserTurn(busyState(), session.UserTurnOf(2, "x"))
	want := before
	want.Claim = continuation.Claim{Token: 8, Since: noon.Add(time.Hour)}
	want.LastPrompt = noon.Add(time.Hour)
	want.Attempts, want.Continuations = 1, 1
	assert.Equal(t, want, session.Claim(before, 8, noon.Add(time.Hour), continuation.Off))
	want.Claim.Until = noon.Add(2 * time.Hour)
	assert.Equal(t, want, session.Claim(before, 8, noon.Add(time.Hour), time.Hour))
}

func TestRelease(t *testing.T) {
	t.Parallel()
	last := continuation.ResultTimeout
	cases := []struct {
		name     string
		attempts int
		called   bool
		want     int
	}{
		{"answered with text", 2, false, 2},
		{"answered with a tool call", 2, true, 1},
		{"answered with a tool call after progress", 0, true, 0},
	}
	for _, c := range cases {
		before := busyState()
		before.Attempts = c.attempts
		want := before
		want.Claim, want.LastResult, want.Tokens, want.Attempts = continuation.Claim{}, last, before.Tokens+7, c.want
		assert.Equal(t, want, session.Release(before, 5, session.Ended{Called: c.called, Tokens: 7, Result: last}), c.name)
	}
	var s continuation.State
	for i, calls := range []uint64{1, 2, 1} {
		s = session.Release(session.Claim(s, 9, noon, continuation.Off), 9, session.Ended{Called: true, Calls: calls})
		assert.Equal(t, i/2, s.Attempts, "calls that come again use an attempt")
	}
	s = session.Release(session.Ask(session.Claim(s, 9, noon, continuation.Off)), 9, session.Ended{Unshown: true})
	assert.False(t, s.Asked, "the question reached nobody")
}

// A claim whose continuation was not sent leaves no trace. What other calls have changed
// meanwhile stays.
func TestWithdrawTakesBackAllOfAClaim(t *testing.T) {
	t.Parallel()
	before := busyState()
	before.Claim = continuation.Claim{}
	claimed := session.Ask(session.Claim(before, 8, noon.Add(time.Hour), time.Hour))
	claimed.LeaveDenied = true
	assert.Equal(t, before, session.Withdraw(claimed, 8, before))
	assert.Equal(t, claimed, session.Withdraw(claimed, 7, before), "another call's claim")
	assert.Equal(t, before, session.Withdraw(before, 0, continuation.State{}), "no claim")

	claimed.Attempts, claimed.Continuations, claimed.Touched = 0, 0, true // progress
	got := session.Withdraw(claimed, 8, before)
	assert.Zero(t, got.Attempts)
	assert.Zero(t, got.Continuations)
	assert.True(t, got.Touched)
}

func TestReleaseWithoutTheClaimChangesNothing(t *testing.T) {
	t.Parallel()
	ending := session.Ended{Called: true, Tokens: 7, Result: continuation.ResultNoProgress}
	idle := continuation.State{UserTurn: 1, Attempts: 1}
	for name, c := range map[string]struct {
		state continuation.State
		token uint64
	}{
		"another call's claim":    {busyState(), 4},
		"no token":                {busyState(), 0},
		"no token, nobody claims": {idle, 0},
		"nobody claims":           {idle, 5},
		"a newer user turn":       {session.RegisterUserTurn(busyState(), session.UserTurnOf(2, "x")), 5},
	} {
		assert.Equal(t, c.state, session.Release(c.state, c.token, ending), name)
	}
	ended := session.Release(busyState(), 5, ending)
	assert.Equal(t, ended, session.Release(ended, 5, ending), "a release counts once")
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	before := busyState()
	before.Paused = continuation.Pause{}
	paused := session.Pause(before, "no such file", noon.Add(time.Hour), 17)
	want := before
	want.Paused = continuation.Pause{Reason: "no such file", Since: noon.Add(time.Hour)}
	want.Stale = 17
	assert.Equal(t, want, paused)
	assert.True(t, paused.Paused.IsSet())

	want = before
	want.Stale = 0
	assert.Equal(t, want, session.Resume(paused))
	assert.Equal(t, uint64(99), session.Pause(before, "", noon, 0).Stale, "an unknown list changes nothing")
	assert.True(t, session.Pause(before, "", noon, 0).Paused.IsSet(), "a pause needs no reason")
}

func TestMarkStale(t *testing.T) {
	t.Parallel()
	want := busyState()
	want.Stale = 17
	assert.Equal(t, want, session.MarkStale(busyState(), 17))
	assert.Equal(t, busyState(), session.MarkStale(busyState(), 0))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "a", Status: todo.Pending}}
	known := session.Cancel(busyState(), 17)
	assert.Equal(t, uint64(17), known.Stale)
	assert.False(t, known.Cancelled)

	unknown := session.Cancel(busyState(), 0)
	assert.True(t, unknown.Cancelled)
	next := session.RegisterUserTurn(unknown, session.UserTurnOf(2, "x"))
	assert.True(t, next.Cancelled, "a new user turn has not seen the list either")
	seen := session.ObserveList(next, list, todo.WrittenUnknown)
	assert.False(t, seen.Cancelled)
	assert.Equal(t, todolist.Digest(list), seen.Stale)
	assert.False(t, session.Resume(unknown).Cancelled)
}

func TestObserveListSeesThatItWasWritten(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "a", Status: todo.Pending}}
	assert.False(t, session.ObserveList(busyState(), list, todo.WrittenUnknown).Touched)
	assert.False(t, session.ObserveList(busyState(), list, todo.WrittenEarlier).Touched)
	s := session.ObserveList(busyState(), list, todo.WrittenNow)
	assert.True(t, s.Touched)
	assert.True(t, session.ObserveList(s, list, todo.WrittenEarlier).Touched, "until the user writes again")
	assert.False(t, session.RegisterUserTurn(s, session.UserTurnOf(2, "x")).Touched)
}

func TestTransitionsChangeNothing(t *testing.T) {
	t.Parallel()
	s := busyState()
	_ = session.RegisterUserTurn(s, session.UserTurnOf(2, "x"))
	_ = session.Claim(s, 1, noon, continuation.DefaultLimits().ClaimLife)
	_ = session.Release(s, 5, session.Ended{Called: true})
	_ = session.Pause(s, "x", noon, 1)
	_ = session.Resume(s)
	_ = session.MarkStale(s, 1)
	assert.Equal(t, busyState(), s)
}

func TestObserveList(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "a", Status: todo.Pending}, {Content: "b", Status: todo.Completed}}
	before := busyState()
	before.Watermarks = continuation.Watermarks{}
	want := before
	want.Watermarks = continuation.Watermarks{Set: true, Todos: 2, Completed: 1, Active: 1}
	seen := session.ObserveList(before, list, todo.WrittenUnknown)
	assert.Equal(t, want, seen, "the first list is no progress")
	assert.Equal(t, want, session.ObserveList(seen, list, todo.WrittenUnknown), "nor is the same one again")

	want.Attempts, want.Continuations = 0, 0
	want.Watermarks = continuation.Watermarks{Set: true, Todos: 2, Completed: 1}
	assert.Equal(t, want, session.ObserveList(seen, list[1:], todo.WrittenUnknown))
}

// model says the same as State in other words: what the current user turn
// looks like, and who holds the session.
type model struct {
	known         bool
	users         int
	text, name    string
	grows, named  bool
	answered      bool
	holder        uint64
	since, prompt time.Time
	paused        string
	stale         uint64
	attempts      int
	continuations int
	tokens        int
}

// arrival is a user turn with what it was made of.
type arrival struct {
	users        int
	text, name   string
	grows, named bool
	automatic    bool
	unanswered   bool
}

func (a arrival) turn() session.UserTurn {
	switch {
	case a.automatic:
		return session.UserTurn{}
	case a.named:
		return session.NamedUserTurn(a.name)
	case a.grows:
		return session.GrowingUserTurnOf(a.users, a.text)
	}
	turn := session.UserTurnOf(a.users, a.text)
	if a.unanswered {
		turn = turn.Unanswered("")
	}
	return turn
}

func (m *model) arrive(a arrival) (isNew bool) {
	if a.automatic {
		return false
	}
	said := m.known && a.named == m.named && a.name == m.name && a.text == m.text
	cut := said && a.users < m.users
	same := said && a.users == m.users && (a.named || a.grows || !a.unanswered || !m.answered)
	longer := m.known && !a.named && !m.named && a.grows && m.grows && m.text != "" && a.users == m.users &&
		len(a.text) > len(m.text) && strings.HasPrefix(a.text, m.text)
	if m.known && !longer && !same && !cut {
		*m = model{prompt: m.prompt, stale: m.stale}
		isNew = true
	}
	m.answered = m.answered || !a.named && (a.grows && a.text == "" || !a.grows && !a.unanswered)
	m.known, m.users, m.text, m.name, m.grows, m.named = true, a.users, a.text, a.name, a.grows, a.named
	return isNew
}

func randomArrival(rng *rand.Rand) arrival {
	switch rng.IntN(4) {
	case 0:
		return arrival{automatic: true}
	case 1:
		return arrival{named: true, name: []string{"", "a", "b"}[rng.IntN(3)]}
	}
	return arrival{
		users: 1 + rng.IntN(2), text: []string{"", "a", "ab", "abc", "b"}[rng.IntN(5)], grows: rng.IntN(4) > 0, unanswered: rng.IntN(2) == 0,
	}
}

func TestStateAgainstAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 6))
		first := arrival{users: 1, text: "a", grows: true}
		m := model{}
		m.arrive(first)
		s := session.RegisterUserTurn(continuation.State{}, first.turn())
		log := fmt.Sprintf("seed %d:", seed)
		now := noon
		for range 40 {
			now = now.Add(time.Duration(rng.IntN(300)) * time.Second)
			before := s
			var what string
			s, what = randomStep(rng, s, &m, now)
			log += " " + what
			requireModel(t, m, s, log)
			requireClaims(t, s, now, log)
			if strings.HasPrefix(what, "new") {
				require.False(t, s.Paused.IsSet(), log)
				require.Equal(t, before.LastPrompt, s.LastPrompt, log)
			}
		}
	}
}

func randomStep(rng *rand.Rand, s continuation.State, m *model, now time.Time) (continuation.State, string) {
	token := 1 + rng.Uint64N(4)
	switch rng.IntN(6) {
	case 0:
		a := randomArrival(rng)
		what := "arrive"
		if m.arrive(a) {
			what = "new"
		}
		return session.RegisterUserTurn(s, a.turn()), fmt.Sprintf("%s%+v", what, a)
	case 1:
		m.holder, m.since, m.prompt = token, now, now
		m.attempts++
		m.continuations++
		return session.Claim(s, token, now, continuation.DefaultLimits().ClaimLife), fmt.Sprint("begin", token)
	case 2:
		called, tokens := rng.IntN(2) == 0, rng.IntN(100)
		if m.holder == token {
			m.holder, m.since = 0, time.Time{}
			m.tokens += tokens
			if called {
				m.attempts = max(m.attempts-1, 0)
			}
		}
		return session.Release(s, token, session.Ended{Called: called, Tokens: tokens}), fmt.Sprint("end", token)
	case 3:
		m.paused = "because"
		m.stale = 11
		return session.Pause(s, "because", now, 11), "pause"
	case 4:
		m.paused, m.stale = "", 0
		return session.Resume(s), "resume"
	}
	m.stale = token
	return session.MarkStale(s, token), "stale"
}

func requireModel(t *testing.T, m model, s continuation.State, log string) {
	t.Helper()
	got := []any{s.Claim.Token, s.Claim.Since, s.LastPrompt, s.Paused.Reason, s.Paused.IsSet(), s.Stale, s.Attempts, s.Continuations, s.Tokens}
	want := []any{m.holder, m.since, m.prompt, m.paused, m.paused != "", m.stale, m.attempts, m.continuations, m.tokens}
	require.Equal(t, want, got, log)
}

func requireClaims(t *testing.T, s continuation.State, now time.Time, log string) {
	t.Helper()
	alive := s.Claim.Token != 0 && now.Before(s.Claim.Since.Add(continuation.DefaultLimits().ClaimLife))
	for token := range uint64(6) {
		require.Equal(t, alive && token != s.Claim.Token, s.Claim.Active(now) && token != s.Claim.Token, log)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	before := continuation.State{Unjudged: true, Watermarks: continuation.Watermarks{Set: true, Todos: 4, Completed: 1, Active: 3}}
	for name, c := range map[string]struct {
		change            func(before *continuation.State)
		completed, active int
		want              session.Effect
	}{
		"todos finished":        {nil, 3, 1, session.Effect{Kind: session.Progress, Finished: 2}},
		"todos cancelled":       {nil, 1, 1, session.Effect{Kind: session.Progress}},
		"nothing":               {nil, 1, 3, session.Effect{Kind: session.NoProgress}},
		"the same answer":       {func(s *continuation.State) { s.LastResult = continuation.ResultSameAnswer }, 1, 3, session.Effect{Kind: session.Repeated}},
		"progress all the same": {func(s *continuation.State) { s.LastResult = continuation.ResultSameAnswer }, 2, 2, session.Effect{Kind: session.Progress, Finished: 1}},
		"judged before":         {func(s *continuation.State) { s.Unjudged = false }, 3, 1, session.Effect{}},
		"no list before":        {func(s *continuation.State) { s.Watermarks = continuation.Watermarks{} }, 3, 1, session.Effect{}},
		"endless finished todos": {
			func(s *continuation.State) { s.Watermarks.Completed = 24 }, 25, 3, session.Effect{Kind: session.NoProgress},
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
			assert.Equal(t, session.Effect{}, again, "%s: it is judged once", name)
		}
	}
}

func TestAnsweredContinuationIsToBeJudgedInItsUserTurn(t *testing.T) {
	t.Parallel()
	s := session.Release(busyState(), 5, session.Ended{Answered: true})
	assert.True(t, s.Unjudged)
	assert.False(t, session.RegisterUserTurn(s, session.UserTurnOf(2, "go on")).Unjudged)
	assert.False(t, session.Release(busyState(), 5, session.Ended{}).Unjudged, "it failed")
}

func TestANewUserTurnLeavesSettingsAlone(t *testing.T) {
	t.Parallel()
	own := continuation.Overrides{TodoContinuation: continuation.SwitchedOff}
	s := session.RegisterUserTurn(continuation.State{Overrides: own}, session.NamedUserTurn("1"))
	s = session.RegisterUserTurn(s, session.NamedUserTurn("2"))
	assert.Equal(t, 2, s.UserTurn)
	assert.Equal(t, own, s.Overrides)
}

// Nonsense from a provider must not reset a budget.
func TestTokensNeitherShrinkNorOverflow(t *testing.T) {
	t.Parallel()
	s := continuation.State{Tokens: 7}
	for _, c := range []struct {
		usage adapter.Usage
		want  int
	}{
		{adapter.Usage{Prompt: -5, Completion: 3}, 10},
		{adapter.Usage{Total: math.MinInt}, 10},
		{adapter.Usage{Prompt: math.MaxInt, Completion: math.MaxInt}, math.MaxInt},
		{adapter.Usage{Total: math.MaxInt}, math.MaxInt},
		{adapter.Usage{Prompt: math.MaxInt, Completion: 1, Total: 3}, math.MaxInt},
	} {
		s.Claim.Token = 1
		s = session.Release(s, 1, session.Ended{Tokens: c.usage.Tokens()})
		assert.Equal(t, c.want, s.Tokens)
	}
}

func TestRefusalHoldsForTheUserTurn(t *testing.T) {
	t.Parallel()
	s := session.RegisterUserTurn(continuation.State{}, session.UserTurnOf(1, "go"))
	s = session.Release(session.Claim(s, 1, noon, continuation.DefaultLimits().ClaimLife), 1, session.Ended{Refused: true})
	assert.True(t, s.Refused)
	s = session.Release(session.Claim(s, 2, noon, continuation.DefaultLimits().ClaimLife), 2, session.Ended{})
	assert.True(t, s.Refused)
	assert.False(t, session.RegisterUserTurn(s, session.UserTurnOf(2, "go on")).Refused)
}
