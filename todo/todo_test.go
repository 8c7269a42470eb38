package todo_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/todo"
)

func TestStatusActive(t *testing.T) {
	t.Parallel()
	for status, want := range map[todo.Status]bool{
		todo.Pending:    true,
		todo.InProgress: true,
		todo.Completed:  false,
		todo.Cancelled:  false,
		"":              true,
		"blocked":       true,
		"Pending":       true,
		"in-progress":   true,
		"DONE":          false,
		"erledigt":      false,
	} {
		assert.Equal(t, want, status.Active(), "status %q", status)
	}
}

func TestTodoJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(todo.Todo{ID: "1", Content: "write", Status: todo.InProgress})
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"1","content":"write","status":"in_progress"}`, string(text))

	text, err = json.Marshal(todo.Todo{Priority: "high"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"","content":"","status":"","priority":"high"}`, string(text))
}

// The list of a team, as its agents keep it.
var teamCalls = []todo.Call{
	called("TaskCreate", `{"subject":"schema","owner":"ann"}`, "Task #1 created successfully: schema"),
	called("TaskCreate", `{"subject":"routes","blockedBy":["1"]}`, "Task #2 created successfully: routes"),
	called("TaskCreate", `{"subject":"docs"}`, "Task #3 created successfully: docs"),
	called("TaskUpdate", `{"taskId":"1","status":"in_progress"}`, "Updated task #1 status"),
	called("TaskUpdate", `{"taskId":"2","owner":"bob","status":"in_progress","addBlockedBy":[3,"1"]}`, "Updated task #2 owner, status, blockedBy"),
	called("TaskUpdate", `{"taskId":"1","addBlocks":["3","2"]}`, "Updated task #1 blocks"),
}

var teamList = []todo.Todo{
	{ID: "1", Content: "schema", Status: todo.InProgress, Owner: "ann"},
	{ID: "2", Content: "routes", Status: todo.InProgress, Owner: "bob", BlockedBy: "1,3"},
	{ID: "3", Content: "docs", Status: todo.Pending, BlockedBy: "1"},
}

func newestFirst(calls []todo.Call) []todo.Call {
	calls = slices.Clone(calls)
	slices.Reverse(calls)
	return calls
}

func TestOwnersAndBlockersOfItems(t *testing.T) {
	t.Parallel()
	assert.Equal(t, teamList, todosOf(t, newestFirst(teamCalls)))

	calls := append(slices.Clone(teamCalls), called("TaskUpdate", `{"taskId":"2","owner":"ann"}`, "Updated task #2 owner"))
	moved := todosOf(t, newestFirst(calls))
	assert.Equal(t, "ann", moved[1].Owner)
	assert.Equal(t, []todo.Status{todo.Pending, todo.InProgress}, []todo.Status{moved[0].Status, moved[1].Status}, "one in progress of each owner")
}

func TestOwnersAndBlockersInAListing(t *testing.T) {
	t.Parallel()
	listed := called("TaskList", `{}`, strings.Join([]string{
		"#1 [in_progress] schema (ann)",
		"#2 [in_progress] routes (bob) [blocked by #1, #3]",
		"#3 [pending] docs [blocked by #1]",
		"#4 [pending] tidy (if there is time)",
		"#5 [pending] f(x)",
		"#6 [pending] (bob)",
	}, "\n"))
	assert.Equal(t, []todo.Todo{
		{ID: "1", Content: "schema (ann)", Status: todo.InProgress, Owner: "ann"},
		{ID: "2", Content: "routes (bob)", Status: todo.InProgress, Owner: "bob", BlockedBy: "1,3"},
		{ID: "3", Content: "docs", Status: todo.Pending, BlockedBy: "1"},
		{ID: "4", Content: "tidy (if there is time)", Status: todo.Pending},
		{ID: "5", Content: "f(x)", Status: todo.Pending},
		{ID: "6", Content: "(bob)", Status: todo.Pending},
	}, todosOf(t, []todo.Call{listed}))

	checklist := called("todo_read", `{}`, "- [ ] schema (ann) [blocked by #1]")
	assert.Equal(t, []todo.Todo{{ID: "1", Content: "schema (ann) [blocked by #1]", Status: todo.Pending}},
		todosOf(t, []todo.Call{checklist}), "a list without numbers is not that of a team")
}

func TestOddOwnersAndBlockersAreLeftOut(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]todo.Todo{
		`[{"content":"a","owner":{"id":1},"blockedBy":{"id":2}}]`:    {},
		`[{"content":"a","owner":7,"blockedBy":true}]`:               {},
		`[{"content":"a","owner":null,"blockedBy":[null,[],"",{}]}]`: {},
		`[{"content":"a","owner":" ann ","blockedBy":"[\"1\", 2]"}]`: {Owner: "ann", BlockedBy: "1,2"},
		`[{"content":"a","blockedBy":"#1, #2,,1"}]`:                  {BlockedBy: "1,2"},
		`[{"content":"a","blockedBy":3,"addBlockedBy":["3","x-1"]}]`: {BlockedBy: "3,x-1"},
		`[{"content":"a","OWNER":"ann","blockedby":["1"]}]`:          {},
	} {
		list, err := todo.ParseList(arguments)
		require.NoError(t, err, arguments)
		want.ID, want.Content, want.Status = "1", "a", todo.Pending
		assert.Equal(t, []todo.Todo{want}, list, arguments)
	}
}

