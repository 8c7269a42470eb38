package decision

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/description"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

// summary is the result of one pass over a list.
type summary struct {
	Todos     int         // all of them
	Active    int         // todos pending or in progress
	Completed int         // todos completed
	Cancelled int         // todos cancelled
	Others    int         // active todos that are not for this agent to do now
	Unknown   todo.Status // the first status that is not known, "" if all are
	Next      todo.Todo   // the first in progress, else the first pending; never a blank one
	HasNext   bool        // false: no active todo has a content to describe
}

// summarize reads the list once. It allocates only if the spelling of a status
// differs from this module's. A todo of an unknown status is not active. others are the
// indexes, in order, of active todos that are not for this agent to do now: none of them
// is Next.
func summarize(todos []todo.Todo, others []int) summary {
	s := summary{Todos: len(todos)}
	next, started := -1, false // the todo to go on with, and whether it is in progress
	for i := range todos {
		status, known := todo.ParseStatus(string(todos[i].Status))
		s.count(status, known)
		if len(others) > 0 && others[0] == i {
			others = others[1:]
			if status.Active() {
				s.Others++
			}
			continue
		}
		if !status.Active() || started || next >= 0 && status == todo.Pending || description.Blank(todos[i].Content) {
			continue
		}
		next, started = i, status == todo.InProgress
	}
	if next >= 0 {
		s.Next, s.HasNext = todos[next], true
	}
	return s
}

// MaxUpcoming is how many todos Upcoming returns at most.
const MaxUpcoming = 3

// Upcoming returns the contents of the todos to go on with, in order: those in progress,
// then those that are pending. The first is that of a [Verdict].Todo.
func Upcoming(todos []todo.Todo, others []int) (contents [MaxUpcoming]string) {
	var pending [MaxUpcoming]string
	started, waiting := 0, 0
	for i := range todos {
		t := &todos[i]
		if len(others) > 0 && others[0] == i {
			others = others[1:]
			continue
		}
		if t.Status == todo.Completed || t.Status == todo.Pending && waiting == MaxUpcoming {
			continue // most of a long list, in the usual spelling
		}
		status, _ := todo.ParseStatus(string(t.Status))
		switch {
		case !status.Active() || description.Blank(t.Content):
		case status == todo.Pending && waiting < MaxUpcoming:
			pending[waiting] = t.Content
			waiting++
		case status == todo.InProgress && started < MaxUpcoming:
			contents[started] = t.Content
			started++
		}
	}
	copy(contents[started:], pending[:waiting])
	return contents
}

func (s *summary) count(status todo.Status, known bool) {
	switch {
	case !known:
		if s.Unknown == "" {
			s.Unknown = status
		}
	case status == todo.Completed:
		s.Completed++
	case status == todo.Cancelled:
		s.Cancelled++
	default:
		s.Active++
	}
}

// counts describes the list by counts.
func (s *summary) counts() continuation.List {
	return continuation.List{
		Todos: s.Todos, Active: s.Active, Completed: s.Completed, Cancelled: s.Cancelled, Others: s.Others, UnknownStatus: s.Unknown,
	}
}

// Count counts the todos of a list.
func Count(todos []todo.Todo) continuation.List {
	list := summarize(todos, nil)
	return list.counts()
}

// reasonOf returns why a list that was read has no active todo.
func reasonOf(l *continuation.List) continuation.Reason {
	switch {
	case l.Todos == 0:
		return reasons.EmptyList
	case l.Unknown() > 0:
		return reasons.UnknownStatus
	}
	return reasons.NoActiveTodos
}

// reasonWithoutList returns the reason for a missing list.
func reasonWithoutList(err error) continuation.Reason {
	switch {
	case errors.Is(err, todo.ErrNoList):
		return reasons.NoList
	case errors.Is(err, todo.ErrUnreadable):
		return reasons.ListUnreadable
	case errors.Is(err, todo.ErrNoSession):
		return reasons.NoSession
	case errors.Is(err, context.DeadlineExceeded):
		return reasons.SourceLate
	}
	return reasons.SourceFailed
}

// Digest returns a number that identifies the list, the same in every process
// and never 0. It changes with ids, contents, statuses and order.
func Digest(todos []todo.Todo) uint64 {
	sum := uint64(len(todos))
	for i := range todos {
		t := &todos[i]
		sum = fold(fold(fold(sum, t.ID), t.Content), string(t.Status))
	}
	return sum | 1
}

// fold adds a text to a hash, eight bytes at a time.
func fold(sum uint64, text string) uint64 {
	const prime = 0x9e3779b97f4a7c15 // an odd number without a pattern
	sum = (sum ^ uint64(len(text))) * prime
	for len(text) >= 8 {
		word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		sum = (sum ^ word) * prime
		sum ^= sum >> 32
		text = text[8:]
	}
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum ^ sum>>29
}

// Agent is the agent of a team that a list is looked at for.
type Agent struct {
	// Name is its name in the team; "" if it is not known.
	Name string
	// Member is true of one that gets its work from the team's lead: todos without an
	// owner are not its own.
	Member bool
	// OtherAgents are the names of the other agents, if they are known: then no other name
	// is that of an owner. It may be a word of the todo.
	OtherAgents []string
}

// Others returns the indexes, in order, of the active todos that are not for the agent to
// do now: those that another agent owns, and those that wait for work of others. A todo
// that waits for one that waits for others does so too.
func Others(todos []todo.Todo, agent Agent) []int {
	var others []int
	for i, blocked := range agent.blocked(todos) {
		if blocked {
			others = append(others, i)
		}
	}
	return others
}

// blocked reports of each todo whether it is active and the work of others, or waits for
// such a todo.
func (a *Agent) blocked(todos []todo.Todo) []bool {
	at := make(map[string]int, len(todos))
	for i := range todos {
		at[todos[i].ID] = i
	}
	blocked := make([]bool, len(todos))
	blocks := make([][]int, len(todos)) // the todos that wait for each
	var next []int                      // those that wait, whose own blocks the loop looks at next
	for i := range todos {
		t := &todos[i]
		if !t.Status.Active() {
			continue
		}
		if a.isOthers(t) {
			blocked[i], next = true, append(next, i)
		}
		for id := range toolcall.IDs(t.BlockedBy) {
			if blocker, known := at[id]; known && todos[blocker].Status.Active() {
				blocks[blocker] = append(blocks[blocker], i)
			}
		}
	}
	for len(next) > 0 {
		last := next[len(next)-1]
		next = next[:len(next)-1]
		for _, i := range blocks[last] {
			if !blocked[i] {
				blocked[i], next = true, append(next, i)
			}
		}
	}
	return blocked
}

// isOthers reports whether another agent owns t.
func (a *Agent) isOthers(t *todo.Todo) bool {
	owner := plainName(t.Owner)
	switch {
	case a.Member:
		return owner == "" || owner != plainName(a.Name)
	case owner == "" || owner == plainName(a.Name):
		return false
	}
	return len(a.OtherAgents) == 0 || slices.ContainsFunc(a.OtherAgents, func(other string) bool { return plainName(other) == owner })
}

// plainName returns a name without case, "@" and the name of the team behind it, as in
// "ann@builders".
func plainName(name string) string {
	name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "@"), "@")
	return strings.ToLower(name)
}
