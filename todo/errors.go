package todo

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of a source that has no list to return. A source of your own may return them
// too. carryon reports a different reason for each. Test for them with [errors.Is].
var (
	// ErrNoList says that the source found no list. It is matched by every
	// [*NoListError].
	ErrNoList = errors.New("todo: no list")
	// ErrUnreadable says that the source found a list but could not read it. It is
	// matched by every [*UnreadableError].
	ErrUnreadable = errors.New("todo: the list could not be read")
	// ErrNoSession says that the source keeps one list per session, and that the ctx
	// has no session.
	ErrNoSession = errors.New("todo: no session: name the conversation with continuation.WithSession, " +
		"or say todo.NewMemory(todo.WithOneConversation())")
)

// NoListError says what a source found instead of a list. It matches [ErrNoList].
type NoListError struct {
	// Called has the names of the tools that the conversation called, newest first,
	// without duplicates, and at most eight.
	Called []string
	// Lookalikes has the names of unknown tools that the conversation called and whose
	// calls carryon can read as a todo list if they are named with [WithToolNames], at
	// most eight.
	Lookalikes []string
	// ItemTools has the names of unknown tools that look like a todo tool, but whose
	// calls carryon cannot read as a list, because each adds or changes single todos. A
	// [ProviderFunc] can tell carryon the list. At most eight.
	ItemTools []string
	// OtherSessions is the number of other sessions that have a list, if the source
	// keeps one per session.
	OtherSessions int
}

// Error says what the source found, and what to do about it.
func (e *NoListError) Error() string {
	switch {
	case len(e.Lookalikes) == 1:
		return "todo: no list: " + e.Lookalikes[0] + " looks like a todo tool and is not known: name it with todo.WithToolNames"
	case len(e.Lookalikes) > 1:
		return "todo: no list: " + strings.Join(e.Lookalikes, ", ") + " look like todo tools and are not known: name them with todo.WithToolNames"
	case len(e.ItemTools) == 1:
		return "todo: no list: " + e.ItemTools[0] + " looks like a todo tool, but its calls do not have the whole list: " + useProvider
	case len(e.ItemTools) > 1:
		return "todo: no list: " + strings.Join(e.ItemTools, ", ") + " look like todo tools, but their calls do not have the whole list: " + useProvider
	case len(e.Called) > 0:
		return "todo: no list: none of the tools called is known to write one: " + strings.Join(e.Called, ", ")
	case e.OtherSessions == 1:
		return "todo: no list: nothing was written under this session; 1 other session has a list"
	case e.OtherSessions > 1:
		return fmt.Sprintf("todo: no list: nothing was written under this session; %d other sessions have lists", e.OtherSessions)
	}
	return "todo: no list: nothing was written so far"
}

// Is reports whether target is ErrNoList.
func (e *NoListError) Is(target error) bool { return target == ErrNoList }

// UnreadableError says which list could not be read, and why. It matches
// [ErrUnreadable].
type UnreadableError struct {
	Tool string // the tool that wrote the list, as the model named it
	Err  error  // what is wrong with the list
}

// Error returns the tool and the problem in one line, and what a program can do about a
// tool whose calls do not have the whole list.
func (e *UnreadableError) Error() string {
	problem, advice := e.Err.Error(), ""
	var arguments *ArgumentsError
	if errors.As(e.Err, &arguments) {
		problem = arguments.problem() // the remedy is for the model
	}
	if arguments != nil && arguments.Item == 0 || errors.Is(e.Err, errOneTodo) || errors.Is(e.Err, errTarget) || errors.Is(e.Err, errAction) {
		advice = "; if its calls change single todos, " + useProvider
	}
	return "todo: the list of " + e.Tool + " could not be read: " + strings.TrimPrefix(problem, "todo: ") + advice
}

// Unwrap returns Err and [ErrUnreadable].
func (e *UnreadableError) Unwrap() []error { return []error{ErrUnreadable, e.Err} }

// ArgumentsError says why [ParseList] or [Memory.Write] rejected a list. Its text is
// written for the model that sent the list, and quotes nothing from it. Use [errors.As]
// with an *ArgumentsError.
type ArgumentsError struct {
	// Item is the position of the invalid item, counted from 1; 0 means the whole list.
	Item int
	// Problem says what is wrong, for example "content is missing or blank".
	Problem string
	// Remedy says what to send instead.
	Remedy string
}

// Error returns the position, the problem and the remedy in one line.
func (e *ArgumentsError) Error() string { return "todo: " + e.problem() + "; " + e.Remedy }

func (e *ArgumentsError) problem() string {
	if e.Item == 0 {
		return e.Problem
	}
	return fmt.Sprintf("item %d: %s", e.Item, e.Problem)
}

const (
	useProvider = "give carryon the list with todo.ProviderFunc"
	sendList    = `send the whole list as {"todos":[{"id":"1","content":"what has to be done","status":"pending"}]}`
	sendItem    = `send it as {"id":"1","content":"what has to be done","status":"pending"}`
	sendContent = "send what has to be done as a string that is not blank"
	sendStatus  = "send one of pending, in_progress, completed, cancelled"
)

func refuse(item int, problem, remedy string) error {
	return &ArgumentsError{Item: item, Problem: problem, Remedy: remedy}
}
