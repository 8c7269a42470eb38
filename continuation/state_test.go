package continuation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

// busyState is in the middle of its second continuation, with every field set.
func busyState() continuation.State {
	s := continuation.State{}.Arrive(continuation.UserTurnOf(1, "go"))
	s.Attempts, s.Continuations, s.Tokens, s.Stale = 1, 1, 40, 99
	s.Paused = continuation.Pause{Reason: "blocked", Since: noon}
	s.Last = continuation.Last{Kind: continuation.PreviousFailed, Status: 503}
	s.Watermarks = continuation.Watermarks{Set: true, Completed: 1, Active: 2}
	return s.Begin(5, noon)
}

func TestArriveOfANewUserTurnStartsAnew(t *testing.T) {
	t.Parallel()
	next := continuation.UserTurnOf(2, "go on")
	got := busyState().Arrive(next)
	assert.Equal(t, continuation.State{
		UserTurn:   continuation.State{}.Arrive(next).UserTurn,
		LastPrompt: noon, // the interval holds across user turns
		Stale:      99,   // and so does what is known of the list
	}, got)
	assert.NotEqual(t, busyState().UserTurn, got.UserTurn)
}

func TestArriveOfTheSameUserTurnChangesNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, busyState(), busyState().Arrive(continuation.UserTurnOf(1, "go")))
}

func TestArriveOfAnAutomaticCallChangesNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, busyState(), busyState().Arrive(continuation.UserTurn{}))
	assert.Zero(t, continuation.State{}.Arrive(continuation.UserTurn{}))
}

func TestFirstUserTurnKeepsAPauseSetBeforeIt(t *testing.T) {
	t.Parallel()
	s := continuation.State{}.Pause("not yet", noon, 0).Arrive(continuation.UserTurnOf(1, "go"))
	assert.Equal(t, continuation.Pause{Reason: "not yet", Since: noon}, s.Paused)
	assert.NotZero(t, s.UserTurn)
	s = s.Arrive(continuation.UserTurnOf(2, "go on"))
	assert.False(t, s.Paused.IsSet(), "the next one ends it")
}

// A session whose first calls were automatic has used budgets before any user
// turn of its own; the first message of the user is a new turn like any other.
func TestFirstUserTurnAfterAutomaticCallsStartsBudgetsAnew(t *testing.T) {
	t.Parallel()
	s := continuation.State{}.Arrive(continuation.UserTurn{}).
		Begin(1, noon).End(1, continuation.Ending{Tokens: 50, Last: continuation.Last{Kind: continuation.PreviousNoProgress}}).
		Begin(2, noon.Add(time.Second))
	s.Watermarks = continuation.Watermarks{Set: true, Active: 1}
	s = s.Arrive(continuation.UserTurnOf(1, "go"))
	assert.Zero(t, s.Attempts)
	assert.Zero(t, s.Continuations)
	assert.Zero(t, s.Tokens)
	assert.Zero(t, s.Watermarks)
	assert.Zero(t, s.Last)
	assert.Zero(t, s.Claim, "a newer user turn releases the claim")
	assert.Equal(t, noon.Add(time.Second), s.LastPrompt)
}

func TestFirstUserTurnEndsAPauseOfAutomaticCalls(t *testing.T) {
	t.Parallel()
	s := continuation.State{}.Begin(1, noon).End(1, continuation.Ending{}).Pause("blocked", noon, 17)
	s = s.Arrive(continuation.UserTurnOf(1, "go"))
	assert.False(t, s.Paused.IsSet())
	assert.Equal(t, uint64(17), s.Stale)
}

func TestTextAgentsTurnGrows(t *testing.T) {
	t.Parallel()
	grow := func(text string) continuation.UserTurn { return continuation.GrowingUserTurnOf(1, text) }
	start := continuation.State{}.Arrive(grow("Question")).Begin(1, noon)
	cases := []struct {
		name string
		turn continuation.UserTurn
		same bool
	}{
		{"the same text", grow("Question"), true},
		{"more text", grow("Question\nThought: ..."), true},
		{"one more byte of a rune", grow("Question\u00e9"[:9]), true},
		{"less text", grow("Quest"), false},
		{"another text", grow("Another question"), false},
		{"the text, but not at the start", grow("> Question"), false},
		{"more text, one more user message", continuation.GrowingUserTurnOf(2, "Question\nmore"), false},
		{"more text of a request that does not grow", continuation.UserTurnOf(1, "Question\nmore"), false},
		{"the same text of a request that does not grow", continuation.UserTurnOf(1, "Question"), true},
		{"a name", continuation.NamedUserTurn("Question"), false},
	}
	for _, c := range cases {
		got := start.Arrive(c.turn)
		assert.Equal(t, c.same, got.Continuations == 1, c.name)
		assert.Equal(t, c.same, got.Claim.Token == 1, c.name)
	}
}

