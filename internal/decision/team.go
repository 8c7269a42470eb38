package decision

import (
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

// Agent is the agent of a team that a list is looked at for.
type Agent struct {
	// Name is its name in the team; "" if it is not known.
	Name string
	// Member is true of one that gets its work from the team's lead: todos without an
	// owner are not its own.
	Member bool
	// Others are the names of the other agents, if they are known: then no other name
	// is that of an owner. It may be a word of the todo.
	Others []string
}

// Others returns the indexes, in order, of the active todos that are not for the agent to
// do now: those that another agent owns, and those that wait for work of others. A todo
// that waits for one that waits for others does so too.
func Others(todos []todo.Todo, agent Agent) []int {
	var others []int
	for i, waits := range agent.waits(todos) {
		if waits {
			others = append(others, i)
		}
	}
	return others
}

func active(t *todo.Todo) bool {
	status, _ := todo.ParseStatus(string(t.Status))
	return status.Active()
}

// waits reports of each todo whether it is active and the work of others, or waits for
// such a todo.
func (a *Agent) waits(todos []todo.Todo) []bool {
	at := make(map[string]int, len(todos))
	for i := range todos {
		at[todos[i].ID] = i
	}
	waits := make([]bool, len(todos))
	blocks := make([][]int, len(todos)) // the todos that wait for each
	var next []int                      // those that wait, whose own blocks the loop looks at next
	for i := range todos {
		t := &todos[i]
		if !active(t) {
			continue
		}
		if a.isOthers(t) {
			waits[i], next = true, append(next, i)
		}
		for id := range toolcall.IDs(t.BlockedBy) {
			if blocker, known := at[id]; known && active(&todos[blocker]) {
				blocks[blocker] = append(blocks[blocker], i)
			}
		}
	}
	for len(next) > 0 {
		last := next[len(next)-1]
		next = next[:len(next)-1]
		for _, i := range blocks[last] {
			if !waits[i] {
				waits[i], next = true, append(next, i)
			}
		}
	}
	return waits
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
	return len(a.Others) == 0 || slices.ContainsFunc(a.Others, func(other string) bool { return plainName(other) == owner })
}

// plainName returns a name without case, "@" and the name of the team behind it, as in
// "ann@builders".
func plainName(name string) string {
	name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "@"), "@")
	return strings.ToLower(name)
}
