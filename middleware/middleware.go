package middleware

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

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
	launches    launches
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

// Drain prepares for the end of the program. From now on carryon sends no continuation,
// and it ends running continuations as if they had failed, so that every answer ends as
// its last good turn did. New calls work, but are not continued.
//
// Drain returns nil once no call holds a claim on its session and no [Check] runs. If ctx ends first, Drain
// releases the remaining claims and returns [context.Cause] of ctx. It may be called
// several times and on any goroutine. It panics if ctx is nil.
func (mw *Middleware) Drain(ctx context.Context) error {
	mustHave(ctx)
	mw.drain.stop()
	return mw.drain.wait(ctx)
}

// maxTools is how many tools providers accept in one request.
const maxTools = 128

// mustHave panics without a ctx.
func mustHave(ctx context.Context) {
	if ctx == nil {
		panic("carryon/middleware: nil context")
	}
}

// Rules returns the current rules.
func (mw *Middleware) Rules() Rules { return mw.rules.Load().Rules }

// SetRules replaces the rules for all calls that begin from now on. A call keeps the
// rules with which it began. Zero fields of the limits mean their defaults. If the
// share of the holdout changes, only the sessions between the old and the new share
// change their group, each with its next call. If a rule is invalid, SetRules returns
// an error and changes nothing.
func (mw *Middleware) SetRules(r Rules) error {
	now := &mw.rules.Load().Limits
	r.Limits.MaxSessions, r.Limits.SessionLife = now.MaxSessions, now.SessionLife
	complete, err := callRulesOf(r)
	if err != nil {
		return fmt.Errorf("middleware: %w", err)
	}
	mw.rules.Store(complete)
	return nil
}

// plugins runs those of the program's plug-ins that may call a model themselves: the
// todo source and the gate. They may call it with a ctx of their own, so only the
// stack shows that such a call comes from within a decision.
type plugins struct {
	running atomic.Int32
}

// run runs f, which may panic.
func (p *plugins) run(f func() error) error {
	p.running.Add(1)
	defer p.running.Add(-1)
	return runPlugin(f)
}

// isCalling reports whether this goroutine runs a plug-in. It walks the stack only if
// some goroutine runs one.
func (p *plugins) isCalling() bool {
	if p.running.Load() == 0 {
		return false
	}
	var stack [64]uintptr
	for skip := 1; ; skip += len(stack) {
		n := runtime.Callers(skip, stack[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(stack[:n])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			if strings.HasSuffix(frame.Function, "carryon/middleware.runPlugin") {
				return true
			}
		}
	}
}

// runPlugin is the frame that isCalling looks for.
//
//go:noinline
func runPlugin(f func() error) error { return guard.Run(f) }

// drain holds what a Middleware must end before the program ends.
type drain struct {
	begun context.Context // ends when Drain is called
	stop  context.CancelFunc

	mu     sync.Mutex
	claims map[weak.Pointer[claim]]struct{} // not released; those of abandoned calls are collected with them
	checks int                              // that run
	empty  chan struct{}                    // closed once there is none of both; nil unless somebody waits
}

func newDrain() *drain {
	d := &drain{claims: make(map[weak.Pointer[claim]]struct{})}
	d.begun, d.stop = context.WithCancel(context.Background())
	return d
}

// hasBegun reports whether Drain was called.
func (d *drain) hasBegun() bool { return d.begun.Err() != nil }

// add notes that a claim is held.
func (d *drain) add(c *claim) {
	ref := weak.Make(c)
	runtime.AddCleanup(c, d.remove, ref)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claims[ref] = struct{}{}
}

// remove notes that a claim is not held any more.
func (d *drain) remove(ref weak.Pointer[claim]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.claims, ref)
	d.noteEmpty()
}

// beginCheck notes that the program's check begins to run.
func (d *drain) beginCheck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checks++
}

// endCheck notes that it has returned.
func (d *drain) endCheck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checks--
	d.noteEmpty()
}

// isEmpty reports whether nothing has to be waited for.
func (d *drain) isEmpty() bool { return len(d.claims) == 0 && d.checks == 0 }

func (d *drain) noteEmpty() {
	if d.isEmpty() && d.empty != nil {
		close(d.empty)
		d.empty = nil
	}
}

// wait returns once no claim is held and no check runs. When ctx ends, it releases the remaining
// claims.
func (d *drain) wait(ctx context.Context) error {
	select {
	case <-d.emptied():
		return nil
	case <-ctx.Done():
	}
	for _, c := range d.all() {
		c.release()
	}
	return context.Cause(ctx)
}

// emptied returns a channel that is closed once no claim is held and no check runs.
func (d *drain) emptied() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	empty := d.empty
	if empty == nil {
		empty = make(chan struct{})
	}
	if !d.isEmpty() {
		d.empty = empty
	} else {
		close(empty)
	}
	return empty
}

func (d *drain) all() (claims []*claim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ref := range d.claims {
		if c := ref.Value(); c != nil {
			claims = append(claims, c)
		}
	}
	return claims
}
