package decision_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// message returns the hash by which a session recognizes the message of a user
// turn.
func message(turn decision.UserTurn) uint64 {
	return decision.State{}.RegisterUserTurn(turn).Message
}

func TestUserTurnsAreToldApart(t *testing.T) {
	t.Parallel()
	turns := map[string]decision.UserTurn{
		"first message":                decision.UserTurnOf(1, "go"),
		"another message":              decision.UserTurnOf(1, "go on"),
		"empty message":                decision.UserTurnOf(1, ""),
		"blank message":                decision.UserTurnOf(1, " "),
		"another case":                 decision.UserTurnOf(1, "Go"),
		"name":                         decision.NamedUserTurn("go"),
		"empty name":                   decision.NamedUserTurn(""),
		"another name":                 decision.NamedUserTurn("go on"),
		"a long message":               decision.UserTurnOf(1, strings.Repeat("x", 1<<20)),
		"a long message, a bit longer": decision.UserTurnOf(1, strings.Repeat("x", 1<<20+1)),
	}
	seen := map[uint64]string{}
	for name, turn := range turns {
		k := message(turn)
		assert.NotZero(t, k, name)
		assert.Empty(t, seen[k], "%s has the hash of another", name)
		seen[k] = name
	}
}

// Replicas that share a store must agree, also while they are being updated.
func TestHashesAreTheSameInEveryProcess(t *testing.T) {
	t.Parallel()
	assert.Equal(t, uint64(0x97b42be579267519), message(decision.UserTurnOf(1, "go")))
	assert.Equal(t, uint64(0x97b42be579267519), message(decision.GrowingUserTurnOf(1, "go")))
	assert.Equal(t, uint64(0x8b7db508a9735d9f), message(decision.NamedUserTurn("go")))
	assert.Equal(t, "d7b0df99f33440df4cb6884a42b11281", loopKey("go", "call_1"))
}

// Every message of the user, and nothing else, begins a user turn.
func TestWhatBeginsAUserTurn(t *testing.T) {
	t.Parallel()
	type request struct {
		users    int
		last     string
		previous string // "-": answers stand behind the last message
	}
	cases := []struct {
		name   string
		before []request // the requests of the user turn so far
		next   request
		want   bool
	}{
		{"the same request again", []request{{2, "go", "a"}}, request{2, "go", "a"}, false},
		{"a tool result", []request{{2, "go", "a"}}, request{2, "go", "-"}, false},
		{"another message", []request{{2, "go", "a"}}, request{3, "stop", "b"}, true},
		{"another message in a window that slides", []request{{2, "go", "a"}}, request{2, "stop", "b"}, true},
		{"another message in a history that was cut", []request{{5, "go", "a"}}, request{1, "stop", ""}, true},
		{"the same message once more", []request{{2, "go", "a"}}, request{3, "go", "b"}, true},

		{"the history is cut in front", []request{{5, "go", "a"}, {5, "go", "-"}}, request{1, "go", "-"}, false},
		{"the history is cut to the message", []request{{5, "go", "a"}, {5, "go", "-"}}, request{1, "go", ""}, false},
		{"the history is cut to the message, which was not answered", []request{{5, "go", "a"}}, request{1, "go", ""}, false},
		{"the history is cut again", []request{{5, "go", "a"}, {3, "go", "-"}}, request{2, "go", "-"}, false},
		{"the same again after a cut", []request{{5, "go", "a"}, {3, "go", "-"}}, request{4, "go", "b"}, true},

		{"a window slides: the same again, answered with a call", []request{{3, "go", "a"}, {3, "go", "-"}}, request{3, "go", "b"}, true},
		{"a window slides: the same again, answered in text", []request{{3, "go", "a"}}, request{3, "go", "b"}, true},
		{"a window slides: a tool result", []request{{3, "go", "a"}, {3, "go", "-"}}, request{3, "go", "-"}, false},
		{"the answer is asked for once more", []request{{3, "go", "a"}, {3, "go", "-"}}, request{3, "go", "a"}, true},
	}
	register := func(s decision.State, r request) decision.State {
		turn := decision.UserTurnOf(r.users, r.last)
		if r.previous != "-" {
			turn = turn.Unanswered(r.previous)
		}
		return s.RegisterUserTurn(turn)
	}
	for _, c := range cases {
		s := decision.State{}
		for _, r := range c.before {
			s = register(s, r)
		}
		s = s.Pause("blocked", noon, 0)
		s.Attempts = 2
		number := s.UserTurn
		s = register(s, c.next)
		assert.Equal(t, 1, number, c.name)
		assert.Equal(t, c.want, s.UserTurn == 2, c.name)
		assert.Equal(t, c.want, !s.Paused.IsSet(), "%s: ends a pause", c.name)
		assert.Equal(t, c.want, s.Attempts == 0, "%s: renews budgets", c.name)
	}
}

