package middleware_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/todo"
)

// rules are the rules that a session must keep, whatever its calls do and in which
// order. They know what the program, the user and the model did, but not how the
// engine decides.
type rules struct {
	w       *world
	session string
	state   decision.State // as it is stored

	on     bool // the setting
	todos  []todo.Todo
	turn   int  // the current user turn, as far as the store knows of it
	newest int  // the one of the user's last message
	failed bool // the store was down when it was asked

	// Of the current user turn.
	sends    int // continuations
	changes  int // of the list
	returned int // answers that give their attempt back: tool calls and failures
	resumed  bool
	holder   *run // whose claim is stored
	epoch    int  // counts user turns; one that comes back is another

	prompted time.Time // when the last prompt was sent, in whichever user turn
}

// changed checks a change of the stored state. by is the call that makes it, nil for
// the program.
func (s *rules) changed(by *run, before, after decision.State) {
	w := s.w
	if by != nil && by.session != s.session {
		w.fail("a call of session %q changes session %q", by.session, s.session)
	}
	fresh := by != nil && !by.arrived
	if fresh {
		by.arrived = true
		if by.turn != s.turn {
			first := s.turn == 0 // which a pause may have been meant for
			s.newTurn(by.turn)
			if after.Paused.IsSet() && !first {
				w.fail("the pause leaks into user turn %d of %q", s.turn, s.session)
			}
			if after.Attempts+after.Continuations+after.Tokens != 0 || after.Claim.Token != 0 {
				w.fail("user turn %d of %q begins with %+v", s.turn, s.session, after)
			}
			by.epoch = s.epoch
			return
		}
		by.epoch = s.epoch
	}
	if after.UserTurn != before.UserTurn {
		w.fail("session %q is in another user turn although none has begun", s.session)
	}
	if after.Attempts > worldAttempts || after.Attempts < 0 ||
		after.Continuations < before.Continuations && after.Watermarks == before.Watermarks {
		w.fail("session %q goes from %+v to %+v", s.session, before, after)
	}
	if before.Paused.IsSet() && !after.Paused.IsSet() && !s.resumed {
		w.fail("the pause of session %q ended by itself", s.session)
	}
	if !before.Paused.IsSet() && after.Paused.IsSet() && by != nil && by.turn != s.turn {
		w.fail("a call of user turn %d pauses user turn %d of %q", by.turn, s.turn, s.session)
	}
	s.claims(by, before, after)
}

// claims checks who holds the session.
func (s *rules) claims(by *run, before, after decision.State) {
	w := s.w
	if before.Claim == after.Claim {
		return
	}
	if before.Claim.Token != 0 && s.holder != nil && !s.lapsed(before) && by != nil && by != s.holder {
		w.fail("a call takes the claim on session %q from another", s.session)
	}
	s.holder = nil
	if after.Claim.Token == 0 {
		return
	}
	moved := after.Watermarks != before.Watermarks && after.Continuations == 1
	if by == nil || after.Continuations != before.Continuations+1 && !moved || after.LastPrompt.After(w.now) {
		w.fail("a claim on session %q without a continuation: %+v", s.session, after)
		return
	}
	if wait := after.LastPrompt.Sub(s.prompted); wait < worldInterval {
		w.fail("session %q is prompted after %v", s.session, wait)
	}
	s.prompted = after.LastPrompt
	if before.Paused.IsSet() {
		w.fail("session %q is claimed while it is paused", s.session)
	}
	s.holder, by.committed, by.since = by, true, after.Claim.Since
}

func (s *rules) lapsed(state decision.State) bool {
	return s.w.now.Sub(state.Claim.Since) >= continuation.DefaultLimits().ClaimLife
}

// newTurn records a message from the user. Earlier changes of the list are no news in
// the new turn, except to a running call that has read the list before them.
func (s *rules) newTurn(turn int) {
	readEarlier := func(r *run) bool {
		return r.session == s.session && !r.over && r.seen != nil && !slices.Equal(r.seen, s.todos)
	}
	if !slices.ContainsFunc(s.w.runs, readEarlier) {
		s.changes = 0
	}
	s.turn, s.sends, s.returned, s.holder = turn, 0, 0, nil
	s.epoch++
}

