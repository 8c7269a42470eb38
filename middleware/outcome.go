package middleware

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/jsonerror"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// Outcome says what carryon did with one call. It is a value, and no longer changes
// once the call has ended. Minor releases may add fields.
type Outcome struct {
	Session  string                   `json:"session,omitzero"` // "" without a session
	Turns    int                      `json:"turns"`            // requests to the model, including the caller's own
	Attempts int                      `json:"attempts"`         // how many of the Turns were continuations
	Reason   continuation.Reason      `json:"reason"`           // why the call was not continued, or not any further
	List     continuation.List        `json:"list,omitzero"`    // the todo list as last read, or zero
	Finish   string                   `json:"finish,omitzero"`  // with the code "not_ended", the provider's finish reason
	Limit    int                      `json:"limit,omitzero"`   // the limit that was reached, if Reason.Exhausted() is true
	Rule     string                   `json:"rule,omitzero"`    // with Limit, the rule that lowered it, in words, or ""
	Awaited  int                      `json:"awaited,omitzero"` // with the code "background", the number of unfinished tasks
	Check    continuation.CheckResult `json:"check,omitzero"`   // what the program's check said last; see [WithCheck]
	Paused   *pause.Result            `json:"paused,omitzero"`  // set if the model paused
	Worth    Worth                    `json:"worth,omitzero"`   // what continuations achieved and cost
	Usage    []adapter.Usage          `json:"usage,omitempty"`  // one per turn, zero if none was reported; nil for a call left alone
	Err      error                    `json:"-"`                // why the call broke off, or what failed: see Reason
	DryRun   bool                     `json:"dry_run,omitzero"` // whether carryon only says, with Reason, what it would have done
	Holdout  bool                     `json:"holdout,omitzero"` // whether the session is in the control group of [WithHoldout]
	Wrote    bool                     `json:"wrote,omitzero"`   // whether the call begins a user turn; false in a dry run
	GoOn     bool                     `json:"go_on,omitzero"`   // whether the user's message then only says to go on
	Ended    bool                     `json:"ended"`            // whether the call has ended
}

// Continued reports whether carryon sent at least one continuation.
func (o Outcome) Continued() bool { return o.Attempts > 0 }

