package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// Option configures a [Middleware]. [New] panics on a misused one. A nil Option is
// ignored. What a program may read from a configuration has a check that returns an
// error: [continuation.Limits.Check], [continuation.Templates.Check],
// [continuation.ApprovalMode.Check] and [continuation.Handback.Check].
type Option func(*options)

// options are what the program has set. The zero value of a field is
// its default, except where newOptions sets one.
type options struct {
	reporter reporter
	logger   *slog.Logger // nil for none
	content  bool         // whether texts may be logged
	clock    clock.Clock

	rules     Rules // with which the Middleware begins
	templates continuation.Templates
	approval  continuation.ApprovalMode
	settings  *Settings
	usage     adapter.UsageShown // of a joined answer

	sessionKey func(context.Context) string
	engine     records.Records // that processes share; nil for none
	store      session.Store   // on the engine; nil for none

	// Which calls are continued, if any.
	toolless        bool
	closingQuestion bool // whether anything is open, where there is no list
	gate            func(context.Context, NextTurn) error

	policy    pause.Policy // nil for the default
	notice    pause.Notice
	pauseTool PauseToolMode

	tasks           Tasks // nil for none
	sharedTasks     bool  // whether they are asked over a network
	summaryInSystem bool  // whether their status summary goes into the system message

	err error // of the first misused option
}

// newOptions applies the options to the defaults. It panics if one is misused.
func newOptions(opts []Option) (options, *callRules) {
	o := options{clock: clock.System()}
	o.approval, o.notice, o.usage = continuation.ApprovalDefault, pause.ShortNotice, adapter.UsageOneAnswer
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	rules, err := callRulesOf(o.rules)
	if err != nil {
		o.refuse("%w", err)
	}
	if o.err != nil {
		panic("carryon/" + o.err.Error())
	}
	values := continuation.DefaultValues()
	values.ApprovalMode = o.approval
	o.settings = newSettings(values, rules.Limits.MaxSessions)
	if o.engine != nil {
		o.store = session.NewSharedStore(o.engine, rules.Limits.SessionLife)
		o.settings.store = o.store
	}
	o.sharedTasks = areShared(o.tasks)
	o.summaryInSystem = summaryInSystem(o.tasks)
	if o.logger != nil {
		log := &eventLog{logger: o.logger, content: o.content}
		o.reporter.logFailed = log.failed
		o.reporter.observers = append(o.reporter.observers, log.observer())
	}
	return o, rules
}

// refuse records why an option is misused. The first one counts.
func (o *options) refuse(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("middleware: "+format, args...)
	}
}

// check returns set if ok, and otherwise an option that is refused.
func check(ok bool, set Option, format string, args ...any) Option {
	if ok {
		return set
	}
	return func(o *options) { o.refuse(format, args...) }
}

// isNil reports whether v is nil, or an interface that holds a nil pointer or
// function.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch value := reflect.ValueOf(v); value.Kind() { //nolint:exhaustive // the others cannot be nil
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice, reflect.Interface:
		return value.IsNil()
	}
	return false
}

// WithLimits sets the budgets. Zero fields keep their defaults.
func WithLimits(limits continuation.Limits) Option {
	return func(o *options) { o.rules.Limits = limits }
}

// WithTemplates replaces the texts of the prompt. An empty text keeps the built-in
// one; continuation.OneLineTemplates has shorter ones.
func WithTemplates(templates continuation.Templates) Option {
	return func(o *options) { o.templates = templates }
}

// WithApprovalMode sets the approval mode of sessions that have not set one; see
// [Middleware.Settings].
func WithApprovalMode(mode continuation.ApprovalMode) Option {
	return func(o *options) {
		if err := mode.Check(); err != nil {
			o.refuse("%w", err)
		}
		o.approval = mode
	}
}

