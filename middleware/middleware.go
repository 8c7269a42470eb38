package middleware

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Middleware continues the calls of the clients that it is wrapped around. It is safe
// for concurrent use, and any number of clients can share it. Use [New]: the zero value
// is not ready.
type Middleware struct {
	options      options
	rules        atomic.Pointer[callRules] // of the calls that begin
	prompter     *prompt.Prompter
	source       todoSource
	sessions     sessionStore
	tasksBreaker breaker
	launches     launches
	plugins      plugins
	drain        *drain
	calls        atomic.Uint64 // numbers the calls, if anybody observes
	toolCalls    atomic.Uint64 // turns that have called tools, for a check
	handovers    handovers     // to sub-agents, likewise
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
		mw.options.reporter.failed(ctx, Failed{Op: opSessionKey, Err: err})
		return ""
	}
	return scope.Name(session)
}

// scopeOf returns why the request is out of scope, the zero Reason if it is not.
func (mw *Middleware) scopeOf(ctx context.Context, r *adapter.Request) continuation.Reason {
	switch {
	case scope.Suppressed(ctx):
		return reasons.Suppressed
	case scope.InLayer(ctx), isNested(r), mw.plugins.isCalling():
		return reasons.Nested
	case r.Legacy:
		return reasons.LegacyFunctions
	case r.Tools == 0 && !r.TextAgent && !r.Toolless && !mw.options.toolless:
		return reasons.NoTools
	case r.Choice != adapter.ToolChoiceAuto:
		return reasons.ToolChoice
	case r.N > 1:
		return reasons.ManyChoices
	case r.JSON:
		return reasons.JSON
	}
	return r.LeaveAlone
}

// pass records the outcome of a call that an adapter leaves alone before it has read enough
// to begin it. The outcome goes to [Capture], but not to observers and logs, which are
// about calls to models. It panics if ctx is nil.
func (mw *Middleware) pass(ctx context.Context, reason continuation.Reason) {
	mustHave(ctx)
	if scope.InLayer(ctx) {
		return
	}
	mw.explainLeftAlone(ctx, nil, reason)
	outcomes := capture(ctx)
	if outcomes == nil {
		return
	}
	outcomes.add(mw.outcomeOf(mw.session(ctx), reason))
}

// leaveAlone reports a call that carryon leaves alone, and returns its outcome. If the
// call runs inside another layer, that layer reports it.
func (mw *Middleware) leaveAlone(ctx context.Context, r *adapter.Request, reason continuation.Reason) Outcome {
	id := continuation.TurnID{Session: mw.session(ctx), Turn: 1}
	v := decision.Judge(decision.Input{Settings: mw.options.settings.local(id.Session), Scope: reason})
	outcome := mw.outcomeOf(id.Session, v.Reason)
	if reason == reasons.Nested {
		return outcome
	}
	if v.Reason == reasons.Suppressed {
		r = nil // which adapters need not have read
	}
	mw.explainLeftAlone(ctx, r, v.Reason)
	if len(mw.options.reporter.observers) > 0 {
		event := newDecision(id, &v)
		event.DryRun, event.Holdout = outcome.DryRun, outcome.Holdout
		mw.options.reporter.decided(ctx, event)
	}
	mw.options.reporter.callEnded(ctx, CallEnded{TurnID: id, Outcome: outcome})
	if outcomes := capture(ctx); outcomes != nil {
		outcomes.add(outcome)
	}
	return outcome
}

// outcomeOf returns the outcome of a call that carryon leaves alone.
func (mw *Middleware) outcomeOf(session string, reason continuation.Reason) Outcome {
	rules := mw.rules.Load()
	return Outcome{Session: session, Turns: 1, Reason: reason, DryRun: rules.DryRun, Holdout: rules.holdsOut(session), Ended: true}
}

// isNested reports whether another carryon, in another process, has sent the request
// as a continuation. Then its last message is a prompt and it offers todo_pause, or
// it answers a rejected pause. Where a continuation cannot offer todo_pause, the
// beginning of the prompt is enough.
func isNested(r *adapter.Request) bool {
	if !r.OwnPause && !r.FixedPrefix && r.Tools > 0 && r.Tools < maxTools {
		return false
	}
	return strings.HasPrefix(r.User, continuation.PromptPreamble) || r.OwnPause && answersPause(r)
}

// answersPause reports whether the latest call of the request is a todo_pause
// whose reason carryon has rejected.
func answersPause(r *adapter.Request) bool {
	if r.History == nil || r.Unanswered {
		return false
	}
	rejected := pausetool.InvalidReasonError{} // the result begins with its text
	for call := range adapter.Calls(r.History) {
		return pause.Is(call.Name) && strings.HasPrefix(call.Result, rejected.Error())
	}
	return false
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

// mustHave panics without a ctx.
func mustHave(ctx context.Context) {
	if ctx == nil {
		panic("carryon/middleware: nil context")
	}
}