// String describes the outcome in one line, such as "2 turns, 1 continuation: No active
// todos found (pending or in_progress): all 3 are done (from the last call of
// todo_write)". The wording may change.
func (o Outcome) String() string {
	if o.Turns == 0 {
		return "No call has gone through carryon and ended"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: ", plural(o.Turns, "turn"), plural(o.Attempts, "continuation"))
	b.WriteString(o.Explanation())
	if o.Paused != nil {
		fmt.Fprintf(&b, " (%s)", o.Paused.Reason)
	}
	if o.Err != nil {
		fmt.Fprintf(&b, " (%v)", o.Err)
	}
	switch {
	case o.DryRun && o.Reason.Continues():
		b.WriteString(" (dry run, so nothing was sent)")
	case o.DryRun:
		b.WriteString(" (dry run)")
	}
	if o.Holdout && o.Reason != reasons.Holdout {
		b.WriteString(" (holdout)")
	}
	return b.String()
}

// Explanation says in words why the call was not continued, or not any further. It adds
// details such as the tools that were called instead of a todo tool, the counts of the
// list, and the finish reason. It does not quote any todo.
//
// Experimental: the wording may change.
func (o Outcome) Explanation() string {
	switch reason := o.Reason.String(); o.Reason { //nolint:exhaustive // the other reasons need no detail
	case reasons.ToolCalls:
		return o.whoCalled() + " called a tool, so it is the program's turn"
	case reasons.NotEnded:
		return reason + ": " + problemOfFinish(o.Finish)
	case reasons.MaxAttempts, reasons.WithoutProgress, reasons.TokenBudget, reasons.CheckExhausted:
		return reason + ": " + cmp.Or(o.Rule, "the limit is "+strconv.Itoa(o.Limit))
	case reasons.NoList, reasons.ListUnreadable, reasons.NoSession:
		if o.List.Err == nil { // the outcome is not from a call
			return reason
		}
		return reason + ": " + problemOf(o.List.Err)
	case reasons.UnknownStatus, reasons.NoActiveTodos:
		return reason + ": " + o.List.String() + " (from " + o.List.Origin.String() + ")"
	case reasons.AsksUser:
		return reason + ": carryon goes on after the answer; with ApprovalYOLO or Handback.Questions it would not wait"
	case reasons.LeftToUser:
		return reason + ": carryon goes on when the user writes, with ApprovalYOLO or with Handback.Questions"
	case reasons.ListUntouched:
		return reason + ": carryon goes on when the model writes the list, or with Handback.Untouched"
	case reasons.OthersWork:
		return reason + ": " + strconv.Itoa(o.List.Others) + " of " + o.List.String()
	case reasons.Background:
		if o.Awaited == 0 {
			return reason + ": the model says that it waits for work of its own"
		}
		return reason + ": " + strconv.Itoa(o.Awaited) + " awaited"
	case reasons.EmptyList:
		return reason + " (from " + o.List.Origin.String() + ")"
	default:
		return reason
	}
}

// whoCalled returns what the last turn was, as the subject of a sentence.
func (o Outcome) whoCalled() string {
	if o.Continued() {
		return "The continuation"
	}
	return "The model"
}

// problemOfFinish says what is wrong with the finish reason of a turn that did not end well.
func problemOfFinish(finish string) string {
	switch {
	case finish == "":
		return "there was no finish reason"
	case handback.IsPlainStop(finish):
		return "more came after the finish reason " + strconv.Quote(finish)
	}
	return "the finish reason is " + strconv.Quote(finish)
}

// problemOf returns the detail that the text of a reason without a list leaves out.
func problemOf(err error) string {
	var unreadable *todo.UnreadableError
	if errors.As(err, &unreadable) {
		return unreadable.Tool + ": " + strings.TrimPrefix(unreadable.Err.Error(), "todo: ")
	}
	_, problem, found := strings.Cut(strings.TrimPrefix(err.Error(), "todo: "), ": ")
	if !found {
		return err.Error()
	}
	return problem
}

// decided records a decision on a turn, with its cause if that is not part of the
// evaluation.
func (o *Outcome) decided(v *decision.Verdict, finish string, cause error) {
	o.Reason, o.Limit, o.Rule, o.Finish, o.Awaited = v.Reason, v.Limit, v.LimitRule, "", v.Awaited
	switch v.Reason { //nolint:exhaustive // the others have nothing of their own
	case reasons.NotEnded:
		o.Finish = finish
	case reasons.SourceFailed, reasons.SourceLate:
		o.Err = v.List.Err
	case reasons.Gate, reasons.Store, reasons.StoreSkipped, reasons.CheckUnknown:
		o.Err = cause
	}
	if v.List != (continuation.List{}) {
		o.List = v.List
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Outcomes collects the outcomes of calls, in the order in which the calls began. It is
// safe for concurrent use.
type Outcomes struct {
	mu    sync.Mutex
	calls []*outcomeCell
}

// All returns the outcomes of the calls that have ended, in a slice that the caller
// owns.
func (o *Outcomes) All() []Outcome {
	o.mu.Lock()
	calls := slices.Clip(o.calls)
	o.mu.Unlock()
	var all []Outcome
	for _, cell := range calls {
		if outcome := cell.get(); outcome.Ended {
			all = append(all, outcome)
		}
	}
	return all
}

// Last returns the last outcome of All, or the zero Outcome if no call has ended.
func (o *Outcomes) Last() Outcome {
	all := o.All()
	if len(all) == 0 {
		return Outcome{}
	}
	return all[len(all)-1]
}

// add makes room for one more call, whose outcome is first so far.
func (o *Outcomes) add(first Outcome) *outcomeCell {
	cell := &outcomeCell{o: first}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, cell)
	return cell
}

// outcomeCell holds the outcome of a call that has not ended. The call writes it,
// and anybody may read it.
type outcomeCell struct {
	mu sync.Mutex
	o  Outcome
}

func (c *outcomeCell) get() Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.o
	o.Usage = slices.Clone(o.Usage)
	return o
}

// edit changes the outcome of a call that has not ended yet.
func (c *outcomeCell) edit(f func(*Outcome)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.o.Ended {
		f(&c.o)
	}
}

// addUsage adds the usage of one more turn, which may be a continuation.
// unreported says that it has used tokens, and that nobody has said how many.
func (c *outcomeCell) addUsage(u adapter.Usage, continuation, unreported bool) {
	c.edit(func(o *Outcome) {
		if continuation {
			o.Worth.Tokens = o.Worth.Tokens.Plus(TokensOf(u))
		}
		if continuation && unreported {
			o.Worth.Unreported++
		}
		o.Usage = append(o.Usage, u)
	})
}

type captureKey struct{}

// Capture returns a ctx, and the Outcomes of all calls that wrapped clients make with
// that ctx, including calls that carryon leaves alone. Outcomes keeps every outcome in
// memory, so call Capture for each request, not once for the whole program.
func Capture(ctx context.Context) (context.Context, *Outcomes) {
	outcomes := new(Outcomes)
	return context.WithValue(ctx, captureKey{}, outcomes), outcomes
}

func capture(ctx context.Context) *Outcomes {
	outcomes, _ := ctx.Value(captureKey{}).(*Outcomes)
	return outcomes
}

// Worth says what continuations achieved and what they cost.
//
// carryon judges a continuation when it next reads the todo list in the same user turn,
// perhaps in a later call. So the counts of an [Outcome] may be about a continuation of
// an earlier call. A continuation is not judged if it failed, or if the user wrote
// again before the list was read.
type Worth struct {
	// Resumed is the number of stalls that a continuation resolved: the list made
	// progress later in the same user turn. A tool call alone does not count.
	Resumed  int `json:"resumed,omitzero"`
	Finished int `json:"finished,omitzero"` // todos completed after these continuations

	// Paused counts the continuations in which the model paused, or wanted to: it said
	// why it cannot go on. Repeated and NoProgress count the unwanted ones: the model
	// repeated its answer, or did anything else without progress on the list.
	Paused     int `json:"paused,omitzero"`
	Repeated   int `json:"repeated,omitzero"`
	NoProgress int `json:"no_progress,omitzero"`

	// Questions counts the replies to the question of [WithClosingQuestion]. Reopened
	// counts those that called a tool, because something was open.
	Questions int `json:"questions,omitzero"`
	Reopened  int `json:"reopened,omitzero"`

	// ChecksFailed counts how often the program's check has failed; see [WithCheck].
	// ChecksMended counts how often it has passed after continuations because of failures.
	ChecksFailed int `json:"checks_failed,omitzero"`
	ChecksMended int `json:"checks_mended,omitzero"`

	Tokens Tokens `json:"tokens,omitzero"` // usage of continuations, as the provider reported it
	// Unreported counts the continuations whose usage the provider did not report, or
	// not in full. What they have used is missing from Tokens.
	Unreported int `json:"unreported,omitzero"`

	// Unsent counts the continuations that were not sent because of [WithDryRun] or
	// [WithHoldout]. Estimate is roughly what they would have used. In a dry run only
	// the first continuation of a call is counted, because what would have followed is
	// unknown.
	Unsent   int    `json:"unsent,omitzero"`
	Estimate Tokens `json:"estimate,omitzero"`
}

// Unwanted returns the sum of Repeated and NoProgress.
func (w Worth) Unwanted() int { return w.Repeated + w.NoProgress }

// addAnswer counts an answer to the closing question.
func (w *Worth) addAnswer(called bool) {
	w.Questions++
	if called {
		w.Reopened++
	}
}

// addEffect counts what became of a continuation.
func (w *Worth) addEffect(e decision.Effect) {
	switch e.Kind {
	case decision.Progress:
		w.Resumed++
		w.Finished += int(e.Finished)
	case decision.Repeated:
		w.Repeated++
	case decision.NoProgress:
		w.NoProgress++
	case decision.NoEffect:
	}
	if e.Mended {
		w.ChecksMended++
	}
}

// Plus returns the sum of w and other.
func (w Worth) Plus(other Worth) Worth {
	return Worth{
		Resumed: w.Resumed + other.Resumed, Finished: w.Finished + other.Finished,
		Paused: w.Paused + other.Paused, Repeated: w.Repeated + other.Repeated, NoProgress: w.NoProgress + other.NoProgress,
		Questions: w.Questions + other.Questions, Reopened: w.Reopened + other.Reopened,
		ChecksFailed: w.ChecksFailed + other.ChecksFailed, ChecksMended: w.ChecksMended + other.ChecksMended,
		Tokens: w.Tokens.Plus(other.Tokens), Unreported: w.Unreported + other.Unreported,
		Unsent: w.Unsent + other.Unsent, Estimate: w.Estimate.Plus(other.Estimate),
	}
}

// Tokens counts tokens by how providers charge for them.
type Tokens struct {
	Input  int `json:"input"`  // prompt tokens that were not cached
	Cached int `json:"cached"` // prompt tokens from the provider's cache
	Output int `json:"output"` // tokens of the answer, including reasoning
}

// Total returns the sum of all counts.
func (t Tokens) Total() int {
	return decision.AddTokens(decision.AddTokens(t.Input, t.Cached), t.Output)
}

// Plus returns the sum of t and other.
func (t Tokens) Plus(other Tokens) Tokens {
	return Tokens{
		Input: decision.AddTokens(t.Input, other.Input), Cached: decision.AddTokens(t.Cached, other.Cached),
		Output: decision.AddTokens(t.Output, other.Output),
	}
}

// TokensOf returns the tokens of a turn. No count is negative, whatever the provider
// reports.
func TokensOf(u adapter.Usage) Tokens {
	prompt := max(u.Prompt, 0)
	cached := min(max(u.Cached, 0), prompt)
	return Tokens{Input: prompt - cached, Cached: cached, Output: max(u.Completion, 0)}
}

// MarshalJSON returns the fields, the text of Err as "error", and the code of Reason.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(outcomeJSON{outcomeFields(o), jsonerror.Text{Err: o.Err}})
}

// UnmarshalJSON reads what [Outcome.MarshalJSON] returns. It restores only the text of
// Err, so [errors.Is] and [errors.As] do not match it.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	var fields outcomeJSON
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*o = Outcome(fields.outcomeFields)
	o.Err = fields.Error.Err
	return nil
}

type (
	outcomeFields Outcome
	outcomeJSON   struct {
		outcomeFields
		Error jsonerror.Text `json:"error,omitzero"`
	}
)

// bytesPerToken is the estimated size of a token where no usage is reported: low
// rather than high, so that a budget is not overrun.
const bytesPerToken = 3

// promptSize is roughly the size of a prompt in bytes.
func promptSize() int { return len(continuation.LongTemplates().Standard.Base) }

// estimate returns roughly how many tokens a text of that size has.
func estimate(bytes int) int { return max(bytes, 0)/bytesPerToken + 1 }
