package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Option configures a [Middleware]. One that is used wrongly panics when it is
// made, or when [New] is given it, with a message that begins with
// "middleware: ".
type Option func(*options)

type options struct {
	limits     continuation.Limits
	attempts   bool // the program has set MaxAttempts
	templates  continuation.Templates
	approval   continuation.ApprovalMode
	settings   *continuation.Settings
	store      continuation.Store
	policy     pause.Policy
	notice     pause.Notice
	pauseTool  PauseToolMode
	usage      UsageMode
	gate       func(context.Context, Turn) error
	sessionKey func(context.Context) string
	observers  []Observer
	logger     *slog.Logger
	clock      clock.Clock
	todoWait   time.Duration
	toolless   bool
	empty      bool
	dryRun     bool
	tasks      *asynctask.Manager
	summary    SummaryMode
	content    bool
}

// DefaultTodoTimeout is how long a todo source may take.
const DefaultTodoTimeout = time.Second

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
	if mode != continuation.ApprovalDefault && mode != continuation.ApprovalYOLO {
		panic(fmt.Sprintf("middleware: unknown approval mode %q", mode))
	}
	return func(o *options) { o.approval = mode }
}

// WithSettings shares ephemeral settings with another Middleware. Without it
// each has its own.
func WithSettings(settings *continuation.Settings) Option {
	notNil(settings != nil, "settings")
	return func(o *options) { o.settings = settings }
}

// WithStore keeps session state elsewhere than in memory.
func WithStore(store continuation.Store) Option {
	notNil(store != nil, "store")
	return func(o *options) { o.store = store }
}

// WithPausePolicy judges the reasons that models give for pausing, in place of
// [pause.Strict].
func WithPausePolicy(policy pause.Policy) Option {
	notNil(policy != nil, "pause policy")
	return func(o *options) { o.policy = policy }
}

// WithNotice words what the caller is shown when the model pauses, in place of
// [pause.ShortNotice]. With [pause.NoNotice] nothing is shown.
func WithNotice(notice pause.Notice) Option {
	notNil(notice != nil, "notice")
	return func(o *options) { o.notice = notice }
}

// WithPauseTool says which requests declare todo_pause.
func WithPauseTool(mode PauseToolMode) Option {
	if mode > Always {
		panic(fmt.Sprintf("middleware: unknown pause tool mode %d", mode))
	}
	return func(o *options) { o.pauseTool = mode }
}

// WithUsage says which usage a joined answer reports.
func WithUsage(mode UsageMode) Option {
	if mode > LastTurn {
		panic(fmt.Sprintf("middleware: unknown usage mode %d", mode))
	}
	return func(o *options) { o.usage = mode }
}

// Turn is what a gate is told about the continuation that is about to be sent.
type Turn struct {
	Place
	Todo todo.Todo // the todo to go on with
	Text string    // what the model has answered so far, all turns of the call joined
}

// WithGate lets the program veto continuations, for a loop detection, a plan
// mode or a cost control of its own. It is asked last, outside every lock; an
// error is a veto and stands in the outcome.
func WithGate(gate func(context.Context, Turn) error) Option {
	notNil(gate != nil, "gate")
	return func(o *options) { o.gate = gate }
}

// WithSessionKey says where the session of a call comes from, in place of
// continuation.WithSession, which the function may consult with
// continuation.Session. An empty key is no session. It is asked for calls only:
// what else goes by the ctx, such as the tools of a todo.Memory, needs
// continuation.WithSession.
func WithSessionKey(key func(context.Context) string) Option {
	notNil(key != nil, "session key")
	return func(o *options) { o.sessionKey = key }
}

// WithObserver adds an observer. Several are told in the order given.
func WithObserver(observer Observer) Option {
	return func(o *options) { o.observers = append(o.observers, observer) }
}

// WithLogger logs what happens: turns and decisions at debug, pauses at info,
// rejected pauses and exhausted budgets at warn, failures at error level. No
// text of a message, prompt or todo is logged; see [WithContent].
func WithLogger(logger *slog.Logger) Option {
	notNil(logger != nil, "logger")
	return func(o *options) { o.logger = logger }
}

// WithContent lets texts of reasons, todos, prompts and errors into the log.
func WithContent() Option {
	return func(o *options) { o.content = true }
}

// WithClock replaces the system's clock, for tests.
func WithClock(clock Clock) Option {
	notNil(clock != nil, "clock")
	return func(o *options) { o.clock = clock }
}

// WithTodoTimeout sets how long a todo source may take, instead of
// [DefaultTodoTimeout]. Its ctx ends then, and it counts as a source without
// todos; one that ignores its ctx is waited for.
func WithTodoTimeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("middleware: todo timeout %v is not positive", d))
	}
	return func(o *options) { o.todoWait = d }
}

// WithToollessCalls has calls continued that offer no tools. todo_pause is not
// added to them; the model pauses by printing the call.
func WithToollessCalls() Option {
	return func(o *options) { o.toolless = true }
}

// WithEmptyTurns has a turn continued, once per call, in which the model said
// nothing at all.
func WithEmptyTurns() Option {
	return func(o *options) { o.empty = true }
}

// WithDryRun takes and reports every decision and acts on none: no call, no
// wait, no change of session state.
func WithDryRun() Option {
	return func(o *options) { o.dryRun = true }
}

// WithTasks tells the model of the background tasks that the manager keeps: a
// reminder of those that have ended, once, and the status summary where it has
// changed ride on the next request of the session, joined to its last message
// of the user or of a tool. The caller's history never holds them; they are
// repeated at their place until a turn ends in text, so that a model that
// answers with a tool call does not lose them. A call is not continued while
// tasks of its session are running.
//
// Only calls that may be continued carry them: not those that are suppressed,
// that offer no tools, or that leave the model no choice about calling one.
func WithTasks(manager *asynctask.Manager) Option {
	notNil(manager != nil, "task manager")
	return func(o *options) { o.tasks = manager }
}

// WithTaskSummary says where the status summary of background tasks goes.
func WithTaskSummary(mode SummaryMode) Option {
	if mode > SummaryInSystem {
		panic(fmt.Sprintf("middleware: unknown summary mode %d", mode))
	}
	return func(o *options) { o.summary = mode }
}

// Clock tells the time and calls back later.
type Clock = clock.Clock

// Timer is a pending call of a [Clock]'s AfterFunc.
type Timer = clock.Timer

func notNil(ok bool, what string) {
	if !ok {
		panic("middleware: nil " + what)
	}
}
