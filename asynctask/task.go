package asynctask

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Task is what is known of a task at one moment. It is a copy, which does not
// change when the task does.
type Task struct {
	ID      string // unique among the Manager's tasks
	Name    string // in one line, for people and models
	Session string // "" if it was started without one, or there is one conversation
	State   State
	Started time.Time // by the Manager's clock, as Ended
	Ended   time.Time // zero while it is running

	// Output is what the task left; nil if nothing, or not yet. Beyond a total
	// size its texts are cut, see WithOutputSize.
	Output *Output
	// Err is what a failed task failed with, the very error of its function.
	// Of an error whose text was cut only that text is left.
	Err error
}

// task is a task as the Manager keeps it, under the Manager's mutex.
type task struct {
	id, name string
	home     *session
	state    State
	started  time.Time
	ended    time.Time
	cancel   context.CancelCauseFunc
	local    bool          // it has a function, which keeps its slot until it returns
	returned chan struct{} // closed once it does; for a task elsewhere, once it ends

	result    *completion // nil while it is running
	delivered bool        // nobody is left to be told of its end
	holder    *Reminder   // who is telling of its end
	gone      bool

	place        uint64 // in the order of end
	older, newer *task  // of those that have ended
}

func (t *task) view() Task {
	v := Task{
		ID: t.id, Name: t.name, Session: t.home.key, State: t.state, Started: t.started, Ended: t.ended,
	}
	if t.result != nil {
		v.Output, v.Err = t.result.outputOf(), t.result.failureOf()
	}
	return v
}

// newID returns an id that nobody can guess, of letters and digits.
func newID() string { return strings.ToLower(rand.Text()) }

const (
	maxID   = 128 // bytes
	maxName = 100 // characters
)

// checkID accepts what can be quoted, split and shown without a thought.
func checkID(id string) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("%w id: %d bytes, it must have 1 to %d", ErrInvalid, len(id), maxID)
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c >= unicode.MaxASCII || c == '"' || c == '\\' {
			return fmt.Errorf("%w id %q: it must have letters, digits and signs of ASCII, no quotes and no backslash", ErrInvalid, id)
		}
	}
	return nil
}

// cleanName makes name fit for one line of a list.
func cleanName(name string) (string, error) {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		return "", fmt.Errorf("%w name: it is blank", ErrInvalid)
	}
	if utf8.RuneCountInString(name) > maxName {
		name = strings.TrimSpace(string([]rune(name)[:maxName-3])) + "..."
	}
	return name, nil
}