func TestTextAgentsTurnGrowsStepByStep(t *testing.T) {
	t.Parallel()
	text := "Q"
	s := continuation.State{}.Arrive(continuation.GrowingUserTurnOf(1, text)).Begin(1, noon)
	for range 5 {
		text += "\nAction: x\nObservation: y"
		s = s.Arrive(continuation.GrowingUserTurnOf(1, text))
		require.Equal(t, 1, s.Continuations)
		require.Equal(t, len(text), s.TextLength)
	}
	s = s.Arrive(continuation.GrowingUserTurnOf(1, "Q"))
	assert.Zero(t, s.Continuations, "the same question again is a new turn")
}

func TestATurnThatDoesNotGrowIsNotExtended(t *testing.T) {
	t.Parallel()
	s := continuation.State{}.Arrive(continuation.UserTurnOf(1, "go")).Begin(1, noon)
	assert.Zero(t, s.Arrive(continuation.GrowingUserTurnOf(1, "go on")).Continuations)
	s = continuation.State{}.Arrive(continuation.GrowingUserTurnOf(1, "")).Begin(1, noon)
	assert.Zero(t, s.Arrive(continuation.GrowingUserTurnOf(1, "anything")).Continuations, "everything begins with nothing")
}

func TestBegin(t *testing.T) {
	t.Parallel()
	before := busyState().Arrive(continuation.UserTurnOf(2, "x"))
	want := before
	want.Claim = continuation.Claim{Token: 8, Since: noon.Add(time.Hour)}
	want.LastPrompt = noon.Add(time.Hour)
	want.Attempts, want.Continuations = 1, 1
	assert.Equal(t, want, before.Begin(8, noon.Add(time.Hour)))
}

func TestEnd(t *testing.T) {
	t.Parallel()
	last := continuation.Last{Kind: continuation.PreviousFailed, Status: continuation.StatusTimeout}
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
		want.Claim, want.Last, want.Tokens, want.Attempts = continuation.Claim{}, last, before.Tokens+7, c.want
		assert.Equal(t, want, before.End(5, continuation.Ending{Called: c.called, Tokens: 7, Last: last}), c.name)
	}
}

func TestEndWithoutTheClaimChangesNothing(t *testing.T) {
	t.Parallel()
	ending := continuation.Ending{Called: true, Tokens: 7, Last: continuation.Last{Kind: continuation.PreviousNoProgress}}
	idle := continuation.State{UserTurn: 1, Attempts: 1}
	for name, c := range map[string]struct {
		state continuation.State
		token uint64
	}{
		"another call's claim":    {busyState(), 4},
		"no token":                {busyState(), 0},
		"no token, nobody claims": {idle, 0},
		"nobody claims":           {idle, 5},
		"a newer user turn":       {busyState().Arrive(continuation.UserTurnOf(2, "x")), 5},
	} {
		assert.Equal(t, c.state, c.state.End(c.token, ending), name)
	}
	ended := busyState().End(5, ending)
	assert.Equal(t, ended, ended.End(5, ending), "an end counts once")
}

func TestClaimed(t *testing.T) {
	t.Parallel()
	s := continuation.State{Claim: continuation.Claim{Token: 5, Since: noon}}
	cases := []struct {
		name  string
		state continuation.State
		token uint64
		after time.Duration
		want  bool
	}{
		{"by another", s, 6, 0, true},
		{"for anybody", s, 0, 0, true},
		{"by oneself", s, 5, 0, false},
		{"by nobody", continuation.State{}, 6, 0, false},
		{"just before it lapses", s, 6, continuation.ClaimLife - 1, true},
		{"lapsed", s, 6, continuation.ClaimLife, false},
		{"clock set back", s, 6, -time.Minute, true},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, c.state.Claimed(c.token, noon.Add(c.after)), c.name)
	}
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

func TestGoStale(t *testing.T) {
	t.Parallel()
	want := busyState()
	want.Stale = 17
	assert.Equal(t, want, busyState().GoStale(17))
	assert.Equal(t, busyState(), busyState().GoStale(0))
}

func TestMethodsChangeNothing(t *testing.T) {
	t.Parallel()
	s := busyState()
	s.Arrive(continuation.UserTurnOf(2, "x"))
	s.Begin(1, noon)
	s.End(5, continuation.Ending{Called: true})
	s.Pause("x", noon, 1)
	s.Resume()
	s.GoStale(1)
	assert.Equal(t, busyState(), s)
}

