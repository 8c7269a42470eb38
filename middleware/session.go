package middleware

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
)

// sessionStore is the store of session state, as the calls of a Middleware ask it.
type sessionStore struct {
	options *options
	store   session.Store
	remote  guard.Remote
}

// update runs f on the state under key and returns its result.
func (s *sessionStore) update(
	ctx context.Context, key string, f func(decision.State) decision.State,
) (decision.State, error) {
	var result struct { // of the last run of f, which the store may run more than once
		state decision.State
		ran   bool
	}
	err := s.run(ctx, key, func(state decision.State) decision.State {
		result.state, result.ran = f(state), true
		return result.state
	}, &result.ran)
	return result.state, err
}

// run runs f on the state under key. f sets ran.
func (s *sessionStore) run(
	ctx context.Context, key string, f func(decision.State) decision.State, ran *bool,
) error {
	err := guard.Run(func() error { return s.store.Update(ctx, key, f) })
	if err == nil && !*ran {
		err = errors.New("middleware: the store did not update anything")
	}
	return err
}

// answered notes the store's answer to an update of the state under key, and
// reports whether the store works again. The error that it returns is marked as known
// if it was reported before.
func (s *sessionStore) answered(ctx context.Context, key string, err error) (recovered bool, _ error) {
	switch {
	case err == nil:
		s.remote.Readable(key)
		return s.remote.Answered(), nil
	case ctx.Err() != nil: // the caller's doing
		return false, err
	case errors.Is(err, session.ErrBadState):
		return s.remote.Answered(), s.remote.Unreadable(key, err)
	}
	return false, s.remote.Failed(s.options.clock.Now(), err)
}

// loopPrefix begins the keys of sessions that have no name.
const loopPrefix = "\x00loop/"

// sessionHandle is a call's handle on the state of its session.
type sessionHandle struct {
	store            *sessionStore
	rules            *callRules
	key              string             // of the state in the store; "" if the call itself holds the state
	local            *decision.State    // the state, if the call holds it and has changed it
	pretended        *arrival           // the arrival that a dry run does not store
	userTurn         int                // the number of the call's user turn
	failure          error              // of the store; nil if it has not failed
	registered       bool               // the store has registered the user turn
	newUserTurn      bool               // it was a new one
	overrides        decision.Overrides // of the state when last seen
	ruledOut         bool               // that state rules a continuation out, whatever the list
	listWritten      bool               // in that state, the model has written the list in this user turn
	checked          bool               // the program's check is asked about the call
	worked           bool               // in that state, the model has called tools in this user turn
	permissionDenied bool               // in that state, a pause that only asked for permission was rejected
	heldOut          bool               // it belongs to the control group of [WithHoldout]
	remoteBudget     guard.Budget       // of the current turn, for the store and what shares its time limit: shared lists and background tasks
}

// keyOf returns the key of a request's session. Without a session name, a tool loop
// is identified by the request's messages; without a loop, the call itself holds the
// state.
func keyOf(ctx context.Context, name string, r *adapter.Request) string {
	if name != "" || r.Loop == nil {
		return name
	}
	var key decision.LoopKey
	if id, ok := scope.UserTurn(ctx); ok {
		key.Add(id)
	}
	r.Loop(key.Add)
	return loopPrefix + key.String()
}

// isLoop reports whether the session is a tool loop.
func (h *sessionHandle) isLoop() bool { return strings.HasPrefix(h.key, loopPrefix) }

// name returns the name of the session, "" if it has none.
func (h *sessionHandle) name() string {
	if h.isLoop() {
		return ""
	}
	return h.key
}

func (h *sessionHandle) clock() clock.Clock { return h.store.options.clock }

// settings returns the settings in force, according to the state as last seen.
func (h *sessionHandle) settings() continuation.Values { return h.settingsWith(h.overrides) }

// settingsWith returns the settings in force, with the overrides of a state.
func (h *sessionHandle) settingsWith(overrides decision.Overrides) continuation.Values {
	return h.store.options.settings.withOverrides(h.name(), overrides)
}

// addTo adds the state to the input of a decision.
func (h *sessionHandle) addTo(in *decision.Input, s decision.State) {
	in.Known |= decision.SessionState
	in.State, in.Settings, in.UserTurn = s, h.settingsWith(s.Overrides), h.userTurn
}