// WithRecords keeps the state and the settings of sessions on an engine that several
// processes share, such as one of carryon/stores/redis or carryon/stores/postgres,
// instead of in memory. See [continuation.Limits] for how long a call waits for the
// engine, and how long a session is kept.
//
// A record that a newer version of carryon, or another program, has written is neither
// read nor changed: the session is not continued, and the outcome has an error that
// wraps [records.ErrNewer] or [records.ErrForeign].
func WithRecords(engine records.Records) Option {
	return check(!isNil(engine), func(o *options) { o.engine = engine }, "nil records")
}

// WithPausePolicy sets the policy that judges a model's reasons for pausing, in place
// of [pause.Strict]. In [continuation.ApprovalYOLO] the default also rejects, once per
// user turn, a reason that only asks for leave to go on; see [pause.NoLeave].
func WithPausePolicy(policy pause.Policy) Option {
	return check(policy != nil, func(o *options) { o.policy = policy }, "nil pause policy")
}

// WithNotice sets the notice that the caller is shown when the model pauses, in place
// of [pause.ShortNotice]. With [pause.NoNotice] nothing is shown.
func WithNotice(notice pause.Notice) Option {
	return check(notice != nil, func(o *options) { o.notice = notice }, "nil notice")
}

// WithPauseTool says which requests declare todo_pause.
func WithPauseTool(mode PauseToolMode) Option {
	return check(mode <= PauseToolAlways, func(o *options) { o.pauseTool = mode }, "unknown pause tool mode %d", mode)
}

// WithUsage says which usage a joined answer reports; the default is
// [UsageOneAnswer]. Outcome and events always have the usage of each turn.
func WithUsage(mode UsageMode) Option {
	return check(mode <= UsageLastTurn, func(o *options) { o.usage = mode.shown() }, "unknown usage mode %d", mode)
}

// NextTurn describes to a gate the continuation that is about to be sent.
type NextTurn struct {
	continuation.TurnID
	Todo todo.Todo // the todo to go on with
	Asks bool      // there is no list: the question of [WithClosingQuestion] is about to be sent
	Text string    // the model's answer so far, all turns of the call joined
}

// WithGate lets the program veto continuations, for its own loop detection, plan mode
// or cost control. The gate is asked last, outside every lock; an error is a veto and
// appears in the outcome.
func WithGate(gate func(context.Context, NextTurn) error) Option {
	return check(gate != nil, func(o *options) { o.gate = gate }, "nil gate")
}

// WithClosingQuestion makes carryon ask a question where it has no list: when a user turn
// that has called tools ends in text, it asks the model once whether anything of what was
// asked for is still open. The question is a continuation like any other: the limits, the
// pauses and all other rules apply, and what the model answers is joined to its answer. An
// answer that only says that nothing is open is not shown; the caller gets the turn before
// as it came. The question is not asked if the model has asked the user something, and not
// again until a tool was called after it.
//
// It is for agents that keep no todo list. It costs them a request for each user turn.
func WithClosingQuestion() Option {
	return func(o *options) { o.closingQuestion = true }
}

// WithSessionKey sets the function that names the session of a call, in place of
// continuation.WithSession, whose session the function can read with
// continuation.Session. An empty key is no session. It counts for calls only:
// whatever else reads the ctx, such as the tools of a todo.Memory, needs
// continuation.WithSession.
func WithSessionKey(key func(context.Context) string) Option {
	return check(key != nil, func(o *options) { o.sessionKey = key }, "nil session key")
}

// WithObserver adds an observer. Several are called in the order given.
func WithObserver(observer Observer) Option {
	return func(o *options) { o.reporter.observers = append(o.reporter.observers, observer) }
}

