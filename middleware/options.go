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

// Option configures a [Middleware]. One that is used wrongly makes [New] panic,
// and [TryNew] return an error.
type Option func(*options)

// options are what the program has set. The zero value of a field is its default.
type options struct {
	prompting
	pausing
	reminding

	report       reporter
	logger       *slog.Logger // nil for none
	content      bool         // texts may be logged
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
	err error // of the first option that is used wrongly
}

// prompting is what the model is told, and in which mode.
type prompting struct {
	templates continuation.Templates
	approval  continuation.ApprovalMode
	settings  *continuation.Settings
}

// pausing is how the model pauses.
type pausing struct {
	policy    pause.Policy
	notice    pause.Notice
	pauseTool PauseToolMode
}

// reminding is what the model is told of background tasks.
type reminding struct {
	tasks       Tasks // nil for none
	sharedTasks bool  // they are asked over a network
	summary     SummaryMode
}

// callRules are which calls are continued, and whether at all.
type callRules struct {
	toolless     bool
	noEmptyTurns bool
	touchedOnly  bool
	dryRun       bool
}

// newOptions applies the options to the defaults.
func newOptions(opts []Option) options {
	o := options{clock: clock.System(), todoTimeout: DefaultTodoTimeout, storeTimeout: DefaultStoreTimeout}
	o.policy, o.notice = pause.Strict, pause.ShortNotice
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
		o.refuse("with WithSettings, the approval mode is one of the values of continuation.NewSettings")
	}
	o.sharedTasks = areShared(o.tasks)
	if o.logger != nil {
		o.report.log = &eventLog{logger: o.logger, content: o.content}
		o.report.observers = append(o.report.observers, o.report.log.observer())
	}
	return o
}

// refuse records why an option is used wrongly. The first one counts.
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

// check returns set as an option if it is used well, and otherwise one that is
// refused.
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

// DefaultTodoTimeout is how long a todo source may take.
const DefaultTodoTimeout = time.Second

// DefaultStoreTimeout is how long a store may take.
const DefaultStoreTimeout = 500 * time.Millisecond

// WithLimits sets the budgets. Zero fields keep their defaults.
func WithLimits(limits continuation.Limits) Option {
	return func(o *options) { o.limits = limits }
}

// WithTemplates replaces the texts of the prompt. Empty ones keep theirs;
// continuation.OneLineTemplates has shorter ones.
func WithTemplates(templates continuation.Templates) Option {
	return func(o *options) { o.templates = templates }
}

// WithApprovalMode sets the approval mode of sessions that have not set one. It
// does not go with [WithSettings], which bring a mode of their own.
func WithApprovalMode(mode continuation.ApprovalMode) Option {
	return check(mode == continuation.ApprovalDefault || mode == continuation.ApprovalYOLO, func(o *options) { o.approval = mode }, "unknown approval mode %q", mode)
}

// WithSettings shares ephemeral settings with another Middleware. Without it
// each has its own.
func WithSettings(settings *continuation.Settings) Option {
	return check(settings != nil, func(o *options) { o.settings = settings }, "nil settings")
}

// WithStore keeps session state elsewhere than in memory.
func WithStore(store continuation.Store) Option {
	return check(!isNil(store), func(o *options) { o.store = store }, "nil store")
}

// WithPausePolicy judges the reasons that models give for pausing, in place of
// [pause.Strict].
func WithPausePolicy(policy pause.Policy) Option {
	return check(policy != nil, func(o *options) { o.policy = policy }, "nil pause policy")
}

// WithNotice words what the caller is shown when the model pauses, in place of
// [pause.ShortNotice]. With [pause.NoNotice] nothing is shown.
func WithNotice(notice pause.Notice) Option {
	return check(notice != nil, func(o *options) { o.notice = notice }, "nil notice")
}

// WithPauseTool says which requests declare todo_pause.
func WithPauseTool(mode PauseToolMode) Option {
	return check(mode <= PauseToolAlways, func(o *options) { o.pauseTool = mode }, "unknown pause tool mode %d", mode)
}

// WithUsage says which usage a joined answer reports; [UsageOneAnswer] without this
// option. Outcome and events always have what each turn used.
func WithUsage(mode UsageMode) Option {
	return check(mode <= UsageLastTurn, func(o *options) { o.usage = mode }, "unknown usage mode %d", mode)
}