func TestLastProblem(t *testing.T) {
	t.Parallel()
	for last, want := range map[continuation.Last]string{
		{}: "",
		{Kind: continuation.PreviousNoProgress, Status: 500}:                          "",
		{Kind: continuation.PreviousFailed, Status: 429}:                              "HTTP 429",
		{Kind: continuation.PreviousFailed, Status: continuation.StatusTimeout}:       "timeout",
		{Kind: continuation.PreviousFailed, Status: continuation.StatusTransport}:     "transport",
		{Kind: continuation.PreviousRejected, Status: continuation.StatusTransport}:   "",
		{Kind: continuation.PreviousSameAnswer, Status: continuation.StatusTransport}: "",
	} {
		assert.Equal(t, want, last.Problem(), "%+v", last)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	item := func(id, content string, status todo.Status) todo.Todo {
		return todo.Todo{ID: id, Content: content, Status: status}
	}
	lists := [][]todo.Todo{
		nil,
		{item("", "", "")},
		{item("", "", ""), item("", "", "")},
		{item("1", "a", todo.Pending)},
		{item("2", "a", todo.Pending)},
		{item("1", "b", todo.Pending)},
		{item("1", "a", todo.InProgress)},
		{item("1a", "", todo.Pending)},
		{item("", "1a", todo.Pending)},
		{item("1", "a", todo.Pending), item("2", "b", todo.Pending)},
		{item("2", "b", todo.Pending), item("1", "a", todo.Pending)},
		{item("1", "a", todo.Pending), item("1", "a", todo.Pending)},
	}
	seen := map[uint64]int{}
	for i, list := range lists {
		digest := continuation.Digest(list)
		assert.NotZero(t, digest)
		assert.Equal(t, digest, continuation.Digest(append([]todo.Todo{}, list...)))
		if j, ok := seen[digest]; ok {
			assert.Fail(t, "same digest", "lists %d and %d", i, j)
		}
		seen[digest] = i
	}
}

// model says the same as State in other words: what the user turn under way
// looked like, and who holds the session.
type model struct {
	known         bool
	users         int
	text, name    string
	grows, named  bool
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
}

func (a arrival) turn() continuation.UserTurn {
	switch {
	case a.automatic:
		return continuation.UserTurn{}
	case a.named:
		return continuation.NamedUserTurn(a.name)
	case a.grows:
		return continuation.GrowingUserTurnOf(a.users, a.text)
	}
	return continuation.UserTurnOf(a.users, a.text)
}

func (m *model) arrive(a arrival) (isNew bool) {
	if a.automatic {
		return false
	}
	same := m.known && a.named == m.named && a.name == m.name && a.users == m.users && a.text == m.text
	longer := m.known && !a.named && !m.named && a.grows && m.grows && m.text != "" && a.users == m.users &&
		len(a.text) > len(m.text) && strings.HasPrefix(a.text, m.text)
	if same {
		return false
	}
	if m.known && !longer {
		*m = model{prompt: m.prompt, stale: m.stale}
		isNew = true
	}
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
		users: 1 + rng.IntN(2), text: []string{"", "a", "ab", "abc", "b"}[rng.IntN(5)], grows: rng.IntN(4) > 0,
	}
}

func TestStateAgainstAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 6))
		first := arrival{users: 1, text: "a", grows: true}
		m := model{}
		m.arrive(first)
		s := continuation.State{}.Arrive(first.turn())
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
		return s.Arrive(a.turn()), fmt.Sprintf("%s%+v", what, a)
	case 1:
		m.holder, m.since, m.prompt = token, now, now
		m.attempts++
		m.continuations++
		return s.Begin(token, now), fmt.Sprint("begin", token)
	case 2:
		called, tokens := rng.IntN(2) == 0, rng.IntN(100)
		if m.holder == token {
			m.holder, m.since = 0, time.Time{}
			m.tokens += tokens
			if called {
				m.attempts = max(m.attempts-1, 0)
			}
		}
		return s.End(token, continuation.Ending{Called: called, Tokens: tokens}), fmt.Sprint("end", token)
	case 3:
		m.paused = "because"
		m.stale = 11
		return s.Pause("because", now, 11), "pause"
	case 4:
		m.paused, m.stale = "", 0
		return s.Resume(), "resume"
	}
	m.stale = token
	return s.GoStale(token), "stale"
}

func requireModel(t *testing.T, m model, s continuation.State, log string) {
	t.Helper()
	got := []any{s.Claim.Token, s.Claim.Since, s.LastPrompt, s.Paused.Reason, s.Paused.IsSet(), s.Stale, s.Attempts, s.Continuations, s.Tokens}
	want := []any{m.holder, m.since, m.prompt, m.paused, m.paused != "", m.stale, m.attempts, m.continuations, m.tokens}
	require.Equal(t, want, got, log)
}

func requireClaims(t *testing.T, s continuation.State, now time.Time, log string) {
	t.Helper()
	alive := s.Claim.Token != 0 && now.Before(s.Claim.Since.Add(continuation.ClaimLife))
	for token := range uint64(6) {
		require.Equal(t, alive && token != s.Claim.Token, s.Claimed(token, now), log)
	}
}
