package todo

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of a source that has no list to return. carryon reports each with a reason
// of its own. Your own sources may return them too. Test for them with errors.Is.
var (
	// ErrNoList says that the source found no list. Every *NoListError matches it.
	ErrNoList = errors.New("todo: no list")
	// ErrUnreadable says that the source found a list and could not read it. Every
	// *UnreadableError matches it.
	ErrUnreadable = errors.New("todo: the list could not be read")
	// ErrNoSession says that the source keeps a list per session and that the
	// ctx has no session.
	ErrNoSession = errors.New("todo: no session: name the conversation with continuation.WithSession, " +
		"or say todo.NewMemory(todo.WithOneConversation())")
)

// NoListError says what the source found instead of a list.
type NoListError struct {
	// Called are the tools that the conversation called, newest first, each once, and
	// at most eight.
	Called []string
	// Lookalikes are the unknown tools that the conversation called and that look
	// like a todo tool, at most eight.
	Lookalikes []string
	// OtherSessions is how many other sessions have a list, where the source
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

// UnreadableError says which list could not be read, and why.
type UnreadableError struct {
	Tool string // the tool that wrote it, as the model named it
	Err  error  // what is wrong with it
}

// Error returns tool and problem in one line.
func (e *UnreadableError) Error() string {
	return "todo: the list of " + e.Tool + " could not be read: " + strings.TrimPrefix(e.Err.Error(), "todo: ")
}

// Is reports whether target is ErrUnreadable.
func (e *UnreadableError) Is(target error) bool { return target == ErrUnreadable }

// Unwrap returns Err.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ErrArguments matches every *ArgumentsError:
//
//	if errors.Is(err, todo.ErrArguments) { … }
var ErrArguments = errors.New("todo: list refused")

// ArgumentsError says why ParseList or Memory.Write refused a list. Its text is
// written for the model that sent the list and quotes nothing from it.
type ArgumentsError struct {
	// Item is the position of the faulty item, counted from 1; 0 means the
	// list as a whole.
	Item int
	// Problem says what is wrong, for example "content is blank".
	Problem string
	// Remedy says what to send instead.
	Remedy string
}

// Error returns position, problem and remedy in one line.
func (e *ArgumentsError) Error() string {
	if e.Item == 0 {
		return "todo: " + e.Problem + "; " + e.Remedy
	}
	return fmt.Sprintf("todo: item %d: %s; %s", e.Item, e.Problem, e.Remedy)
}

// Is reports whether target is ErrArguments.
func (e *ArgumentsError) Is(target error) bool {
	return target == ErrArguments
}

const (
	sendList    = `send the whole list as {"todos":[{"id":"1","content":"what has to be done","status":"pending"}]}`
	sendItem    = `send it as {"id":"1","content":"what has to be done","status":"pending"}`
	sendContent = "send what has to be done as a string that is not blank"
	sendStatus  = "send one of pending, in_progress, completed, cancelled"
)

func refuse(item int, problem, remedy string) error {
	return &ArgumentsError{Item: item, Problem: problem, Remedy: remedy}
}