// sent checks a continuation that is about to be sent.
func (s *rules) sent(by *run, k *adapter.Continuation) {
	w := s.w
	s.sends++
	at := fmt.Sprintf("continuation %d of user turn %d of session %q", s.sends, s.turn, s.session)
	for _, violated := range []struct {
		is   bool
		what string
	}{
		{!by.committed, "was not stored before"},
		{k.Session != s.session, "says it is of another session"},
		{by.turn != s.turn, fmt.Sprintf("belongs to user turn %d", by.turn)},
		{s.sends > worldPerTurn*(1+s.changes), "is more than there may be"},
		{s.sends > worldAttempts*(1+s.changes)+s.returned, "is more than there may be without progress"},
		{k.Attempt < 1 || k.Attempt > worldAttempts, fmt.Sprintf("is attempt %d", k.Attempt)},
		{s.state.Paused.IsSet(), "is sent while the session is paused"},
		{!by.enabled && !by.wasOn && !s.on, "is sent while the setting is off"},
		{!slices.Contains(by.seen, k.Todo) || !k.Todo.Status.Active(), fmt.Sprintf("is about %+v", k.Todo)},
		{by.left, "is sent although nobody wants it"},
	} {
		if violated.is {
			w.fail("%s %s", at, violated.what)
		}
	}
	for _, other := range w.runs {
		if other != by && other.flying && other.session == by.session && other.epoch == by.epoch &&
			w.now.Sub(other.since) < continuation.DefaultLimits().ClaimLife {
			w.fail("%s is sent while another runs", at)
		}
	}
	w.others(s.session, "the prompt", k.Prompt+" "+k.Text)
	by.committed, by.flying = false, true
}

// The events that may happen. One that is listed more than once is more likely.
var happenings = []func(w *world, n int){
	(*world).oneGoesOn, (*world).oneGoesOn, (*world).oneGoesOn, (*world).oneGoesOn, (*world).oneGoesOn, (*world).oneGoesOn,
	(*world).allGoOn, (*world).callBegins, (*world).callBegins, (*world).sessionPauses, (*world).sessionResumes,
	(*world).settingChanges, (*world).listChanges, (*world).storeFails, (*world).timePasses, (*world).callerLeaves,
}

func (w *world) some(n int) *rules { return w.rules[worldSessions[n%2]] }

