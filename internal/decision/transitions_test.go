package decision_test

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
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/todo"
)

// Continuations that repeat an answer are counted as long as they come in a row, and renewed by progress and a new user turn.
func TestRepeatedAnswersAreCounted(t *testing.T) {
	t.Parallel()
	release := func(s decision.State, e decision.ContinuationResult) decision.State {
		return s.Acquire(1, noon, time.Minute).Release(1, e)
	}
	same := decision.ContinuationResult{Answered: true, Result: decision.ResultSameAnswer}
	s := release(release(decision.State{}, same), same)
	assert.Equal(t, 2, s.Repeats)
	failed := decision.ContinuationResult{Result: decision.ResultTimeout, Unshown: true}
	assert.Equal(t, 2, release(s, failed).Repeats, "a failure says nothing about the model")
	assert.Zero(t, release(s, decision.ContinuationResult{Answered: true, Result: decision.ResultNoProgress}).Repeats)
	assert.Zero(t, release(s, decision.ContinuationResult{Answered: true, Called: true}).Repeats)
	assert.Zero(t, s.RegisterUserTurn(decision.UserTurnOf(1, "Do it.")).Repeats)
	s.Watermarks = decision.Watermarks{Set: true, Todos: 1, Active: 1}
	assert.Zero(t, s.ObserveList([]todo.Todo{{Content: "a", Status: todo.Completed}}, origins.Now).Repeats)
}

func TestWaitsAreCounted(t *testing.T) {
	t.Parallel()
	s := decision.State{}.RecordBackground(noon).RecordBackground(noon.Add(time.Minute))
	assert.Equal(t, decision.Waiting{Since: noon, Turns: 2}, s.Waiting)
	assert.False(t, s.Waiting.IsOver(noon.Add(time.Minute), time.Hour))
	assert.True(t, s.Waiting.IsOver(noon.Add(time.Hour), time.Hour))
	assert.Zero(t, s.RegisterUserTurn(decision.UserTurnOf(1, "Do it.")).Waiting)
}

// busyState is in the middle of its second continuation, with every field set.
func busyState() decision.State {
	s := decision.State{}.RegisterUserTurn(decision.UserTurnOf(1, "go"))
	s.Attempts, s.Continuations, s.Tokens, s.Stale = 1, 1, 40, 99
	s.Paused = continuation.Pause{Reason: "blocked", Since: noon}
	s.LastResult = decision.PromptResult(503)
	s.Watermarks = decision.Watermarks{Set: true, Completed: 1, Active: 2}
	return s.Acquire(5, noon, continuation.DefaultLimits().ClaimLife)
}

func TestRegisterUserTurnOfANewUserTurnStartsAnew(t *testing.T) {
	t.Parallel()
	next := decision.UserTurnOf(2, "go on")
	got := busyState().RegisterUserTurn(next)
	assert.Equal(t, decision.State{
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
	assert.Equal(t, busyState(), busyState().RegisterUserTurn(decision.UserTurnOf(1, "go")))
}

func TestRegisterUserTurnOfAnAutomaticCallChangesNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, busyState(), busyState().RegisterUserTurn(decision.UserTurn{}))
	assert.Zero(t, decision.State{}.RegisterUserTurn(decision.UserTurn{}))
}

func TestFirstUserTurnKeepsAPauseSetBeforeIt(t *testing.T) {
	t.Parallel()
	s := decision.State{}.Pause("not yet", noon, 0).RegisterUserTurn(decision.UserTurnOf(1, "go"))
	assert.Equal(t, continuation.Pause{Reason: "not yet", Since: noon}, s.Paused)
	assert.NotZero(t, s.UserTurn)
	s = s.RegisterUserTurn(decision.UserTurnOf(2, "go on"))
	assert.False(t, s.Paused.IsSet(), "the next one ends it")
}

