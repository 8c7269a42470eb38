package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/records"
)

// Option configures a [Middleware]. A nil Option is ignored. [New] panics on an invalid
// one; for values from a configuration, call [continuation.Limits.Check],
// [continuation.Templates.Check], [continuation.ApprovalMode.Check] or
// [continuation.Handback.Check] first.
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
	records    records.Records // that processes share; nil for none
	store      session.Store   // on the records; nil for none

	// Which calls are continued, if any.
	toolless        bool
	closingQuestion bool // whether anything is open, where there is no list
	gate            func(context.Context, NextTurn) error

	policy    pause.Policy // nil for the default
	notice    pause.Notice
	pauseTool PauseToolMode

	tasks           delivery.Tasks // nil for none
	sharedTasks     bool           // whether they are asked over a network
	summaryInSystem bool           // whether their status summary goes into the system message

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
	if o.records != nil {
		o.store = session.NewSharedStore(o.records, rules.Limits.SessionLife)
		o.settings.store = o.store
	}
	if o.tasks != nil {
		o.sharedTasks, o.summaryInSystem = o.tasks.IsShared(), o.tasks.SummaryInSystem()
	}
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

// optionIf returns set if ok, and otherwise an option that is refused.
func optionIf(ok bool, set Option, format string, args ...any) Option {
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

// WithLimits sets the limits. Zero fields keep their defaults; see
// [continuation.Limits].
func WithLimits(limits continuation.Limits) Option {
	return func(o *options) { o.rules.Limits = limits }
}

// WithTemplates replaces the texts of the prompt. An empty text keeps the built-in one.
// [continuation.OneLineTemplates] returns shorter ones.
func WithTemplates(templates continuation.Templates) Option {
	return func(o *options) { o.templates = templates }
}

// WithApprovalMode sets the approval mode of sessions that have not set one themselves;
// see [Middleware.Settings]. The default is [continuation.ApprovalDefault].
func WithApprovalMode(mode continuation.ApprovalMode) Option {
	return func(o *options) {
		if err := mode.Check(); err != nil {
			o.refuse("%w", err)
		}
		o.approval = mode
	}
}

// WithRecords keeps the state and the settings of sessions in a store that several
// processes share, such as one of carryon/stores/redis or carryon/stores/postgres. The
// default is memory. [continuation.Limits] says how long a call waits for the store,
// and how long a session is kept.
//
// carryon does not read or overwrite a record that was written by a newer version of
// carryon or by another program. It does not continue the session then, and the outcome
// has an error that wraps [records.ErrNewer] or [records.ErrForeign].
func WithRecords(store records.Records) Option {
	return optionIf(!isNil(store), func(o *options) { o.records = store }, "nil records")
}

// WithPausePolicy sets the policy for the model's reasons for pausing. The default is
// [pause.Strict]. In [continuation.ApprovalYOLO], the default also rejects a reason
// that only asks for permission to go on, such as "Awaiting confirmation to continue",
// once per user turn.
func WithPausePolicy(policy pause.Policy) Option {
	return optionIf(policy != nil, func(o *options) { o.policy = policy }, "nil pause policy")
}

// WithNotice sets the notice that the caller sees when the model pauses. The default is
// [pause.ShortNotice]; with [pause.NoNotice] the caller sees nothing.
func WithNotice(notice pause.Notice) Option {
	return optionIf(notice != nil, func(o *options) { o.notice = notice }, "nil notice")
}

// WithPauseTool sets which requests declare todo_pause. The default is
// [PauseToolInContinuations].
func WithPauseTool(mode PauseToolMode) Option {
	return optionIf(mode <= PauseToolAlways, func(o *options) { o.pauseTool = mode }, "unknown pause tool mode %d", mode)
}

// WithUsage sets which usage a joined answer reports. The default is [UsageOneAnswer].
// Outcomes and events always have the usage of each turn.
func WithUsage(mode UsageMode) Option {
	return optionIf(mode <= UsageLastTurn, func(o *options) { o.usage = mode.shown() }, "unknown usage mode %d", mode)
}

// WithGate lets the program veto continuations, for example for its own loop detection,
// plan mode or cost control. carryon calls gate last, when every other condition is
// met, without any lock held and on the goroutine that drives the call. An error is a
// veto, and becomes Err of the outcome. carryon does not call gate for what it does not
// send, in a dry run or for the control group, so their estimates ignore the vetoes.
func WithGate(gate func(context.Context, NextTurn) error) Option {
	return optionIf(gate != nil, func(o *options) { o.gate = gate }, "nil gate")
}

// WithClosingQuestion is for agents that keep no todo list. When a user turn that has
// called tools ends in text and there is no list, carryon asks the model once whether
// anything of the user's request is still open. That costs such agents one request per
// user turn. Without the option carryon asks in [continuation.ApprovalYOLO] only, and only
// after a turn that is blank, breaks off, announces a step or asks the user something.
//
// The question is a continuation like any other: limits, pauses and all other rules
// apply, and the model's reply is joined to its answer. A reply that only says that
// nothing is open is not shown; the caller gets the first turn unchanged. carryon does
// not ask again until the model has called a tool, nor while the answer is the user's
// to give; see [continuation.Handback].
//
// Experimental: the rules for asking may change.
func WithClosingQuestion() Option {
	return func(o *options) { o.closingQuestion = true }
}

// WithSessionKey sets the function that returns the name of a call's session. It
// replaces the session of [continuation.WithSession], which the function can read with
// [continuation.Session]. "" means no session. The function applies to calls only: the
// tools of a todo.Memory, for example, still need continuation.WithSession in their
// ctx. It may be called concurrently.
func WithSessionKey(key func(context.Context) string) Option {
	return optionIf(key != nil, func(o *options) { o.sessionKey = key }, "nil session key")
}

// WithObserver adds an observer. If there are several, they are called in the order of
// the options.
func WithObserver(observer Observer) Option {
	return func(o *options) { o.reporter.observers = append(o.reporter.observers, observer) }
}

// WithLogger logs what carryon does: turns and decisions at level debug; pauses and the
// requests that carryon adds at info; rejected pauses and exhausted budgets at warn;
// failures at error. Mistakes in the set-up are logged once, at warn: an unknown tool
// that looks like a todo tool, an unknown status, a list that needs a session.
//
// The log contains no text of a message, a prompt or a todo, unless
// [WithLogContent] is given. Errors of the provider, of observers, policies and notices are logged by their
// status or type. Errors of todo sources, stores, task managers, session keys and
// gates are logged in full, so they must not quote the texts that they receive.
func WithLogger(logger *slog.Logger) Option {
	return optionIf(logger != nil, func(o *options) { o.logger = logger }, "nil logger")
}

// WithLogContent makes the log of [WithLogger] include the texts of reasons, todos,
// prompts and errors.
func WithLogContent() Option {
	return func(o *options) { o.content = true }
}

var _ = clock.Settable(func(c clock.Clock) Option { return func(o *options) { o.clock = c } })

// WithToollessCalls makes carryon continue calls that offer no tools, too. These calls
// do not get todo_pause as a tool; the model pauses by printing the call as text. It does
// not apply to langchaingo, where a chain needs carrylangchain.WithPlainChains.
func WithToollessCalls() Option {
	return func(o *options) { o.toolless = true }
}

// WithHandback sets whether carryon continues turns that the model seems to hand back
// to the user. By default the approval mode of the session decides; see
// [continuation.Handback].
func WithHandback(h continuation.Handback) Option {
	return func(o *options) { o.rules.Handback = h }
}

// WithDryRun makes carryon take and report every decision without acting on it. It
// sends no continuation, does not wait, and does not change the state of a session. The
// usual log, events and outcomes say what it would have done.
func WithDryRun() Option {
	return func(o *options) { o.rules.DryRun = true }
}

// WithHoldout sets a control group. For its sessions, carryon takes and reports every
// decision but sends no continuation: the reason is "holdout"
// instead of "satisfied". share is the share of all sessions in the
// group, from 0 to 1.
//
// A hash of the session's name decides whether a session is in the group. So all
// replicas agree, a session stays in its group after a restart, and raising share only
// adds sessions. A call without a session is never in the group, because nothing
// connects it to later calls of its conversation.
func WithHoldout(share float64) Option {
	return func(o *options) { o.rules.Holdout = share }
}

// WithTasks tells the model about the background tasks of an [asynctask.Manager]. The
// next request of a session carries a reminder of the tasks that have ended, and the
// status summary if it has changed. Both are joined to the last message from the user
// or a tool, in a copy, so the caller's history never contains them. carryon repeats
// them in the same place until a turn ends in text, so that a model that first calls a
// tool still sees them.
//
// carryon does not continue a call while tasks of its session are running or if it
// cannot ask for them. Tasks that are not kept in memory have the StoreTimeout of
// [continuation.Limits] to answer; after a failure, carryon does not ask for a few
// seconds.
//
// Only calls that may be continued carry reminders. Calls that are suppressed, offer no
// tools, or do not let the model choose whether to call one do not.
func WithTasks(tasks *asynctask.Manager) Option {
	return optionIf(tasks != nil, func(o *options) { o.tasks = tasks.Deliveries() }, "nil task manager")
}

// UsageMode says which usage a joined answer reports.
type UsageMode uint8

// The usage modes.
const (
	// UsageOneAnswer reports usage as if the turns were one answer: the prompt tokens
	// of the first turn, and the completion tokens of all turns. Agents take the prompt
	// tokens for the size of their context.
	UsageOneAnswer UsageMode = iota
	// UsageSum reports the sum of the turns that the answer is made of. The provider
	// also charges for a turn of which the caller is shown nothing: a continuation that
	// failed, and the question of [WithClosingQuestion] if nothing is open.
	// [Outcome].Usage has the usage of every turn.
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
	// PauseToolInContinuations declares todo_pause only in continuations. The caller's
	// own requests are sent unchanged.
	PauseToolInContinuations PauseToolMode = iota
	// PauseToolAlways declares todo_pause, as the last tool, in every call that may be
	// continued. The tools and messages before a prompt then stay the same, byte for
	// byte, during a whole conversation, so that providers can cache them. The model
	// may then also pause in the caller's own turn. The caller never sees a call of
	// todo_pause.
	PauseToolAlways
)

// WithCheck makes carryon ask the program whether the work is done, because a finished
// list is only the model's word. When a user turn that has called tools would end well in
// text, with nothing open on the list or without a list, carryon holds the end of the
// answer and asks c. If it is unmet, carryon continues the turn with what is missing.
// If it fails in another way, that is reported and the answer ends.
//
// carryon does not ask while somebody is waited for, after a question to the user in
// [continuation.ApprovalDefault], if no attempt is left, or at the end of a sub-agent's
// work. A conversation is a sub-agent's if [adapter.Request].SubAgent says so, or if it
// begins with words that a model has given to a tool. carryon asks in a dry run and for
// the control group, too.
//
// The limits are those of all continuations. A failure that differs from the one before
// in more than numbers is progress. A check that never passes costs at most ten
// continuations until the user writes again.
//
// While c runs, a stream shows signs of life, if its protocol has any. The caller's
// deadline ends c in time to end the answer well; Close, the end of the caller's ctx
// and [Middleware.Drain] end it at once.
//
// Experimental: the rules for asking may change.
func WithCheck(c Check) Option {
	return optionIf(c != nil, func(o *options) { o.rules.Check = c }, "nil check")
}

// watch starts a stopwatch if an observer wants to know what answers take.
func (o *options) watch() stopwatch {
	for i := range o.reporter.observers {
		if o.reporter.observers[i].Answered != nil {
			return stopwatch{o.clock, o.clock.Now()}
		}
	}
	return stopwatch{}
}