// WithLogger logs what happens: turns and decisions at debug; pauses and the requests
// that carryon adds, one line each, at info; rejected pauses and exhausted budgets at
// warn; failures at error level. Faults in the set-up are logged once, at warn: an
// unknown tool that looks like a todo tool, an unknown status, a list that needs a
// session.
//
// No text of a message, a prompt or a todo is logged, except with [LogContent]. Errors
// of the provider, of observers, policies and notices are logged by status or type.
// Errors of todo sources, engines, task managers, session keys and gates are logged in
// full, so they must not quote the texts that they are given.
func WithLogger(logger *slog.Logger, opts ...LogOption) Option {
	return check(logger != nil, func(o *options) {
		o.logger, o.content = logger, slices.Contains(opts, LogContent)
	}, "nil logger")
}

// LogOption is an option of [WithLogger].
type LogOption uint8

// LogContent lets texts of reasons, todos, prompts and errors into the log.
const LogContent LogOption = 1

// WithClock replaces the system's clock, for tests.
func WithClock(clock Clock) Option {
	return check(!isNil(clock), func(o *options) { o.clock = clock }, "nil clock")
}

// WithToollessCalls also continues calls that offer no tools. They do not get
// todo_pause as a tool; the model pauses by printing the call.
func WithToollessCalls() Option {
	return func(o *options) { o.toolless = true }
}

// WithHandback sets whether carryon continues turns that the model seems to hand back
// to the user: questions, and turns beside the work on the list. By default the approval
// mode of the session decides; see [continuation.Handback].
func WithHandback(h continuation.Handback) Option {
	return func(o *options) { o.rules.Handback = h }
}

// WithDryRun makes carryon take and report every decision and act on none: it sends
// no continuation, does not wait, and does not change the state of a session.
func WithDryRun() Option {
	return func(o *options) { o.rules.DryRun = true }
}

// WithHoldout sets a control group: carryon takes and reports every decision on its
// sessions, but continues none of them, with [continuation.ReasonHoldout] in place of
// [continuation.ReasonSatisfied]. share is its part of all sessions, from 0 to 1.
//
// A hash of the session's name decides whether the session belongs to it. So every
// replica decides alike, a session stays in its group after a restart, and a higher
// share only adds sessions. Calls without a session name are never held out, because
// nothing ties them to the later calls of their conversation.
func WithHoldout(share float64) Option {
	return func(o *options) { o.rules.Holdout = share }
}

// WithTasks tells the model about the background tasks of an asynctask.Manager. The
// next request of the session carries a reminder of each task that has ended, and the
// status summary if it has changed, joined to its last message from the user or a
// tool. The caller's history never contains them; carryon repeats them in the same
// place until a turn ends in text, so that a model that answers with a tool call
// keeps seeing them. A call is not continued while tasks of its session are running,
// nor if the tasks cannot be asked: tasks kept elsewhere than in memory have the
// StoreTimeout in [continuation.Limits] to answer, and after a failure carryon does not
// ask them for some seconds.
//
// Only calls that may be continued carry them: not those that are suppressed, that
// offer no tools, or that do not let the model choose whether to call one.
func WithTasks(tasks Tasks) Option {
	return check(!isNil(tasks), func(o *options) { o.tasks = tasks }, "nil task manager")
}

// Rules are what a program may change for all sessions while calls run, with
// [Middleware.SetRules]. What a session can set for itself is in [Settings].
type Rules struct {
	Limits   continuation.Limits   // see [WithLimits]; MaxSessions and SessionLife cannot be changed
	Handback continuation.Handback // see [WithHandback]
	DryRun   bool                  // see [WithDryRun]
	Holdout  float64               // see [WithHoldout]
}

// check returns why rules cannot be in force.
func (r *Rules) check() error {
	if !(r.Holdout >= 0 && r.Holdout <= 1) { // NaN is neither
		return fmt.Errorf("the holdout's share %v is not between 0 and 1", r.Holdout)
	}
	return r.Handback.Check()
}

// callRules are the rules of a call. They do not change.
type callRules struct {
	Rules // with all limits

	attemptsSet bool // the program has set MaxAttempts
}