// A session whose first calls were automatic has used budgets before its first
// user turn. The first message of the user begins a new turn as usual.
func TestFirstUserTurnAfterAutomaticCallsStartsBudgetsAnew(t *testing.T) {
	t.Parallel()
	s := decision.State{}.RegisterUserTurn(decision.UserTurn{})
	s = s.Acquire(1, noon, continuation.DefaultLimits().ClaimLife).
		Release(1, decision.ContinuationResult{Tokens: 50, Result: decision.ResultNoProgress})
	s = s.Acquire(2, noon.Add(time.Second), continuation.DefaultLimits().ClaimLife)
	s.Watermarks = decision.Watermarks{Set: true, Active: 1}
	s = s.RegisterUserTurn(decision.UserTurnOf(1, "go"))
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
	s := decision.State{}.Acquire(1, noon, continuation.DefaultLimits().ClaimLife).Release(1, decision.ContinuationResult{})
	s = s.Pause("blocked", noon, 17)
	s = s.RegisterUserTurn(decision.UserTurnOf(1, "go"))
	assert.False(t, s.Paused.IsSet())
	assert.Equal(t, uint64(17), s.Stale)
}

func TestTextAgentsTurnGrows(t *testing.T) {
	t.Parallel()
	grow := func(text string) decision.UserTurn { return decision.GrowingUserTurnOf(1, text) }
	start := decision.State{}.RegisterUserTurn(grow("Question")).Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	cases := []struct {
		name string
		turn decision.UserTurn
		same bool
	}{
		{"the same text", grow("Question"), true},
		{"more text", grow("Question\nThought: ..."), true},
		{"one more byte of a rune", grow("Question\u00e9"[:9]), true},
		{"less text", grow("Quest"), false},
		{"another text", grow("Another question"), false},
		{"the text, but not at the start", grow("> Question"), false},
		{"more text, one more user message", decision.GrowingUserTurnOf(2, "Question\nmore"), false},
		{"more text of a request that does not grow", decision.UserTurnOf(1, "Question\nmore"), false},
		{"the same text of a request that does not grow", decision.UserTurnOf(1, "Question"), true},
		{"a name", decision.NamedUserTurn("Question"), false},
	}
	for _, c := range cases {
		got := start.RegisterUserTurn(c.turn)
		assert.Equal(t, c.same, got.Continuations == 1, c.name)
		assert.Equal(t, c.same, got.Claim.Token == 1, c.name)
	}
}

func TestTextAgentsTurnGrowsStepByStep(t *testing.T) {
	t.Parallel()
	text := "Q"
	s := decision.State{}.RegisterUserTurn(decision.GrowingUserTurnOf(1, text)).Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	for range 5 {
		text += "\nAction: x\nObservation: y"
		s = s.RegisterUserTurn(decision.GrowingUserTurnOf(1, text))
		require.Equal(t, 1, s.Continuations)
		require.Equal(t, len(text), s.TextLength)
	}
	s = s.RegisterUserTurn(decision.GrowingUserTurnOf(1, "Q"))
	assert.Zero(t, s.Continuations, "the same question again is a new turn")
}

func TestATurnThatDoesNotGrowIsNotExtended(t *testing.T) {
	t.Parallel()
	s := decision.State{}.RegisterUserTurn(decision.UserTurnOf(1, "go")).Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	assert.Zero(t, s.RegisterUserTurn(decision.GrowingUserTurnOf(1, "go on")).Continuations)
	s = decision.State{}.RegisterUserTurn(decision.GrowingUserTurnOf(1, "")).Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	assert.Zero(t, s.RegisterUserTurn(decision.GrowingUserTurnOf(1, "anything")).Continuations, "everything begins with nothing")
}

func TestClaim(t *testing.T) {
	t.Parallel()
	before := busyState().RegisterUserTurn(decision.UserTurnOf(2, "x"))
	want := before
	want.Claim = decision.Claim{Token: 8, Since: noon.Add(time.Hour)}
	want.LastPrompt = noon.Add(time.Hour)
	want.Attempts, want.Continuations = 1, 1
	assert.Equal(t, want, before.Acquire(8, noon.Add(time.Hour), continuation.Off))
	want.Claim.Until = noon.Add(2 * time.Hour)
	assert.Equal(t, want, before.Acquire(8, noon.Add(time.Hour), time.Hour))
}