func (w *world) oneGoesOn(n int) {
	var open []*run
	for _, r := range w.runs {
		if !r.over {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		w.now = w.now.Add(worldInterval / 4)
		w.goOn(open[n%len(open)])
	}
}

func (w *world) allGoOn(int) {
	for _, r := range w.runs {
		w.goOn(r)
	}
}

func (w *world) callBegins(n int) {
	open := 0
	for _, r := range w.runs {
		if !r.over {
			open++
		}
	}
	if open < 4 {
		w.begin(w.some(n/8).session, n%2 == 0, n/2%4 == 0)
	}
}

func (w *world) sessionPauses(n int) {
	s := w.some(n)
	_ = w.mw.Pause(continuation.WithSession(context.Background(), s.session), "The program says so")
}

func (w *world) sessionResumes(n int) {
	s := w.some(n)
	s.resumed = true
	_ = w.mw.Resume(continuation.WithSession(context.Background(), s.session))
	s.resumed = false
}

func (w *world) settingChanges(n int) {
	s := w.some(n)
	s.on = n/2%3 > 0
	_ = w.mw.Settings().SetTodoContinuation(context.Background(), s.session, s.on) // in memory, it cannot fail
}

func (w *world) listChanges(n int) {
	s := w.some(n)
	s.changes++
	s.todos = slices.Clone(s.todos)
	switch n / 2 % 4 {
	case 0:
		s.todos = append(s.todos, todo.Todo{ID: strconv.Itoa(len(s.todos)), Content: s.session + " more", Status: todo.Pending})
	case 1:
		s.todos = []todo.Todo{{ID: "1", Content: s.session + " a", Status: todo.Completed}}
	default:
		for i := range s.todos {
			if s.todos[i].Status.Active() {
				s.todos[i].Status = todo.Completed
				break
			}
		}
	}
}

func (w *world) storeFails(n int) { w.down = n%3 == 0 }

func (w *world) timePasses(n int) {
	w.now = w.now.Add(time.Second)
	if n%8 == 0 {
		w.now = w.now.Add(continuation.DefaultLimits().ClaimLife)
	}
}

func (w *world) callerLeaves(n int) {
	var open []*run
	for _, r := range w.runs {
		if !r.over {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		w.quit(open[n%len(open)], n/4%2 == 0)
	}
}

// play carries out the plan.
func (w *world) play() {
	for len(w.plan) > 0 {
		b := w.take()
		happenings[b%len(happenings)](w, b/len(happenings))
	}
}

// end ends all calls except those that nobody waits for, which are dropped, and
// checks the rest. With backwards, the calls that began last end first.
func (w *world) end(crashed int, backwards bool) {
	w.down, w.plan = false, nil
	w.now = w.now.Add(10 * time.Second) // the store is asked again
	finishing := slices.Clone(w.runs[min(crashed, len(w.runs)):])
	if backwards {
		slices.Reverse(finishing)
	}
	for _, r := range finishing {
		w.finish(r)
	}
	for _, s := range w.rules {
		if s.state.Claim.Token != 0 && !s.failed && (s.holder == nil || s.holder.over) {
			w.fail("session %q is left active: %+v", s.session, s.state.Claim)
		}
	}
	for _, s := range w.rules {
		w.lapses(s)
		w.startsAnew(s)
	}
	w.now = w.now.Add(continuation.DefaultLimits().ClaimLife)
	for _, r := range w.runs {
		w.halt(r) // whoever comes back so late changes nothing of what is going on
		w.others(r.session, "the answer", r.shown)
		if r.outcome.Ended && r.outcome.Turns != 1+r.outcome.Attempts {
			w.fail("%d turns with %d continuations", r.outcome.Turns, r.outcome.Attempts)
		}
	}
}

// finish runs a call to its end.
func (w *world) finish(r *run) {
	for range 1000 {
		if r.over {
			return
		}
		w.now = w.now.Add(worldInterval)
		w.goOn(r)
	}
	w.fail("a call of session %q has no end", r.session)
}

// lapses checks that a claim that is never released does not block the session forever.
func (w *world) lapses(s *rules) {
	if s.state.Claim.Token == 0 {
		return
	}
	w.now, w.script = w.now.Add(continuation.DefaultLimits().ClaimLife), nil
	r := w.begin(s.session, false, false)
	w.finish(r)
	if r.outcome.Reason == reasons.Active {
		w.fail("session %q is left active by a call that is no more", s.session)
	}
}

// startsAnew checks that the next message of the user starts with full budgets,
// unless the caller cancelled the call before.
func (w *world) startsAnew(s *rules) {
	if s.turn == 0 {
		w.sessionResumes(slices.Index(worldSessions[:], s.session)) // there was no user turn to pause
	}
	s.on = true
	s.todos = []todo.Todo{{ID: "9", Content: s.session + " last", Status: todo.Pending}}
	_ = w.mw.Settings().SetTodoContinuation(context.Background(), s.session, true) // in memory, it cannot fail
	w.now, w.script = w.now.Add(worldInterval), nil
	want := worldAttempts
	if s.state.Cancelled {
		want = 1 // the user stopped the model, and nobody knows with which list
	}
	r := w.begin(s.session, false, true)
	w.finish(r)
	if s.sends != want || r.outcome.Reason != reasons.MaxAttempts {
		w.fail("the last user turn of %q has %d continuations: %v", s.session, s.sends, r.outcome)
	}
}

// explore runs a plan and returns the broken rule, "" for none.
func explore(t *testing.T, plan []byte, crashed int, backwards bool) (broken string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w := newWorld(plan)
		w.play()
		w.end(crashed, backwards)
		broken = strings.Join(w.broken, "\n")
	})
	return broken
}

