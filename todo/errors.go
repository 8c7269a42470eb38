package todo

import (
	"errors"
	"fmt"
)

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