// registerUserTurn registers the call's user turn in the state.
func (h *sessionHandle) registerUserTurn(ctx context.Context, r *adapter.Request) error {
	if h.key == "" {
		return nil // there is only this call, and it is in one user turn
	}
	arrives := h.arrivalOf(ctx, r)
	arrives.hasCheck, arrives.checked = h.rules.Check != nil, h.checked
	arrives.worked = h.checked && hasCalls(r.History)
	if h.rules.DryRun {
		pretended := arrives // a copy, so that only dry runs allocate
		h.pretended = &pretended
		state, err := h.load(ctx)
		h.userTurn = state.UserTurn
		return err
	}
	register := func(s decision.State) decision.State {
		before := s.UserTurn
		s = arrives.register(s)
		h.userTurn, h.registered, h.newUserTurn = s.UserTurn, true, s.UserTurn != before && !h.isLoop()
		h.remember(s)
		return s
	}
	return h.inStoreTime(ctx, func(ctx context.Context) error {
		return h.store.run(ctx, h.key, register, &h.registered)
	})
}

// arrival is the arrival of a request at its session, or at its tool loop.
type arrival struct {
	userTurn decision.UserTurn
	loopSize int  // of the request; -1 in a session
	hasCheck bool // the program has a check
	checked  bool // it is asked about the call
	worked   bool // the model has called tools in the user turn
	at       time.Time
}

// register returns the state after the arrival.
func (a arrival) register(s decision.State) decision.State {
	before := s
	if a.loopSize >= 0 {
		s = s.RegisterLoop(a.loopSize, a.at)
	} else {
		s = s.RegisterUserTurn(a.userTurn)
	}
	if a.hasCheck {
		s = s.RegisterWork(before, a.checked, a.worked)
	}
	return s
}

func (h *sessionHandle) arrivalOf(ctx context.Context, r *adapter.Request) arrival {
	switch {
	case !h.isLoop():
		return arrival{userTurn: userTurnOf(ctx, r), loopSize: -1}
	case r.TextAgent:
		return arrival{loopSize: len(r.User), at: h.clock().Now()} // a text agent's one message grows
	}
	return arrival{loopSize: r.Messages, at: h.clock().Now()}
}

// userTurnOf returns the user turn that a request belongs to.
func userTurnOf(ctx context.Context, r *adapter.Request) decision.UserTurn {
	if scope.IsAutomatic(ctx) {
		return decision.UserTurn{}
	}
	if id, ok := scope.UserTurn(ctx); ok {
		return decision.NamedUserTurn(id)
	}
	if r.TextAgent {
		return decision.GrowingUserTurnOf(r.Users, r.User)
	}
	if r.Users == 0 {
		return decision.UserTurn{} // the agent goes on by itself, with a history that it has shortened
	}
	turn := decision.UserTurnOf(r.Users, r.User)
	if r.Unanswered {
		turn = turn.Unanswered(r.Previous)
	}
	return turn
}

// load returns the state as the call sees it.
func (h *sessionHandle) load(ctx context.Context) (decision.State, error) {
	if h.local != nil {
		return *h.local, nil
	}
	if h.key == "" {
		return decision.State{}, nil
	}
	state, err := h.updateStore(ctx, func(s decision.State) decision.State { return s })
	if h.pretended != nil {
		state = h.pretended.register(state)
	}
	if err == nil {
		h.remember(state)
	}
	return state, err
}

// remember remembers the parts of a state that the next decision begins with.
func (h *sessionHandle) remember(s decision.State) {
	h.overrides, h.listWritten, h.permissionDenied, h.worked = s.Overrides, s.ListWritten, s.PermissionDenied, s.Check.Worked
	h.ruledOut = s.Paused.IsSet() || s.ProviderRefused || s.UserTurn != h.userTurn
}

// update changes the state; a dry run only pretends to.
func (h *sessionHandle) update(ctx context.Context, f func(decision.State) decision.State) error {
	if h.key != "" && !h.rules.DryRun {
		state, err := h.updateStore(ctx, f)
		if err == nil {
			h.remember(state)
		}
		return err
	}
	state, err := h.load(ctx)
	if next := f(state); next != state && !h.rules.DryRun {
		h.local = &next
	}
	return err
}

// updateDetached is update for something that must be stored even if the call has
// ended.
func (h *sessionHandle) updateDetached(ctx context.Context, f func(decision.State) decision.State) error {
	if h.key == "" || h.rules.DryRun {
		return h.update(ctx, f)
	}
	_, err := h.updateStore(context.WithoutCancel(ctx), f)
	return err
}