func TestSessionsKeepTheirRulesWhateverHappens(t *testing.T) {
	t.Parallel()
	for range 10 / min(*sample, 5) { // times the 100 that -rapid.checks is
		rapid.Check(t, func(rt *rapid.T) {
			plan := rapid.SliceOfN(rapid.Byte(), 30, 150).Draw(rt, "plan")
			crashed := rapid.IntRange(0, 2).Draw(rt, "crashed")
			if broken := explore(t, plan, crashed, rapid.Bool().Draw(rt, "backwards")); broken != "" {
				rt.Fatalf("%s", broken)
			}
		})
	}
}

// between are the events that may come between two calls of one session while a runs.
var between = map[string]func(w *world, a *run){
	"nothing":            func(*world, *run) {},
	"the program pauses": func(w *world, _ *run) { w.sessionPauses(0) },
	"pause and resume":   func(w *world, _ *run) { w.sessionPauses(0); w.sessionResumes(0) },
	"setting off":        func(w *world, _ *run) { w.settingChanges(0) },
	"the list is done":   func(w *world, _ *run) { w.listChanges(2) },
	"a todo is done":     func(w *world, _ *run) { w.listChanges(4) },
	"the store fails":    func(w *world, _ *run) { w.down = true },
	"the claim lapses":   func(w *world, _ *run) { w.timePasses(0) },
	"the caller closes":  func(w *world, a *run) { w.quit(a, false) },
	"the caller cancels": func(w *world, a *run) { w.quit(a, true) },
	"the user says more": func(w *world, a *run) { w.begin(a.session, false, true) },
}

// Two calls of one session: the first advances some stops before the second advances
// others, with an event between or after them. The test tries all of these
// combinations, with either call ending first, and with the first never ending.
func TestTwoCallsKeepTheRulesOfTheirSession(t *testing.T) {
	t.Parallel()
	const firstStops, secondStops = 13, 9
	step := *sample // 7 divides none of these counts, so that every pair of stops comes up
	if measure.RaceDetector && step > 1 {
		step = 23 // nor does it; nothing runs at the same time here
	}
	sends := 0
	for name, happens := range between {
		for n := 0; n < firstStops*secondStops*2*2*2; n += step {
			first, n := n%firstStops, n/firstStops
			second, n := n%secondStops, n/secondStops
			early, backwards, crashed := n%2 == 0, n/2%2 == 0, n/4
			// The callers' own turns end in text, and the continuations in one of these ways.
			answer := []int{0, 4, 6}[(first+second)%3]
			var broken []string
			synctest.Test(t, func(*testing.T) {
				w := newWorld(nil)
				w.script = func(r *run) int {
					if r.texts > 1 && r.turn == 1 {
						return answer
					}
					return 0
				}
				a := w.begin(worldSessions[0], first%2 == 0, true)
				w.steps(a, first)
				if early {
					happens(w, a)
				}
				b := w.begin(worldSessions[0], second%2 == 0, false)
				w.steps(b, second)
				if !early {
					happens(w, a)
				}
				sends += w.rules[a.session].sends
				w.end(crashed, backwards)
				broken = w.broken
			})
			require.Empty(t, broken, "%s: %d stops and %d, early %t, backwards %t, %d crashed",
				name, first, second, early, backwards, crashed)
		}
	}
	require.Greater(t, sends, firstStops*secondStops*len(between)/step, "enough of them are continued")
}

// steps advances a call by n stops.
func (w *world) steps(r *run, n int) {
	for range n {
		w.now = w.now.Add(worldInterval)
		w.goOn(r)
	}
}
