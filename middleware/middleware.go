package middleware

import (
	"context"
	"sync/atomic"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/todo"
)

// Middleware continues the calls of the clients that it is wrapped around. It is safe
// for concurrent use, and any number of clients can share it. Use [New]: the zero value
// is not ready.
type Middleware struct {
	options     options
	rules       atomic.Pointer[callRules] // of the calls that begin
	prompter    *prompt.Prompter
	source      todoSource
	sessions    sessionStore
	tasks       guard.Remote
	launches    launchTimes
	plugins     plugins
	drain       *drain
	calls       atomic.Uint64 // numbers the calls, if anybody observes
	toolCalls   atomic.Uint64 // turns that have called tools, for a check
	assignments assignments   // to sub-agents, likewise
}

// New returns a Middleware that continues calls until the todos are done. It panics if
// todos is nil or an option is invalid.
func New(todos todo.Provider, opts ...Option) *Middleware {
	if isNil(todos) {
		panic("carryon/middleware: nil todo provider")
	}
	o, rules := newOptions(opts)
	prompter, err := prompt.New(o.templates)
	if err != nil {
		panic("carryon/middleware: " + err.Error())
	}
	mw := &Middleware{options: o, prompter: prompter, drain: newDrain()}
	mw.rules.Store(rules)
	mw.source.use(todos, &mw.plugins)
	mw.sessions.options, mw.sessions.store = &mw.options, o.store
	if o.store == nil {
		mw.sessions.store = session.NewMemoryStore(rules.Limits.MaxSessions, rules.Limits.SessionLife, o.clock.Now)
	}
	return mw
}

// Settings returns the settings of the sessions. They may be changed at any time.
func (mw *Middleware) Settings() *Settings {
	return mw.options.settings
}

// State returns what carryon remembers about the session of ctx. The error is
// [ErrNoSession] if ctx has no session, or the store's error.
func (mw *Middleware) State(ctx context.Context) (continuation.State, error) {
	s, err := mw.updateSession(ctx, func(s decision.State) decision.State { return s })
	return continuation.State{
		UserTurn: s.UserTurn, Paused: s.Paused, Active: s.Claim.Active(mw.options.clock.Now()),
		Attempts: s.Attempts, Continuations: s.Continuations, Tokens: s.Tokens, LastPrompt: s.LastPrompt,
	}, err
}

// Pause pauses the session of ctx: carryon does not continue it until the next user
// turn or [Middleware.Resume], and drops a continuation that it has not sent yet. Pause
// returns the same errors as State.
func (mw *Middleware) Pause(ctx context.Context, reason string) error {
	now := mw.options.clock.Now()
	shown := pausetool.Shown(reason)
	_, err := mw.updateSession(ctx, func(s decision.State) decision.State {
		return s.Pause(shown, now, 0)
	})
	return err
}

// Resume ends a pause of the session of ctx. It returns the same errors as State.
func (mw *Middleware) Resume(ctx context.Context) error {
	_, err := mw.updateSession(ctx, decision.State.Resume)
	return err
}

func (mw *Middleware) updateSession(
	ctx context.Context, f func(decision.State) decision.State,
) (decision.State, error) {
	mustHave(ctx)
	session := mw.session(ctx)
	if session == "" {
		return decision.State{}, ErrNoSession
	}
	return mw.sessions.update(ctx, session, f)
}

// session returns the session of ctx, or "".
func (mw *Middleware) session(ctx context.Context) string {
	key := mw.options.sessionKey
	if key == nil {
		return scope.Session(ctx)
	}
	var session string
	if err := guard.Run(func() error { session = key(ctx); return nil }); err != nil {
		emit(ctx, &mw.options.reporter, Failed{Op: opSessionKey, Err: err})
		return ""
	}
	return scope.Name(session)
}

// maxTools is how many tools providers accept in one request.
const maxTools = 128

// mustHave panics without a ctx.
func mustHave(ctx context.Context) {
	if ctx == nil {
		panic("carryon/middleware: nil context")
	}
}