// release is updateDetached for a claim. It changes the state even if the breaker is open,
// and reports nothing, because observers must not run everywhere that a claim is released.
// If the caller does not wait, the store has its whole time limit.
func (h *sessionHandle) release(ctx context.Context, waits bool, f func(decision.State) decision.State) storeAnswer {
	if h.key == "" || h.rules.DryRun {
		return storeAnswer{err: h.update(ctx, f)}
	}
	ctx = context.WithoutCancel(ctx)
	update := func(ctx context.Context) error {
		_, err := h.store.update(ctx, h.key, f)
		return err
	}
	if waits {
		return h.askStore(ctx, update)
	}
	limited, cancel := context.WithTimeout(ctx, h.rules.Limits.StoreTimeout)
	defer cancel()
	return h.askWithin(ctx, limited, update)
}

func (h *sessionHandle) updateStore(
	ctx context.Context, f func(decision.State) decision.State,
) (state decision.State, err error) {
	err = h.inStoreTime(ctx, func(ctx context.Context) error {
		state, err = h.store.update(ctx, h.key, f)
		return err
	})
	return state, err
}

// inStoreTime asks the store within its time limit, unless the breaker is open.
func (h *sessionHandle) inStoreTime(ctx context.Context, f func(context.Context) error) error {
	if !h.store.remote.Allows(&h.remoteBudget, h.store.options.clock) {
		return errStoreSkipped
	}
	answer := h.askStore(ctx, f)
	h.reportAnswer(ctx, answer)
	return answer.err
}

// runSoon runs f now, or after a while if the call has already waited for a time-out. It
// is for work that must be done, but not at the caller's expense.
func (h *sessionHandle) runSoon(f func()) {
	if h.remoteBudget.IsOver() {
		h.clock().AfterFunc(guard.BreakTime, f)
		return
	}
	f()
}

// storeAnswer is the result of asking the store.
type storeAnswer struct {
	err       error
	took      time.Duration
	timed     bool // took is set: an observer wants to know it
	recovered bool // the store had failed before
}

// reportAnswer tells the observers of an answer. It runs outside every lock.
func (h *sessionHandle) reportAnswer(ctx context.Context, a storeAnswer) {
	if a.timed {
		emit(ctx, &h.store.options.reporter, Answered{
			TurnID: continuation.TurnID{Session: h.name()}, Op: opStore, Took: a.took, Err: a.err, Recovered: a.recovered,
		})
	}
}

// timeLeft returns how long the turn may still wait.
func (h *sessionHandle) timeLeft() time.Duration {
	return h.remoteBudget.Left(h.rules.Limits.StoreTimeout)
}

// limitWait returns a ctx that ends once the turn has waited for as long as it may,
// measured in real time, because the time-out of a ctx is. Call done when the wait is over.
func (h *sessionHandle) limitWait(ctx context.Context) (limited context.Context, done func()) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, h.timeLeft())
	return limited, func() {
		h.remoteBudget.Add(time.Since(began))
		cancel()
	}
}

// askStore asks the store within the time that the turn has left for it.
func (h *sessionHandle) askStore(ctx context.Context, f func(context.Context) error) storeAnswer {
	if h.store.options.store == nil {
		return storeAnswer{err: f(ctx)} // the default store neither waits nor fails
	}
	limited, done := h.limitWait(ctx)
	defer done()
	return h.askWithin(ctx, limited, f)
}

// askWithin asks the store as long as limited, which is derived from ctx, has not
// ended. A late answer is an error, even from a store that ignores its ctx.
func (h *sessionHandle) askWithin(ctx, limited context.Context, f func(context.Context) error) storeAnswer {
	watch := h.store.options.watch()
	err := f(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		err = cmp.Or(err, limited.Err())
		h.remoteBudget.End()
	}
	took := watch.read()
	recovered, err := h.store.answered(ctx, h.key, err)
	return storeAnswer{err: err, took: took, timed: watch.runs(), recovered: recovered}
}

// hasCalls reports whether a history has tool calls after the user's last message.
func hasCalls(history iter.Seq[adapter.Entry]) bool {
	if history == nil {
		return false
	}
	for entry := range history {
		if entry.IsCall() || entry.FromUser {
			return entry.IsCall()
		}
	}
	return false
}
