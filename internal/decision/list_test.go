package decision_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/todo"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	blank := todo.Todo{Content: " \n", Status: todo.InProgress}
	first, second := todo.Todo{Content: "a", Status: todo.Pending}, todo.Todo{Content: "b", Status: todo.InProgress}
	done, odd := todo.Todo{Content: "c", Status: todo.Completed}, todo.Todo{Content: "d", Status: "odd"}
	for name, c := range map[string]struct {
		todos []todo.Todo
		want  decision.Summary
	}{
		"nothing":                  {nil, decision.Summary{}},
		"pending":                  {[]todo.Todo{odd, first, done}, decision.Summary{Active: 1, Completed: 1, Unknown: "odd", Next: first, HasNext: true}},
		"in progress goes first":   {[]todo.Todo{first, blank, second}, decision.Summary{Active: 3, Next: second, HasNext: true}},
		"blank ones are not next":  {[]todo.Todo{blank}, decision.Summary{Active: 1}},
		"neither active nor done":  {[]todo.Todo{odd, {Content: "e", Status: todo.Cancelled}, {Content: "f", Status: "odder"}}, decision.Summary{Cancelled: 1, Unknown: "odd"}},
		"any spelling":             {[]todo.Todo{{Content: "g", Status: "Done"}, {Content: "h", Status: "wip"}}, decision.Summary{Active: 1, Completed: 1, Next: todo.Todo{Content: "h", Status: "wip"}, HasNext: true}},
		"no status is pending":     {[]todo.Todo{{Content: "i"}}, decision.Summary{Active: 1, Next: todo.Todo{Content: "i"}, HasNext: true}},
		"the first of its kind is": {[]todo.Todo{second, {Content: "f", Status: todo.InProgress}}, decision.Summary{Active: 2, Next: second, HasNext: true}},
	} {
		c.want.Todos = len(c.todos)
		assert.Equal(t, c.want, decision.Summarize(c.todos, nil), name)
	}
}

func TestUpcoming(t *testing.T) {
	t.Parallel()
	list := func(marks string) (todos []todo.Todo) {
		for i, mark := range marks {
			status := map[rune]todo.Status{'p': todo.Pending, 's': todo.InProgress, 'd': todo.Completed, 'c': todo.Cancelled, '?': "odd", 'b': todo.Pending}[mark]
			content := strconv.Itoa(i)
			if mark == 'b' {
				content = " \n"
			}
			todos = append(todos, todo.Todo{Content: content, Status: status})
		}
		return todos
	}
	for _, c := range []struct {
		marks  string
		others []int
		want   [decision.MaxUpcoming]string
	}{
		{"", nil, [3]string{}},
		{"dc?b", nil, [3]string{}},
		{"p", nil, [3]string{"0"}},
		{"dpcb?ppp", nil, [3]string{"1", "5", "6"}},
		{"ppsp", nil, [3]string{"2", "0", "1"}},
		{"psss" + "s", nil, [3]string{"1", "2", "3"}},
		{"spps", []int{0, 1}, [3]string{"3", "2"}},
	} {
		got := decision.Upcoming(list(c.marks), c.others)
		assert.Equal(t, c.want, got, c.marks)
		assert.Equal(t, decision.Summarize(list(c.marks), c.others).Next.Content, got[0], "the first is the next one of %s", c.marks)
	}
}

func TestWorkOfOthersIsNotNext(t *testing.T) {
	t.Parallel()
	mine, theirs := todo.Todo{Content: "a", Status: todo.Pending}, todo.Todo{Content: "b", Status: todo.InProgress}
	assert.Equal(t, decision.Summary{Todos: 2, Active: 2, Others: 1, Next: mine, HasNext: true}, decision.Summarize([]todo.Todo{theirs, mine}, []int{0}))
	assert.Equal(t, decision.Summary{Todos: 2, Active: 2, Others: 2}, decision.Summarize([]todo.Todo{theirs, mine}, []int{0, 1}))
}

func TestAddedTodosAreProgressOnlyUpToABound(t *testing.T) {
	t.Parallel()
	s := decision.State{}.Observe(&decision.Summary{Todos: 3, Active: 2, Completed: 1})
	renewed := 0
	for done := 2; done < 100; done++ { // the model adds one finished todo after another
		s.Attempts, s.Continuations = 1, 1
		s = s.Observe(&decision.Summary{Todos: 2 + done, Active: 2, Completed: done})
		if s.Attempts+s.Continuations == 0 {
			renewed++
		}
	}
	assert.Equal(t, 3+decision.MaxAdded-1, renewed)
	s.Attempts = 1
	s = s.Observe(&decision.Summary{Todos: 101, Active: 1, Completed: 100})
	assert.Zero(t, s.Attempts, "work on what was there is progress still")
}

