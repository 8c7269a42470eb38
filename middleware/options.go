package middleware

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Option configures a [Middleware]. For a misused one, [New] panics and [TryNew]
// returns an error. A nil Option is ignored.
type Option func(*options)

// options are what the program has set. The zero value of a field is its default.
type options struct {
	prompting
	pausing
	reminding

	report       reporter
	logger       *slog.Logger // nil for none
	content      bool         // whether texts may be logged
	limits       continuation.Limits
	attemptsSet  bool // the program has set MaxAttempts
	store        continuation.Store
	usage        UsageMode
	gate         func(context.Context, NextTurn) error
	sessionKey   func(context.Context) string
	clock        clock.Clock
	todoTimeout  time.Duration
	storeTimeout time.Duration
	callRules
	err error // of the first misused option
}

// prompting is the wording of the prompt, and the settings that choose it.
type prompting struct {
	templates continuation.Templates
	approval  continuation.ApprovalMode
	settings  *continuation.Settings
}

// pausing is how the model pauses.
type pausing struct {
	policy    pause.Policy // nil for the default
	notice    pause.Notice
	pauseTool PauseToolMode
}

// reminding is how the model hears of background tasks.
type reminding struct {
	tasks       Tasks // nil for none
	sharedTasks bool  // whether they are asked over a network
	summary     SummaryMode
}

// callRules say which calls are continued, if any.
type callRules struct {
	toolless bool
	handback continuation.Handback
	dryRun   bool
	holdout  float64 // the part of all sessions that is never continued
}

// newOptions applies the options to the defaults.
func newOptions(opts []Option) options {
	o := options{clock: clock.System(), todoTimeout: DefaultTodoTimeout, storeTimeout: DefaultStoreTimeout}
	o.notice = pause.ShortNotice
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	o.attemptsSet = o.limits.MaxAttempts != 0
	limits, err := o.limits.WithDefaults()
	if err != nil {
		o.refuse("%w", err)
	}
	o.limits = limits
	switch {
	case o.settings == nil:
		values := continuation.DefaultValues()
		values.ApprovalMode = cmp.Or(o.approval, values.ApprovalMode)
		o.settings = continuation.NewSettings(values)
		if o.store != nil {
			o.settings = continuation.NewSharedSettings(values, o.store)
		}
	case o.approval != "":
		o.refuse("with WithSettings, the approval mode must be given to continuation.NewSettings")
	}
	o.sharedTasks = areShared(o.tasks)
	if o.logger != nil {
		o.report.log = &eventLog{logger: o.logger, content: o.content}
		o.report.observers = append(o.report.observers, o.report.log.observer())
	}
	return o
}

// pausePolicy returns the policy that judges a model's reasons for pausing.
func (o *pausing) pausePolicy() pause.Policy {
	if o.policy == nil {
		return pause.Strict
	}
	return o.policy
}

// refuse records why an option is misused. The first one counts.
func (o *options) refuse(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("middleware: "+format, args...)
	}
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

// check returns set if ok, and otherwise an option that is refused.
func check(ok bool, set Option, format string, args ...any) Option {
	if ok {
		return set
	}
	return func(o *options) { o.refuse(format, args...) }
}

// mustHave panics without a ctx.
func mustHave(ctx context.Context) {
	if ctx == nil {
		panic("carryon/middleware: nil context")
	}
}

// DefaultTodoTimeout is how long a todo source may take by default.
const DefaultTodoTimeout = time.Second

// DefaultStoreTimeout is how long a store may take by default.
const DefaultStoreTimeout = 500 * time.Millisecond

// WithLimits sets the budgets. Zero fields keep their defaults.
func WithLimits(limits continuation.Limits) Option {
	return func(o *options) { o.limits = limits }
}

// WithTemplates replaces the texts of the prompt. An empty text keeps the built-in
// one; continuation.OneLineTemplates has shorter ones.
func WithTemplates(templates continuation.Templates) Option {
	return func(o *options) { o.templates = templates }
}

// WithApprovalMode sets the approval mode of sessions that have not set one. It
// cannot be combined with [WithSettings], whose Settings have a mode of their own.
func WithApprovalMode(mode continuation.ApprovalMode) Option {
	return check(mode == continuation.ApprovalDefault || mode == continuation.ApprovalYOLO, func(o *options) { o.approval = mode }, "unknown approval mode %q", mode)
}

// WithSettings makes the Middleware use the given Settings, which several may share.
// Without it each Middleware has its own.
func WithSettings(settings *continuation.Settings) Option {
	return check(settings != nil, func(o *options) { o.settings = settings }, "nil settings")
}

