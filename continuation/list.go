package continuation

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/jsonerror"
	"github.com/carryon-go/carryon/todo"
)

// List describes a todo list by counts, without the text of any todo. The zero List means
// that the list was not looked at.
type List struct {
	Origin    todo.Origin `json:"origin"` // where it was read
	Todos     int         `json:"todos"`  // all of them
	Active    int         `json:"active"` // those that are pending or in progress
	Completed int         `json:"completed"`
	Cancelled int         `json:"cancelled"`
	Others    int         `json:"others,omitzero"` // active todos that belong to other agents, or wait for them
	// UnknownStatus is the first unknown status on the list as it was written, or "" if
	// every status is known.
	UnknownStatus todo.Status `json:"unknown_status,omitzero"`
	// Err says why there is no list; nil if there is one. It is a *[todo.NoListError], a
	// *[todo.UnreadableError], [todo.ErrNoSession], or the source's own error.
	Err error `json:"-"`
}

// MarshalJSON returns the fields, with the text of Err as "error".
func (l List) MarshalJSON() ([]byte, error) {
	return json.Marshal(listJSON{listFields(l), jsonerror.Text{Err: l.Err}})
}

// UnmarshalJSON reads what [List.MarshalJSON] returns. It restores only the text of Err,
// so [errors.Is] and [errors.As] do not match it.
func (l *List) UnmarshalJSON(data []byte) error {
	var fields listJSON
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*l = List(fields.listFields)
	l.Err = fields.Error.Err
	return nil
}

type (
	listFields List
	listJSON   struct {
		listFields
		Error jsonerror.Text `json:"error,omitzero"`
	}
)

// Unknown returns the number of todos with an unknown status. They do not count as
// active.
func (l List) Unknown() int { return l.Todos - l.Active - l.Completed - l.Cancelled }

// String describes the list in one line, such as "3 todos, 1 active, 2 completed" or
// "all 3 are done". If there is no list, it returns the text of Err.
func (l List) String() string {
	switch {
	case l.Err != nil:
		return strings.TrimPrefix(l.Err.Error(), "todo: ")
	case l.Todos == 0:
		return "no todos"
	case l.Completed == l.Todos && l.Todos > 1:
		return "all " + strconv.Itoa(l.Todos) + " are done"
	}
	parts := []string{counted(l.Todos, "todos")}
	if l.Todos == 1 {
		parts[0] = "1 todo"
	}
	if l.Active == 0 {
		parts = append(parts, "none active")
	}
	for _, part := range [...]struct {
		n    int
		what string
	}{{l.Active, "active"}, {l.Completed, "completed"}, {l.Cancelled, "cancelled"}} {
		if part.n > 0 {
			parts = append(parts, counted(part.n, part.what))
		}
	}
	if n := l.Unknown(); n > 0 {
		parts = append(parts, counted(n, "of unknown status "+strconv.Quote(string(l.UnknownStatus))))
	}
	return strings.Join(parts, ", ")
}

func counted(n int, what string) string { return strconv.Itoa(n) + " " + what }

// State is what carryon knows about a session; see middleware.Middleware.State.
//
// Experimental: fields may be added.
type State struct {
	UserTurn int   // number of the current user turn; 0 before the first
	Paused   Pause // set while the session is paused
	Active   bool  // whether a call of the session is being continued

	Attempts      int // as Limits.MaxAttempts counts them
	Continuations int // continuations in this user turn since the list last made progress
	Tokens        int // tokens that all continuations of this user turn used

	LastPrompt time.Time // when the last prompt was sent
}

// Pause says why and since when a session is paused.
type Pause struct {
	Reason string    `json:"reason,omitzero"`
	Since  time.Time `json:"since,omitzero"` // zero: not paused
}

// IsSet reports whether the session is paused.
func (p Pause) IsSet() bool { return !p.Since.IsZero() }