// NextTurn is what a gate is told about the continuation that is about to be sent.
type NextTurn struct {
	continuation.TurnID
	Todo todo.Todo // the todo to go on with
	Text string    // what the model has answered so far, all turns of the call joined
}

// WithGate lets the program veto continuations, for a loop detection, a plan
// mode or a cost control of its own. It is asked last, outside every lock; an
// error is a veto and stands in the outcome.
func WithGate(gate func(context.Context, NextTurn) error) Option {
	return check(gate != nil, func(o *options) { o.gate = gate }, "nil gate")
}

// WithSessionKey says where the session of a call comes from, in place of
// continuation.WithSession, which the function may consult with
// continuation.Session. An empty key is no session. It is asked for calls only:
// whatever else reads the ctx, such as the tools of a todo.Memory, needs
// continuation.WithSession.
func WithSessionKey(key func(context.Context) string) Option {
	return check(key != nil, func(o *options) { o.sessionKey = key }, "nil session key")
}

// WithObserver adds an observer. Several are told in the order given.
func WithObserver(observer Observer) Option {
	return func(o *options) { o.report.observers = append(o.report.observers, observer) }
}

// WithLogger logs what happens: turns and decisions at debug; pauses and, one
// line each, the requests that carryon adds at info; rejected pauses and
// exhausted budgets at warn; failures at error level. What is wrong with the
// set-up is logged once, at warn: a tool that looks like a todo tool and is not
// known, a status that is not known, a list that needs a session.
//
// No text of a message, a prompt or a todo is logged; see [WithContent]. Errors of
// todo sources, stores, task managers and gates are logged as they are. Of errors
// of the provider, of observers and of others that are shown texts, the status or
// the type is.
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
// [DefaultTodoTimeout]. Its ctx ends then, and the call is not continued; a
// source that ignores its ctx is waited for. After a time-out all calls go on
// without the source for some seconds; then one of them tries again.
func WithTodoTimeout(d time.Duration) Option {
	return check(d > 0, func(o *options) { o.todoTimeout = d }, "todo timeout %v is not positive", d)
}

// WithStoreTimeout sets how long a store of [WithStore] may take, instead of
// [DefaultStoreTimeout], and so may background tasks and lists that processes
// share. A call waits once for any of them: it is not continued then, and asks
// none of them any more. After a time-out or an error all calls leave the store
// alone for some seconds; then one of them tries again.
func WithStoreTimeout(d time.Duration) Option {
	return check(d > 0, func(o *options) { o.storeTimeout = d }, "store timeout %v is not positive", d)
}

// WithToollessCalls has calls continued that offer no tools. todo_pause is not
// added to them; the model pauses by printing the call.
func WithToollessCalls() Option {
	return func(o *options) { o.toolless = true }
}

// WithoutEmptyTurns leaves a turn alone in which the model said nothing at all.
// Without it such a turn is continued, once per call, with a placeholder as what
// the model has said.
func WithoutEmptyTurns() Option {
	return func(o *options) { o.noEmptyTurns = true }
}

// WithTouchedLists has carryon act only in user turns in which the list was
// written, so that a question beside the work is answered and no more. A list
// counts as written if an id, a text, a status or the order of its todos differs
// from what the session's last decision saw, and so does one that the session sees
// for the first time. Calls without a session know of no earlier list.
func WithTouchedLists() Option {
	return func(o *options) { o.touchedOnly = true }
}

// WithDryRun makes and reports every decision and acts on none: it sends no
// continuation, does not wait, and does not change the state of a session.
func WithDryRun() Option {
	return func(o *options) { o.dryRun = true }
}

// WithTasks tells the model of background tasks, which an asynctask.Manager
// keeps: a reminder of those that have ended, once, and the status summary where
// it has changed ride on the next request of the session, joined to its last message
// of the user or of a tool. The caller's history never holds them; they are
// repeated at their place until a turn ends in text, so that a model that
// answers with a tool call does not lose them. A call is not continued while
// tasks of its session are running, nor if the tasks cannot be asked: those that
// are kept elsewhere than in memory have half a second to answer, and are left
// alone for some seconds after they have failed to.
//
// Only calls that may be continued carry them: not those that are suppressed,
// that offer no tools, or that leave the model no choice about calling one.
func WithTasks(tasks Tasks) Option {
	return check(!isNil(tasks), func(o *options) { o.tasks = tasks }, "nil task manager")
}

// WithTaskSummary says where the status summary of background tasks goes.
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