// WithStore sets the store of session state, in place of one in memory.
func WithStore(store continuation.Store) Option {
	return check(!isNil(store), func(o *options) { o.store = store }, "nil store")
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
	return check(mode <= UsageLastTurn, func(o *options) { o.usage = mode }, "unknown usage mode %d", mode)
}

// NextTurn describes to a gate the continuation that is about to be sent.
type NextTurn struct {
	continuation.TurnID
	Todo todo.Todo // the todo to go on with
	Text string    // the model's answer so far, all turns of the call joined
}

// WithGate lets the program veto continuations, for its own loop detection, plan mode
// or cost control. The gate is asked last, outside every lock; an error is a veto and
// appears in the outcome.
func WithGate(gate func(context.Context, NextTurn) error) Option {
	return check(gate != nil, func(o *options) { o.gate = gate }, "nil gate")
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
	return func(o *options) { o.report.observers = append(o.report.observers, observer) }
}

// WithLogger logs what happens: turns and decisions at debug; pauses and the requests
// that carryon adds, one line each, at info; rejected pauses and exhausted budgets at
// warn; failures at error level. Faults in the set-up are logged once, at warn: an
// unknown tool that looks like a todo tool, an unknown status, a list that needs a
// session.
//
// No text of a message, a prompt or a todo is logged; see [WithContent]. Errors of
// todo sources, stores, task managers and gates are logged in full. Errors of the
// provider, of observers and of others that see texts are logged by status or type.
func WithLogger(logger *slog.Logger) Option {
	return check(logger != nil, func(o *options) { o.logger = logger }, "nil logger")
}

// WithContent lets texts of reasons, todos, prompts and errors into the log.
func WithContent() Option {
	return func(o *options) { o.content = true }
}

// WithClock replaces the system's clock, for tests.
func WithClock(clock Clock) Option {
	return check(!isNil(clock), func(o *options) { o.clock = clock }, "nil clock")
}

// WithTodoTimeout sets how long a todo source may take, instead of
// [DefaultTodoTimeout]. Its ctx ends then, and the call is not continued; a source
// that ignores its ctx holds the call up until it returns. After a time-out no call
// asks the source for some seconds; then one of them tries again.
func WithTodoTimeout(d time.Duration) Option {
	return check(d > 0, func(o *options) { o.todoTimeout = d }, "todo timeout %v is not positive", d)
}

// WithStoreTimeout sets how long a turn may wait for a store of [WithStore], instead of
// [DefaultStoreTimeout], with the time for background tasks and lists that processes
// share included. A call waits for only one time-out: after it, the call is not continued, and
// asks none of them again. After a time-out or an error no call asks the store for
// some seconds; then one of them tries again.
func WithStoreTimeout(d time.Duration) Option {
	return check(d > 0, func(o *options) { o.storeTimeout = d }, "store timeout %v is not positive", d)
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
	return func(o *options) {
		if err := h.Check(); err != nil {
			o.refuse("%w", err)
		}
		o.handback = h
	}
}

// WithDryRun makes carryon take and report every decision and act on none: it sends
// no continuation, does not wait, and does not change the state of a session.
func WithDryRun() Option {
	return func(o *options) { o.dryRun = true }
}

// WithTasks tells the model about the background tasks of an asynctask.Manager. The
// next request of the session carries a reminder of each task that has ended, and the
// status summary if it has changed, joined to its last message from the user or a
// tool. The caller's history never contains them; carryon repeats them in the same
// place until a turn ends in text, so that a model that answers with a tool call
// keeps seeing them. A call is not continued while tasks of its session are running,
// nor if the tasks cannot be asked: tasks kept elsewhere than in memory have the time
// of [WithStoreTimeout] to answer, and after a failure carryon does not ask them for
// some seconds.
//
// Only calls that may be continued carry them: not those that are suppressed, that
// offer no tools, or that do not let the model choose whether to call one.
func WithTasks(tasks Tasks) Option {
	return check(!isNil(tasks), func(o *options) { o.tasks = tasks }, "nil task manager")
}

// WithTaskSummary says where the status summary of background tasks goes; the default
// is [SummaryOnChange].
func WithTaskSummary(mode SummaryMode) Option {
	return check(mode <= SummaryInSystem, func(o *options) { o.summary = mode }, "unknown summary mode %d", mode)
}

// Clock tells the time and calls back later. Now() time.Time returns the time, and
// AfterFunc(d time.Duration, f func()) Timer calls f once after d, on any goroutine.
// It is safe for concurrent use. carryontest has one that moves only when told to.
type Clock = clock.Clock

// Timer is a pending call of a [Clock]'s AfterFunc. Stop() bool cancels the call,
// and Reset(d time.Duration) bool schedules it for d from now; both report whether
// it was still pending. A *time.Timer is a Timer.
type Timer = clock.Timer