func TestOwnersAndBlockersAreRemembered(t *testing.T) {
	t.Parallel()
	source := todo.FromConversation()
	look := func(calls ...todo.Call) []todo.Todo {
		ctx := continuation.WithSession(todo.WithConversation(t.Context(), slices.Values(newestFirst(calls))), "s")
		list, err := source.Todos(ctx)
		require.NoError(t, err)
		return list
	}
	assert.Equal(t, teamList, look(teamCalls...))
	assert.Equal(t, teamList, look(), "the history was cut")

	want := slices.Clone(teamList)
	want[2].Owner, want[2].BlockedBy = "cid", "1,2"
	assert.Equal(t, want, look(
		called("TaskUpdate", `{"taskId":"3","owner":"cid"}`, "Updated task #3 owner"),
		called("TaskUpdate", `{"taskId":"2","addBlocks":["3"]}`, "Updated task #2 blocks"),
	), "and goes on")
}

func TestMemoryKeepsOwnersAndBlockers(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	ctx := continuation.WithSession(t.Context(), "s")
	require.NoError(t, memory.Write(ctx, teamList))
	assert.Equal(t, teamList, memory.Read(ctx))

	require.NoError(t, memory.Write(ctx, []todo.Todo{{Content: "a", Owner: " ann\xff ", BlockedBy: "#2, #2 ,3"}}))
	assert.Equal(t, []todo.Todo{{ID: "1", Content: "a", Status: todo.Pending, Owner: "ann\uFFFD", BlockedBy: "2,3"}}, memory.Read(ctx))

	for _, long := range []todo.Todo{{Content: "a", Owner: strings.Repeat("x", 2<<10)}, {Content: "a", BlockedBy: strings.Repeat("x", 2<<10)}} {
		require.ErrorAs(t, memory.Write(ctx, []todo.Todo{long}), new(*todo.ArgumentsError))
	}
}

func BenchmarkManyBlockersAreLinear(b *testing.B) {
	parse := func(n int) func() {
		arguments := `[{"content":"a","blockedBy":[` + strings.Repeat(`"1234",`, n) + `"1"],"addBlockedBy":"` + strings.Repeat("1,", n) + `"}]`
		return func() {
			_, err := todo.ParseList(arguments)
			assert.NoError(b, err)
		}
	}
	measure.Linear(b, "blockers", parse(500), parse(500*measure.Longer))
}

func TestStaticIsACopyBothWays(t *testing.T) {
	t.Parallel()
	source := []todo.Todo{{ID: "1", Content: "write"}}
	provider := todo.Static(source...)
	source[0].Content = "changed by the caller"

	first, err := provider.Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{{ID: "1", Content: "write"}}, first)
	first[0].Content = "changed by the reader"

	second, err := provider.Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "write", second[0].Content)
}

func TestStaticWithoutTodos(t *testing.T) {
	t.Parallel()
	list, err := todo.Static().Todos(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestProviderFunc(t *testing.T) {
	t.Parallel()
	broken := errors.New("database is down")
	type key struct{}
	provider := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		if ctx.Value(key{}) != nil {
			return nil, broken
		}
		return []todo.Todo{{ID: "7"}}, nil
	})

	list, err := provider.Todos(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []todo.Todo{{ID: "7"}}, list)

	_, err = provider.Todos(context.WithValue(t.Context(), key{}, true))
	require.ErrorIs(t, err, broken)

	assert.PanicsWithValue(t, "carryon/todo: nil ProviderFunc", func() {
		_, _ = todo.ProviderFunc(nil).Todos(t.Context())
	})
}

func TestConversationFromIsNeverNil(t *testing.T) {
	t.Parallel()
	none := todo.ConversationFrom(t.Context())
	require.NotNil(t, none)
	assert.Empty(t, slices.Collect(none))

	none = todo.ConversationFrom(todo.WithConversation(t.Context(), nil))
	require.NotNil(t, none)
	assert.Empty(t, slices.Collect(none))
}

func TestConversationIsLazyAndInnermost(t *testing.T) {
	t.Parallel()
	calls := []todo.Call{
		{ID: "b", Name: "todo_write", Arguments: "[]", Result: "saved", Answered: true},
		{ID: "a", Name: "search", Arguments: "{}"},
	}
	made := 0
	ctx := todo.WithConversation(t.Context(), slices.Values(calls[1:]))
	ctx = todo.WithConversation(ctx, func(yield func(todo.Call) bool) {
		for _, call := range calls {
			made++
			if !yield(call) {
				return
			}
		}
	})
	assert.Zero(t, made)
	for call := range todo.ConversationFrom(ctx) {
		assert.Equal(t, calls[0], call)
		break
	}
	assert.Equal(t, 1, made)
	assert.Equal(t, calls, slices.Collect(todo.ConversationFrom(ctx)))

	// A nil conversation hides the one of the outer ctx.
	assert.Empty(t, slices.Collect(todo.ConversationFrom(todo.WithConversation(ctx, nil))))
}
