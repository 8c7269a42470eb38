package todolist_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/todolist"
	"github.com/carryon-go/carryon/todo"
)

func item(id string, status todo.Status, owner, blockedBy string) todo.Todo {
	return todo.Todo{ID: id, Content: "part " + id, Status: status, Owner: owner, BlockedBy: blockedBy}
}

func TestWorkOfAnAgent(t *testing.T) {
	t.Parallel()
	const open, started, done = todo.Pending, todo.InProgress, todo.Completed
	lead := todolist.Agent{Name: "team-lead"}
	ann := todolist.Agent{Name: "ann", Member: true}
	for name, c := range map[string]struct {
		agent todolist.Agent
		todos []todo.Todo
		own   []string
	}{
		"alone":                            {todolist.Agent{}, []todo.Todo{item("1", open, "", ""), item("2", open, "", "1")}, []string{"1", "2"}},
		"all of others":                    {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "bob", "")}, nil},
		"lead: without an owner":           {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "", "")}, []string{"2"}},
		"lead: its own":                    {lead, []todo.Todo{item("1", started, "Team-Lead@builders", ""), item("2", done, "", "")}, []string{"1"}},
		"lead: waits for another":          {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "", "1")}, nil},
		"lead: waits for who waits":        {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "", "1"), item("3", open, "", "2")}, nil},
		"lead: the blocker is done":        {lead, []todo.Todo{item("1", done, "ann", ""), item("2", open, "", "1")}, []string{"2"}},
		"lead: the blocker is not there":   {lead, []todo.Todo{item("2", open, "", "9")}, []string{"2"}},
		"lead: its items wait in a circle": {lead, []todo.Todo{item("1", open, "", "2"), item("2", open, "", "1")}, []string{"1", "2"}},
		"lead: a word in brackets": {
			todolist.Agent{Others: []string{"ann"}},
			[]todo.Todo{item("1", open, "again", ""), item("2", open, "Ann", "")}, []string{"1"},
		},
		"member: its own":           {ann, []todo.Todo{item("1", open, "ann", ""), item("2", open, "bob", ""), item("3", open, "", "")}, []string{"1"}},
		"member: its own are done":  {ann, []todo.Todo{item("1", done, "ann", ""), item("2", open, "bob", ""), item("3", open, "", "")}, nil},
		"member: it is blocked":     {ann, []todo.Todo{item("1", open, "ann", "#2, 4"), item("2", open, "bob", "")}, nil},
		"member: its own block it":  {ann, []todo.Todo{item("1", open, "ann", "2"), item("2", "in progress", "@ann", "")}, []string{"1", "2"}},
		"member: nobody's block it": {ann, []todo.Todo{item("1", open, "ann", "2"), item("2", open, "", "")}, nil},
		"member: without a name":    {todolist.Agent{Member: true}, []todo.Todo{item("1", open, "ann", ""), item("2", open, "", "")}, nil},
	} {
		others := todolist.Others(c.todos, c.agent)
		var own []string
		for i, t := range c.todos {
			if status, _ := todo.ParseStatus(string(t.Status)); status.Active() && !slices.Contains(others, i) {
				own = append(own, t.ID)
			}
		}
		assert.Equal(t, c.own, own, name)
	}
}

func BenchmarkOthersIsLinear(b *testing.B) {
	chain := func(n int) func() {
		todos := make([]todo.Todo, n)
		for i := range todos {
			todos[i] = item(strconv.Itoa(i), todo.Pending, "", strconv.Itoa(i+1))
		}
		todos[n-1].Owner = "ann"
		return func() { assert.Len(b, todolist.Others(todos, todolist.Agent{}), n) }
	}
	measure.Linear(b, "a chain of todos", chain(500), chain(500*measure.Longer))
}