func TestRelease(t *testing.T) {
	t.Parallel()
	last := decision.ResultTimeout
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
		want.Claim, want.LastResult, want.Tokens, want.Attempts = decision.Claim{}, last, before.Tokens+7, c.want
		assert.Equal(t, want, before.Release(5, decision.ContinuationResult{Called: c.called, Tokens: 7, Result: last}), c.name)
	}
	var s decision.State
	for i, calls := range []uint64{1, 2, 1} {
		s = s.Acquire(9, noon, continuation.Off).Release(9, decision.ContinuationResult{Called: true, Calls: calls})
		assert.Equal(t, i/2, s.Attempts, "calls that come again use an attempt")
	}
	s = s.Acquire(9, noon, continuation.Off).MarkAsked().Release(9, decision.ContinuationResult{Unshown: true})
	assert.False(t, s.ClosingQuestion, "the question reached nobody")
}

// A claim whose continuation was not sent leaves no trace. What other calls have changed
// meanwhile stays.
func TestWithdrawTakesBackAllOfAClaim(t *testing.T) {
	t.Parallel()
	before := busyState()
	before.Claim = decision.Claim{}
	claimed := before.Acquire(8, noon.Add(time.Hour), time.Hour).MarkAsked()
	claimed.PermissionDenied = true
	assert.Equal(t, before, claimed.Withdraw(8, before))
	assert.Equal(t, claimed, claimed.Withdraw(7, before), "another call's claim")
	assert.Equal(t, before, before.Withdraw(0, decision.State{}), "no claim")

	claimed.Attempts, claimed.Continuations, claimed.ListWritten = 0, 0, true // progress
	got := claimed.Withdraw(8, before)
	assert.Zero(t, got.Attempts)
	assert.Zero(t, got.Continuations)
	assert.True(t, got.ListWritten)
}

func TestReleaseWithoutTheClaimChangesNothing(t *testing.T) {
	t.Parallel()
	ending := decision.ContinuationResult{Called: true, Tokens: 7, Result: decision.ResultNoProgress}
	idle := decision.State{UserTurn: 1, Attempts: 1}
	for name, c := range map[string]struct {
		state decision.State
		token uint64
	}{
		"another call's claim":    {busyState(), 4},
		"no token":                {busyState(), 0},
		"no token, nobody claims": {idle, 0},
		"nobody claims":           {idle, 5},
		"a newer user turn":       {busyState().RegisterUserTurn(decision.UserTurnOf(2, "x")), 5},
	} {
		assert.Equal(t, c.state, c.state.Release(c.token, ending), name)
	}
	ended := busyState().Release(5, ending)
	assert.Equal(t, ended, ended.Release(5, ending), "a release counts once")
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	before := busyState()
	before.Paused = continuation.Pause{}
	paused := before.Pause("no such file", noon.Add(time.Hour), 17)
	want := before
	want.Paused = continuation.Pause{Reason: "no such file", Since: noon.Add(time.Hour)}
	want.Stale = 17
	assert.Equal(t, want, paused)
	assert.True(t, paused.Paused.IsSet())

	want = before
	want.Stale = 0
	assert.Equal(t, want, paused.Resume())
	assert.Equal(t, uint64(99), before.Pause("", noon, 0).Stale, "an unknown list changes nothing")
	assert.True(t, before.Pause("", noon, 0).Paused.IsSet(), "a pause needs no reason")
}

func TestMarkStale(t *testing.T) {
	t.Parallel()
	want := busyState()
	want.Stale = 17
	assert.Equal(t, want, busyState().MarkStale(17))
	assert.Equal(t, busyState(), busyState().MarkStale(0))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "a", Status: todo.Pending}}
	known := busyState().Cancel(17)
	assert.Equal(t, uint64(17), known.Stale)
	assert.False(t, known.Cancelled)

	unknown := busyState().Cancel(0)
	assert.True(t, unknown.Cancelled)
	next := unknown.RegisterUserTurn(decision.UserTurnOf(2, "x"))
	assert.True(t, next.Cancelled, "a new user turn has not seen the list either")
	seen := next.ObserveList(list, "")
	assert.False(t, seen.Cancelled)
	assert.Equal(t, decision.Digest(list), seen.Stale)
	assert.False(t, unknown.Resume().Cancelled)
}