func TestNamedUserTurnIsNewOnlyUnderAnotherName(t *testing.T) {
	t.Parallel()
	s := decision.State{}.RegisterUserTurn(decision.NamedUserTurn("7"))
	assert.Equal(t, s, s.RegisterUserTurn(decision.NamedUserTurn("7")))
	assert.Equal(t, 2, s.RegisterUserTurn(decision.NamedUserTurn("8")).UserTurn)
}

func loopKey(texts ...string) string {
	var key decision.LoopKey
	for _, text := range texts {
		key.Add(text)
	}
	return key.String()
}

func TestLoopKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	loop := loopKey("go", "call_1", long)
	assert.Equal(t, loop, loopKey("go", "call_1", long))
	for _, other := range []string{
		loopKey(), loopKey("go", "call_1"), loopKey("go", "call_2", long), loopKey("stop", "call_1", long), loopKey("gocall", "_1", long),
		loopKey("", "gocall_1", long), loopKey("go", "call_1", long[1:]), loopKey("go", "call_1", long, ""),
	} {
		assert.NotEqual(t, other, loop)
	}
	assert.Len(t, loop, 32)
}

func TestLoopKeyCopiesNoText(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	assert.LessOrEqual(t, measure.Allocations(func() { loopKey(text) }), 4.0)
}

func TestLoopWithFewerMessagesIsAnother(t *testing.T) {
	t.Parallel()
	begun := decision.State{}.RegisterLoop(4, noon).Acquire(1, noon, continuation.DefaultLimits().ClaimLife)
	for name, c := range map[string]struct {
		size  int
		after time.Duration
		same  bool
	}{
		"more messages":      {6, time.Minute, true},
		"as many, a retry":   {4, time.Minute, true},
		"fewer":              {3, time.Minute, false},
		"within the hour":    {6, time.Hour - 1, true},
		"after an hour":      {6, time.Hour, false},
		"clock was set back": {6, -time.Minute, true},
	} {
		at := noon.Add(c.after)
		s := begun.RegisterLoop(c.size, at)
		assert.Equal(t, decision.Loop{Size: c.size, Seen: at}, s.Loop, name)
		assert.Equal(t, c.same, s.UserTurn == begun.UserTurn, name)
		assert.Equal(t, c.same, s.Attempts == 1, name)
		assert.Equal(t, c.same, s.Claim == begun.Claim, name)
	}
}

// A conversation that is run again looks like the one before: its request was answered.
func TestRegisterLoopThatIsRunAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(1, 0)
	s := decision.State{}.RegisterLoop(3, now)
	s = s.Acquire(7, now, time.Minute)
	assert.Equal(t, s.UserTurn, s.RegisterLoop(3, now).UserTurn, "a second try of a request that was not answered yet")
	s = s.Release(7, decision.ContinuationResult{Answered: true, Result: decision.ResultNoProgress})
	bigger := s.RegisterLoop(5, now)
	assert.Equal(t, []int{s.UserTurn, 1}, []int{bigger.UserTurn, bigger.Attempts}, "the loop goes on")
	again := s.RegisterLoop(3, now)
	assert.Equal(t, []int{s.UserTurn + 1, 0}, []int{again.UserTurn, again.Attempts})
}
