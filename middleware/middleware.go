package middleware

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Middleware continues the turns of the clients that it is wrapped around. It
// is safe for concurrent use and can be shared by any number of clients.
type Middleware struct {
	todos    todo.Provider
	options  options
	prompter *continuation.Prompter
	settings *continuation.Settings
	store    continuation.Store
	clock    clock.Clock
	seed     maphash.Seed
}

// New returns a Middleware that carries on until the todos are done. It panics
// if todos is nil or an option is used wrongly.
func New(todos todo.Provider, opts ...Option) *Middleware {
	notNil(todos != nil, "todo provider")
	o := options{
		policy:   pause.Strict,
		notice:   pause.ShortNotice,
		clock:    clock.System(),
		todoWait: DefaultTodoTimeout,
	}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	mw := &Middleware{todos: todos, clock: o.clock, settings: o.settings, store: o.store, seed: maphash.MakeSeed()}
	mw.resolve(&o)
	mw.options = o
	return mw
}

// resolve fills in what the options leave open, and panics on what can't be.
func (mw *Middleware) resolve(o *options) {
	o.attempts = o.limits.MaxAttempts != 0
	limits, err := o.limits.WithDefaults()
	if err != nil {
		panic("middleware: " + err.Error())
	}
	o.limits = limits
	if mw.prompter, err = continuation.NewPrompter(o.templates); err != nil {
		panic("middleware: " + err.Error())
	}
	switch {
	case mw.settings == nil:
		values := continuation.DefaultValues()
		if o.approval != "" {
			values.ApprovalMode = o.approval
		}
		mw.settings = continuation.NewSettings(values)
	case o.approval != "":
		panic("middleware: with WithSettings, the approval mode is one of the values of continuation.NewSettings")
	}
	if mw.store == nil {
		mw.store = continuation.NewMemoryStore(continuation.MemoryOptions{Now: mw.clock.Now})
	}
}

// Settings returns the ephemeral settings, which may be changed at any time.
func (mw *Middleware) Settings() *continuation.Settings {
	return mw.settings
}

// State returns what is remembered about the session of ctx. It fails with
// [ErrNoSession] without one, and with the store's error.
func (mw *Middleware) State(ctx context.Context) (continuation.State, error) {
	return mw.updateSession(ctx, func(s continuation.State) continuation.State { return s })
}

// Pause keeps the session of ctx from being continued until the next user turn
// or [Middleware.Resume]; what is under way is not sent any more. It fails as
// State does.
func (mw *Middleware) Pause(ctx context.Context, reason string) error {
	now := mw.clock.Now()
	shown := pause.Shown(reason)
	_, err := mw.updateSession(ctx, func(s continuation.State) continuation.State {
		return s.Pause(shown, now, 0)
	})
	return err
}

// Resume ends a pause of the session of ctx. It fails as State does.
func (mw *Middleware) Resume(ctx context.Context) error {
	_, err := mw.updateSession(ctx, continuation.State.Resume)
	return err
}

func (mw *Middleware) updateSession(
	ctx context.Context, f func(continuation.State) continuation.State,
) (continuation.State, error) {
	notNil(ctx != nil, "context")
	session := mw.session(ctx)
	if session == "" {
		return continuation.State{}, ErrNoSession
	}
	return mw.update(ctx, session, f)
}

// update runs f on the state under key and returns its result.
func (mw *Middleware) update(
	ctx context.Context, key string, f func(continuation.State) continuation.State,
) (continuation.State, error) {
	u := &update{f: f}
	err := mw.apply(ctx, key, u.apply, &u.ran)
	return u.state, err
}

// apply runs f, which says so in ran, on the state under key.
func (mw *Middleware) apply(
	ctx context.Context, key string, f func(continuation.State) continuation.State, ran *bool,
) error {
	err := guard(func() error { return mw.store.Update(ctx, key, f) })
	if err == nil && !*ran {
		err = errors.New("middleware: the store did not update anything")
	}
	return err
}

// update is an update of a state, which the store may run more than once.
type update struct {
	f     func(continuation.State) continuation.State
	state continuation.State // what f has returned last
	ran   bool
}

func (u *update) apply(s continuation.State) continuation.State {
	u.state, u.ran = u.f(s), true
	return u.state
}

// session returns the session of ctx, or "".
func (mw *Middleware) session(ctx context.Context) string {
	key := mw.options.sessionKey
	if key == nil {
		return scope.Session(ctx)
	}
	var session string
	if err := guard(func() error { session = key(ctx); return nil }); err != nil {
		mw.failed(ctx, Failed{Op: "session key", Err: err})
		return ""
	}
	return session
}