func TestObserveListSeesThatItWasWritten(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "a", Status: todo.Pending}}
	assert.False(t, busyState().ObserveList(list, "").ListWritten)
	assert.False(t, busyState().ObserveList(list, origins.Earlier).ListWritten)
	s := busyState().ObserveList(list, origins.Now)
	assert.True(t, s.ListWritten)
	assert.True(t, s.ObserveList(list, origins.Earlier).ListWritten, "until the user writes again")
	assert.False(t, s.RegisterUserTurn(decision.UserTurnOf(2, "x")).ListWritten)
}

func TestTransitionsChangeNothing(t *testing.T) {
	t.Parallel()
	s := busyState()
	_ = s.RegisterUserTurn(decision.UserTurnOf(2, "x"))
	_ = s.Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	_ = s.Release(5, decision.ContinuationResult{Called: true})
	_ = s.Pause("x", noon, 1)
	_ = s.Resume()
	_ = s.MarkStale(1)
	assert.Equal(t, busyState(), s)
}

func TestObserveList(t *testing.T) {
	t.Parallel()
	list := []todo.Todo{{Content: "a", Status: todo.Pending}, {Content: "b", Status: todo.Completed}}
	before := busyState()
	before.Watermarks = decision.Watermarks{}
	want := before
	want.Watermarks = decision.Watermarks{Set: true, Todos: 2, Completed: 1, Active: 1}
	seen := before.ObserveList(list, "")
	assert.Equal(t, want, seen, "the first list is no progress")
	assert.Equal(t, want, seen.ObserveList(list, ""), "nor is the same one again")

	want.Attempts, want.Continuations = 0, 0
	want.Watermarks = decision.Watermarks{Set: true, Todos: 2, Completed: 1}
	assert.Equal(t, want, seen.ObserveList(list[1:], ""))
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

func (a arrival) turn() decision.UserTurn {
	switch {
	case a.automatic:
		return decision.UserTurn{}
	case a.named:
		return decision.NamedUserTurn(a.name)
	case a.grows:
		return decision.GrowingUserTurnOf(a.users, a.text)
	}
	turn := decision.UserTurnOf(a.users, a.text)
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
		s := decision.State{}.RegisterUserTurn(first.turn())
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

func randomStep(rng *rand.Rand, s decision.State, m *model, now time.Time) (decision.State, string) {
	token := 1 + rng.Uint64N(4)
	switch rng.IntN(6) {
	case 0:
		a := randomArrival(rng)
		what := "arrive"
		if m.arrive(a) {
			what = "new"
		}
		return s.RegisterUserTurn(a.turn()), fmt.Sprintf("%s%+v", what, a)
	case 1:
		m.holder, m.since, m.prompt = token, now, now
		m.attempts++
		m.continuations++
		return s.Acquire(token, now, continuation.DefaultLimits().ClaimLife), fmt.Sprint("begin", token)
	case 2:
		called, tokens := rng.IntN(2) == 0, rng.IntN(100)
		if m.holder == token {
			m.holder, m.since = 0, time.Time{}
			m.tokens += tokens
			if called {
				m.attempts = max(m.attempts-1, 0)
			}
		}
		return s.Release(token, decision.ContinuationResult{Called: called, Tokens: tokens}), fmt.Sprint("end", token)
	case 3:
		m.paused = "because"
		m.stale = 11
		return s.Pause("because", now, 11), "pause"
	case 4:
		m.paused, m.stale = "", 0
		return s.Resume(), "resume"
	}
	m.stale = token
	return s.MarkStale(token), "stale"
}

func requireModel(t *testing.T, m model, s decision.State, log string) {
	t.Helper()
	got := []any{s.Claim.Token, s.Claim.Since, s.LastPrompt, s.Paused.Reason, s.Paused.IsSet(), s.Stale, s.Attempts, s.Continuations, s.Tokens}
	want := []any{m.holder, m.since, m.prompt, m.paused, m.paused != "", m.stale, m.attempts, m.continuations, m.tokens}
	require.Equal(t, want, got, log)
}

func requireClaims(t *testing.T, s decision.State, now time.Time, log string) {
	t.Helper()
	alive := s.Claim.Token != 0 && now.Before(s.Claim.Since.Add(continuation.DefaultLimits().ClaimLife))
	for token := range uint64(6) {
		require.Equal(t, alive && token != s.Claim.Token, s.Claim.Active(now) && token != s.Claim.Token, log)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	before := decision.State{Unassessed: true, Watermarks: decision.Watermarks{Set: true, Todos: 4, Completed: 1, Active: 3}}
	for name, c := range map[string]struct {
		change            func(before *decision.State)
		completed, active int
		want              decision.Effect
	}{
		"todos finished":        {nil, 3, 1, decision.Effect{Kind: decision.Progress, Finished: 2}},
		"todos cancelled":       {nil, 1, 1, decision.Effect{Kind: decision.Progress}},
		"nothing":               {nil, 1, 3, decision.Effect{Kind: decision.NoProgress}},
		"the same answer":       {func(s *decision.State) { s.LastResult = decision.ResultSameAnswer }, 1, 3, decision.Effect{Kind: decision.Repeated}},
		"progress all the same": {func(s *decision.State) { s.LastResult = decision.ResultSameAnswer }, 2, 2, decision.Effect{Kind: decision.Progress, Finished: 1}},
		"judged before":         {func(s *decision.State) { s.Unassessed = false }, 3, 1, decision.Effect{}},
		"no list before":        {func(s *decision.State) { s.Watermarks = decision.Watermarks{} }, 3, 1, decision.Effect{}},
		"endless finished todos": {
			func(s *decision.State) { s.Watermarks.Completed = 24 }, 25, 3, decision.Effect{Kind: decision.NoProgress},
		},
	} {
		from := before
		if c.change != nil {
			c.change(&from)
		}
		to := from
		to.Watermarks.Completed, to.Watermarks.Active = c.completed, c.active
		after, got := to.Assess(from)
		assert.Equal(t, c.want, got, name)
		if got.Kind != decision.NoEffect {
			to.Unassessed = false
		}
		assert.Equal(t, to, after, name)
		_, again := after.Assess(after)
		if got.Kind != decision.NoEffect {
			assert.Equal(t, decision.Effect{}, again, "%s: it is judged once", name)
		}
	}
}

func TestAnsweredContinuationIsToBeJudgedInItsUserTurn(t *testing.T) {
	t.Parallel()
	s := busyState().Release(5, decision.ContinuationResult{Answered: true})
	assert.True(t, s.Unassessed)
	assert.False(t, s.RegisterUserTurn(decision.UserTurnOf(2, "go on")).Unassessed)
	assert.False(t, busyState().Release(5, decision.ContinuationResult{}).Unassessed, "it failed")
}

func TestANewUserTurnLeavesSettingsAlone(t *testing.T) {
	t.Parallel()
	own := decision.Overrides{TodoContinuation: decision.SwitchedOff}
	s := decision.State{Overrides: own}.RegisterUserTurn(decision.NamedUserTurn("1"))
	s = s.RegisterUserTurn(decision.NamedUserTurn("2"))
	assert.Equal(t, 2, s.UserTurn)
	assert.Equal(t, own, s.Overrides)
}

// Nonsense from a provider must not reset a budget.
func TestTokensNeitherShrinkNorOverflow(t *testing.T) {
	t.Parallel()
	s := decision.State{Tokens: 7}
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
		s = s.Release(1, decision.ContinuationResult{Tokens: c.usage.Tokens()})
		assert.Equal(t, c.want, s.Tokens)
	}
}

func TestRefusalHoldsForTheUserTurn(t *testing.T) {
	t.Parallel()
	s := decision.State{}.RegisterUserTurn(decision.UserTurnOf(1, "go"))
	s = s.Acquire(1, noon, continuation.DefaultLimits().ClaimLife).Release(1, decision.ContinuationResult{ProviderRefused: true})
	assert.True(t, s.ProviderRefused)
	s = s.Acquire(2, noon, continuation.DefaultLimits().ClaimLife).Release(2, decision.ContinuationResult{})
	assert.True(t, s.ProviderRefused)
	assert.False(t, s.RegisterUserTurn(decision.UserTurnOf(2, "go on")).ProviderRefused)
}