// callRulesOf checks rules and completes their limits.
func callRulesOf(r Rules) (*callRules, error) {
	err := r.check()
	if err != nil {
		return nil, err
	}
	complete := callRules{Rules: r, attemptsSet: r.Limits.MaxAttempts != 0}
	complete.Limits, err = r.Limits.WithDefaults()
	return &complete, err
}

// Rules returns the rules in force.
func (mw *Middleware) Rules() Rules { return mw.rules.Load().Rules }

// SetRules replaces the rules of all calls that begin from now on; a call keeps those
// with which it began. Zero fields of the limits mean their defaults. With another
// share of the holdout, a session whose hash lies between the two shares changes its
// group with its next call; all others stay. SetRules fails, and changes nothing, if a
// rule is not valid.
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

// Clock tells the time and calls back later. Now() time.Time returns the time, and
// AfterFunc(d time.Duration, f func()) Timer calls f once after d, on any goroutine.
// It is safe for concurrent use. carryontest has one that moves only when told to.
type Clock = clock.Clock

// Timer is a pending call of a [Clock]'s AfterFunc. Stop() bool cancels the call,
// and Reset(d time.Duration) bool schedules it for d from now; both report whether
// it was still pending. A *time.Timer is a Timer.
type Timer = clock.Timer

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// UsageOneAnswer reports usage as if the turns were one answer: the prompt tokens
	// of the first turn, and the completion tokens of all. Agents read the prompt
	// tokens as the size of their context.
	UsageOneAnswer UsageMode = iota
	// UsageSum reports the usage of all turns together, which is what is billed.
	UsageSum
	// UsageLastTurn reports the usage of the last turn.
	UsageLastTurn
)

// shown returns the usage that a joined answer shows.
func (m UsageMode) shown() adapter.UsageShown {
	switch m {
	case UsageSum:
		return adapter.UsageSum
	case UsageLastTurn:
		return adapter.UsageLast
	case UsageOneAnswer:
	}
	return adapter.UsageOneAnswer
}

// PauseToolMode says which requests declare todo_pause.
type PauseToolMode uint8

// The pause tool modes.
const (
	// PauseToolInContinuations declares todo_pause only in continuations: the
	// caller's own requests go out as they are.
	PauseToolInContinuations PauseToolMode = iota
	// PauseToolAlways declares todo_pause, as the last tool, in every call that may
	// be continued. The tools and the messages before a prompt then stay the same,
	// byte for byte, over a whole conversation, so providers can cache them. The
	// caller never sees a call of todo_pause, and one in the caller's own turn
	// pauses.
	PauseToolAlways
)

// Tasks is what the engine needs of background tasks. [asynctask.Manager] implements
// it.
type Tasks interface {
	// Pending returns the work of the session. If maxAge is positive, work that has
	// been unfinished for that long does not count.
	Pending(ctx context.Context, session string, maxAge time.Duration) (asynctask.Pending, error)
	// Summary returns the status summary of the session, "" if it has no tasks.
	Summary(ctx context.Context, session string) (string, error)
	// Deliver returns what to tell the model in a request that is about to be sent,
	// or nil for nothing.
	Deliver(ctx context.Context, session string, o asynctask.DeliverOptions) (*asynctask.Delivery, error)
	// Settle records the outcome of a delivery.
	Settle(ctx context.Context, d *asynctask.Delivery, outcome asynctask.DeliveryOutcome) error
}

// areShared reports whether tasks are asked over a network. A Manager with its tasks
// in memory neither waits nor fails.
func areShared(tasks Tasks) bool {
	m, ok := tasks.(*asynctask.Manager)
	return tasks != nil && (!ok || m.IsShared())
}

// summaryInSystem reports whether the status summary goes into the system message.
func summaryInSystem(tasks Tasks) bool {
	summarizer, ok := tasks.(interface{ SummaryInSystem() bool })
	return ok && summarizer.SummaryInSystem()
}
