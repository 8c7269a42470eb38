package carryontest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Recorder records the events of a Middleware, in order, for tests:
//
//	recorder := carryontest.NewRecorder()
//	mw := middleware.New(todos, middleware.WithObserver(recorder.Observer()))
//
// Events are recorded as they happen: once a call has returned, or its stream has ended, the Recorder has all of its
// events. The zero Recorder is ready to use. Several Middlewares may share a Recorder. It is safe for concurrent use; the
// caller owns what its methods return.
type Recorder struct {
	mu     sync.Mutex
	events []any
}

// NewRecorder returns a Recorder without events.
func NewRecorder() *Recorder { return new(Recorder) }

// Observer returns the observer that records, for [middleware.WithObserver].
func (r *Recorder) Observer() middleware.Observer {
	return middleware.Observer{
		TurnEnded:           record[middleware.TurnEnded](r),
		Decision:            record[middleware.Decision](r),
		ContinuationStarted: record[middleware.ContinuationStarted](r),
		PauseCalled:         record[middleware.PauseCalled](r),
		ReminderDelivered:   record[middleware.ReminderDelivered](r),
		Failed:              record[middleware.Failed](r),
		Answered:            r.recovered,
		CallEnded:           record[middleware.CallEnded](r),
	}
}

// Events returns the events, in order. Each is a value of a type that the functions of a [middleware.Observer] take. Events
// leaves out CallStarted, TurnStarted and CallEnded, which only enclose others, and each Answered that is no recovery.
func (r *Recorder) Events() []any {
	return slices.DeleteFunc(Recorded[any](r), func(event any) bool {
		_, encloses := event.(middleware.CallEnded)
		return encloses
	})
}

// Lines returns one short line per event, which tests can compare together:
//
//	turn 1 ended: stop
//	turn 1 decided: All continuation conditions satisfied
//	turn 2 started: attempt 1, todo 1
//	turn 2 ended: tool_calls, 1 tool call
//	turn 2 decided: Tool calls were made during stream - no continuation needed
//
// The session, if there is one, comes first and in brackets. Times, tokens and
// prompts are left out.
func (r *Recorder) Lines() []string {
	events := r.Events()
	lines := make([]string, len(events))
	for i, event := range events {
		lines[i] = line(event)
	}
	return lines
}

// Recorded returns the events of one type, in order, such as
// Recorded[middleware.Decision](recorder). The calls that have ended, including those
// that carryon left alone, are its [middleware.CallEnded].
func Recorded[E any](r *Recorder) []E {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []E
	for _, event := range r.events {
		if e, ok := event.(E); ok {
			events = append(events, e)
		}
	}
	return events
}

// Clear forgets all events.
func (r *Recorder) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// record returns the observer's function for the events of one type.
func record[E any](r *Recorder) func(context.Context, E) {
	return func(_ context.Context, event E) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, event)
	}
}

// recovered records that something works again.
func (r *Recorder) recovered(ctx context.Context, e middleware.Answered) {
	if e.Recovered {
		record[middleware.Answered](r)(ctx, e)
	}
}

func line(event any) string {
	switch e := event.(type) {
	case middleware.TurnEnded:
		return with(at(e.TurnID)+" ended", e.Finish, count(e.ToolCalls), question(&e), problem(e.Err))
	case middleware.Decision:
		return at(e.TurnID) + " decided: " + e.Reason.String() + noted(e.DryRun, "dry run") + noted(e.Exhausted, "exhausted")
	case middleware.ContinuationStarted:
		if e.Asks {
			return fmt.Sprintf("%s started: attempt %d, closing question", at(e.TurnID), e.Attempt)
		}
		return fmt.Sprintf("%s started: attempt %d, todo %s", at(e.TurnID), e.Attempt, name(e.Todo))
	case middleware.PauseCalled:
		if e.Err != nil {
			return fmt.Sprintf("%s pause rejected: %q, %v", at(e.TurnID), e.Result.Reason, e.Err)
		}
		return at(e.TurnID) + " paused: " + e.Result.Reason
	case middleware.ReminderDelivered:
		return fmt.Sprintf("%s reminder delivered: %d task(s)", at(e.TurnID), len(e.Tasks))
	case middleware.Failed:
		return fmt.Sprintf("%s failed: %s: %v", at(e.TurnID), e.Op, e.Err)
	case middleware.Answered:
		return "recovered: " + e.Op
	}
	return fmt.Sprintf("%T", event)
}

// question says how the closing question was answered, "" if the turn does not answer it.
func question(e *middleware.TurnEnded) string {
	switch {
	case !e.Asked:
		return ""
	case e.Result == "nothing_open":
		return "nothing is open"
	}
	return "closing question"
}

func at(p continuation.TurnID) string {
	if p.Session == "" {
		return fmt.Sprintf("turn %d", p.Turn)
	}
	return fmt.Sprintf("[%s] turn %d", p.Session, p.Turn)
}

// with adds the details that are not empty.
func with(what string, details ...string) string {
	details = slices.DeleteFunc(details, func(detail string) bool { return detail == "" })
	if len(details) == 0 {
		return what
	}
	return what + ": " + strings.Join(details, ", ")
}

func count(toolCalls int) string {
	switch toolCalls {
	case 0:
		return ""
	case 1:
		return "1 tool call"
	}
	return fmt.Sprintf("%d tool calls", toolCalls)
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return "error: " + err.Error()
}

// noted adds a note that applies.
func noted(applies bool, note string) string {
	if applies {
		return " (" + note + ")"
	}
	return ""
}

// name names a todo by its id, or else by its content.
func name(t todo.Todo) string {
	if t.ID != "" {
		return t.ID
	}
	return fmt.Sprintf("%q", t.Content)
}