func TestObserve(t *testing.T) {
	t.Parallel()
	before := decision.Watermarks{Set: true, Completed: 2, Active: 2}
	for name, c := range map[string]struct {
		before   decision.Watermarks
		list     decision.Summary
		want     decision.Watermarks
		progress bool
	}{
		"the first list":  {decision.Watermarks{}, decision.Summary{Completed: 2, Active: 2}, before, false},
		"nothing changed": {before, decision.Summary{Completed: 2, Active: 2}, before, false},
		"worse":           {before, decision.Summary{Completed: 1, Active: 3}, before, false},
		"more completed":  {before, decision.Summary{Completed: 3, Active: 3}, decision.Watermarks{Set: true, Completed: 3, Active: 2}, true},
		"fewer active":    {before, decision.Summary{Completed: 0, Active: 1}, decision.Watermarks{Set: true, Completed: 2, Active: 1}, true},
	} {
		want := decision.State{Watermarks: c.want, Attempts: 3, Continuations: 7, Repeats: 2}
		s := want
		s.Watermarks = c.before
		if c.progress {
			want.Attempts, want.Continuations, want.Repeats = 0, 0, 0
		}
		assert.Equal(t, want, s.Observe(&c.list), name)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	item := func(id, content string, status todo.Status) todo.Todo {
		return todo.Todo{ID: id, Content: content, Status: status}
	}
	lists := [][]todo.Todo{
		nil,
		{item("", "", "")},
		{item("", "", ""), item("", "", "")},
		{item("1", "a", todo.Pending)},
		{item("2", "a", todo.Pending)},
		{item("1", "b", todo.Pending)},
		{item("1", "a", todo.InProgress)},
		{item("1a", "", todo.Pending)},
		{item("", "1a", todo.Pending)},
		{item("1", "a", todo.Pending), item("2", "b", todo.Pending)},
		{item("2", "b", todo.Pending), item("1", "a", todo.Pending)},
		{item("1", "a", todo.Pending), item("1", "a", todo.Pending)},
	}
	seen := map[uint64]int{}
	for i, list := range lists {
		digest := decision.Digest(list)
		assert.NotZero(t, digest)
		assert.Equal(t, digest, decision.Digest(append([]todo.Todo{}, list...)))
		if j, ok := seen[digest]; ok {
			assert.Fail(t, "same digest", "lists %d and %d", i, j)
		}
		seen[digest] = i
	}
}

func item(id string, status todo.Status, owner, blockedBy string) todo.Todo {
	return todo.Todo{ID: id, Content: "part " + id, Status: status, Owner: owner, BlockedBy: blockedBy}
}

func TestWorkOfAnAgent(t *testing.T) {
	t.Parallel()
	const open, started, done = todo.Pending, todo.InProgress, todo.Completed
	lead := decision.Agent{Name: "team-lead"}
	ann := decision.Agent{Name: "ann", Member: true}
	for name, c := range map[string]struct {
		agent decision.Agent
		todos []todo.Todo
		own   []string
	}{
		"alone":                            {decision.Agent{}, []todo.Todo{item("1", open, "", ""), item("2", open, "", "1")}, []string{"1", "2"}},
		"all of others":                    {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "bob", "")}, nil},
		"lead: without an owner":           {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "", "")}, []string{"2"}},
		"lead: its own":                    {lead, []todo.Todo{item("1", started, "Team-Lead@builders", ""), item("2", done, "", "")}, []string{"1"}},
		"lead: waits for another":          {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "", "1")}, nil},
		"lead: waits for who waits":        {lead, []todo.Todo{item("1", started, "ann", ""), item("2", open, "", "1"), item("3", open, "", "2")}, nil},
		"lead: the blocker is done":        {lead, []todo.Todo{item("1", done, "ann", ""), item("2", open, "", "1")}, []string{"2"}},
		"lead: the blocker is not there":   {lead, []todo.Todo{item("2", open, "", "9")}, []string{"2"}},
		"lead: its items wait in a circle": {lead, []todo.Todo{item("1", open, "", "2"), item("2", open, "", "1")}, []string{"1", "2"}},
		"lead: a word in brackets": {
			decision.Agent{OtherAgents: []string{"ann"}},
			[]todo.Todo{item("1", open, "again", ""), item("2", open, "Ann", "")},
			[]string{"1"},
		},
		"member: its own":           {ann, []todo.Todo{item("1", open, "ann", ""), item("2", open, "bob", ""), item("3", open, "", "")}, []string{"1"}},
		"member: its own are done":  {ann, []todo.Todo{item("1", done, "ann", ""), item("2", open, "bob", ""), item("3", open, "", "")}, nil},
		"member: it is blocked":     {ann, []todo.Todo{item("1", open, "ann", "#2, 4"), item("2", open, "bob", "")}, nil},
		"member: its own block it":  {ann, []todo.Todo{item("1", open, "ann", "2"), item("2", "in progress", "@ann", "")}, []string{"1", "2"}},
		"member: nobody's block it": {ann, []todo.Todo{item("1", open, "ann", "2"), item("2", open, "", "")}, nil},
		"member: without a name":    {decision.Agent{Member: true}, []todo.Todo{item("1", open, "ann", ""), item("2", open, "", "")}, nil},
	} {
		others := decision.Others(c.todos, c.agent)
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
		return func() { assert.Len(b, decision.Others(todos, decision.Agent{}), n) }
	}
	measure.Linear(b, "a chain of todos", chain(500), chain(500*measure.Longer))
}
