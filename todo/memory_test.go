package todo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/tooldef"
	"github.com/carryon-go/carryon/todo"
)

// The default limits.
const maxItems, maxContent, maxSessions = 1000, 64 << 10, 100_000

func in(t *testing.T, session string) context.Context {
	t.Helper()
	return continuation.WithSession(t.Context(), session)
}

func contents(list []todo.Todo) []string {
	var texts []string
	for _, item := range list {
		texts = append(texts, item.Content)
	}
	return texts
}

func listOf(texts ...string) []todo.Todo {
	var list []todo.Todo
	for _, text := range texts {
		list = append(list, todo.Todo{Content: text})
	}
	return list
}

func TestMemoryStartsEmpty(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	list, err := memory.Todos(in(t, "a"))
	require.ErrorIs(t, err, todo.ErrNoList)
	assert.Nil(t, list)
	assert.Nil(t, memory.Read(in(t, "a")))
	require.NoError(t, memory.Forget(in(t, "a")))
}

// Without a session two users of a program would see each other's todos.
func TestMemoryWithoutASessionHasNoList(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	memory.Subscribe(func(string, []todo.Todo) { assert.Fail(t, "a change") })
	for _, ctx := range []context.Context{t.Context(), in(t, "")} {
		require.ErrorIs(t, memory.Write(ctx, listOf("a secret")), todo.ErrNoSession)
		list, err := memory.Todos(ctx)
		require.ErrorIs(t, err, todo.ErrNoSession)
		require.ErrorContains(t, err, "continuation.WithSession")
		require.ErrorContains(t, err, "todo.WithOneConversation")
		assert.Empty(t, list)
		assert.Empty(t, memory.Read(ctx))
		require.ErrorIs(t, memory.Forget(ctx), todo.ErrNoSession)
		for _, tool := range []string{tooldef.TodoWrite, tooldef.TodoRead} {
			for _, arguments := range []string{`["a secret"]`, `{"merge":true,"todos":["a secret"]}`} {
				out, ok := memory.Handle(ctx, tool, arguments)
				assert.True(t, ok)
				assert.Regexp(t, "^Error: the program has not said which conversation this is", out)
			}
		}
	}
}

func TestMemoryWithOneConversation(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithOneConversation())
	require.NoError(t, memory.Write(t.Context(), listOf("a")))
	assert.Equal(t, []string{"a"}, contents(memory.Read(in(t, "any session"))))
	require.NoError(t, memory.Forget(in(t, "another")))
	assert.Empty(t, memory.Read(t.Context()))
}

// A cleared list is not a missing one: the model said that nothing is left.
func TestMemoryTellsNoListFromAnEmptyOne(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	_, err := memory.Todos(in(t, "a"))
	require.EqualError(t, err, "todo: no list: nothing was written so far")

	require.NoError(t, memory.Write(in(t, "a"), listOf("x")))
	require.NoError(t, memory.Write(in(t, "a"), nil))
	list, origin, err := memory.Locate(in(t, "a"))
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.Equal(t, todo.Origin{Place: origins.Memory}, origin)

	_, err = memory.Todos(in(t, "b"))
	require.EqualError(t, err, "todo: no list: nothing was written under this session; 1 other session has a list")
	require.NoError(t, memory.Write(in(t, "c"), listOf("x")))
	_, err = memory.Todos(in(t, "b"))
	require.EqualError(t, err, "todo: no list: nothing was written under this session; 2 other sessions have lists")
}

func TestMemoryWriteNormalizes(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	written := []todo.Todo{
		{Content: " a "},
		{ID: "1", Content: "b", Status: todo.InProgress},
		{ID: " 1 ", Content: "c", Status: "In Progress", Priority: " high "},
		{ID: "x", Content: "d", Status: "done"},
		{ID: "y", Content: "e\xff", Status: " later "},
		{ID: "z", Content: "f", Status: todo.Cancelled},
	}
	require.NoError(t, memory.Write(in(t, "s"), written))
	assert.Equal(t, []todo.Todo{
		{ID: "1-2", Content: "a", Status: todo.Pending},
		{ID: "1", Content: "c", Status: todo.InProgress, Priority: "high"},
		{ID: "x", Content: "d", Status: todo.Completed},
		{ID: "y", Content: "e\uFFFD", Status: "later"},
		{ID: "z", Content: "f", Status: todo.Cancelled},
	}, memory.Read(in(t, "s")))
	assert.Equal(t, " a ", written[0].Content, "the list of the caller stays as it is")
}

func TestMemoryCopies(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	written := listOf("a")
	require.NoError(t, memory.Write(in(t, "a"), written))
	written[0].Content = "changed by the writer"
	memory.Read(in(t, "a"))[0].Content = "changed by a reader"
	list, err := memory.Todos(in(t, "a"))
	require.NoError(t, err)
	list[0].Content = "changed by the middleware"
	assert.Equal(t, []string{"a"}, contents(memory.Read(in(t, "a"))))
}

func TestMemorySessionsAreIsolated(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	require.NoError(t, memory.Write(in(t, "a"), listOf("of a")))
	require.NoError(t, memory.Write(in(t, "b"), listOf("of b")))
	require.NoError(t, memory.Write(in(t, "none"), listOf("of none")))

	assert.Equal(t, []string{"of a"}, contents(memory.Read(in(t, "a"))))
	assert.Equal(t, []string{"of b"}, contents(memory.Read(in(t, "b"))))
	assert.Equal(t, []string{"of none"}, contents(memory.Read(in(t, "none"))))

	require.NoError(t, memory.Forget(in(t, "a")))
	require.NoError(t, memory.Write(in(t, "b"), nil))
	assert.Empty(t, memory.Read(in(t, "a")))
	assert.Empty(t, memory.Read(in(t, "b")))
	assert.Equal(t, []string{"of none"}, contents(memory.Read(in(t, "none"))))

	other := todo.NewMemory()
	assert.Empty(t, other.Read(in(t, "none")), "two memories share nothing")
}

func TestMemoryWorksUnderAnEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(in(t, "a"))
	cancel()
	memory := todo.NewMemory()
	require.NoError(t, memory.Write(ctx, listOf("x")))
	assert.Equal(t, []string{"x"}, contents(memory.Read(ctx)))
}

func TestMemoryRefusesAndKeepsTheListBefore(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithMaxItems(3), todo.WithMaxContent(4))
	require.NoError(t, memory.Write(in(t, "a"), listOf("kept")))
	for name, test := range map[string]struct {
		list []todo.Todo
		item int
		want string
	}{
		"blank":    {listOf("a", " \n"), 2, "todo: item 2: content is missing or blank; send what has to be done as a string that is not blank"},
		"too many": {listOf("a", "b", "c", "d"), 0, "todo: the list has 4 todos; send at most 3"},
		"too long": {listOf("four", "fiver"), 2, "todo: item 2: content has 5 bytes; send at most 4"},
		"grows too long": {
			listOf("ab\xff"), 1, "todo: item 1: content has 5 bytes; send at most 4",
		},
		"long id":       {[]todo.Todo{{ID: strings.Repeat("x", 1025), Content: "a"}}, 1, "todo: item 1: id, status, priority, owner or blockedBy is too long; send at most 1024 bytes in each"},
		"long status":   {[]todo.Todo{{Status: todo.Status(strings.Repeat("x", 1025)), Content: "a"}}, 1, "todo: item 1: id, status, priority, owner or blockedBy is too long; send at most 1024 bytes in each"},
		"long priority": {[]todo.Todo{{Priority: strings.Repeat("x", 1025), Content: "a"}}, 1, "todo: item 1: id, status, priority, owner or blockedBy is too long; send at most 1024 bytes in each"},
	} {
		t.Run(name, func(t *testing.T) {
			err := memory.Write(in(t, "a"), test.list)
			require.ErrorAs(t, err, new(*todo.ArgumentsError))
			var refused *todo.ArgumentsError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, test.item, refused.Item)
			require.EqualError(t, err, test.want)
			assert.Equal(t, []string{"kept"}, contents(memory.Read(in(t, "a"))))
		})
	}
	require.NoError(t, memory.Write(in(t, "a"), listOf("four", "4444", " 4444 ")))
}

func TestMemoryDefaultLimits(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	full := listOf(strings.Split(strings.Repeat("x,", maxItems-1)+"x", ",")...)
	require.NoError(t, memory.Write(in(t, "a"), full))
	require.Error(t, memory.Write(in(t, "a"), append(full, todo.Todo{Content: "one more"})))
	require.NoError(t, memory.Write(in(t, "a"), listOf(strings.Repeat("x", maxContent))))
	require.Error(t, memory.Write(in(t, "a"), listOf(strings.Repeat("x", maxContent+1))))
}

func TestMemoryOffIsNoLimit(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithMaxItems(todo.Off), todo.WithMaxContent(todo.Off), todo.WithMaxSessions(todo.Off))
	long := strings.Repeat("x", maxContent+1)
	list := listOf(strings.Split(strings.Repeat("x,", maxItems)+long, ",")...)
	require.NoError(t, memory.Write(in(t, "a"), list))
	require.NoError(t, memory.Write(in(t, "b"), listOf("b")))
	assert.Len(t, memory.Read(in(t, "a")), maxItems+1)
}

func TestMemoryDropsTheSessionUsedLongestAgo(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithMaxSessions(2))
	require.NoError(t, memory.Write(in(t, "a"), listOf("a")))
	require.NoError(t, memory.Write(in(t, "b"), listOf("b")))
	memory.Read(in(t, "a"))       // a is now used later than b
	memory.Read(in(t, "unknown")) // a session without a list takes no room
	require.NoError(t, memory.Write(in(t, "unknown"), nil))
	require.NoError(t, memory.Write(in(t, "c"), listOf("c")))
	assert.Empty(t, memory.Read(in(t, "b")))
	assert.NotEmpty(t, memory.Read(in(t, "c")))
	assert.NotEmpty(t, memory.Read(in(t, "a")))

	require.NoError(t, memory.Write(in(t, "c"), listOf("c again"))) // writing is a use too
	require.NoError(t, memory.Write(in(t, "d"), listOf("d")))
	assert.Empty(t, memory.Read(in(t, "a")))
	assert.Equal(t, []string{"c again"}, contents(memory.Read(in(t, "c"))))

	require.NoError(t, memory.Forget(in(t, "c"))) // makes room
	require.NoError(t, memory.Write(in(t, "e"), listOf("e")))
	assert.NotEmpty(t, memory.Read(in(t, "d")))
	assert.NotEmpty(t, memory.Read(in(t, "e")))
}

func TestMemoryIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithMaxBytes(3500))
	long := strings.Repeat("x", 1000)
	for _, session := range []string{"a", "b", "c"} {
		require.NoError(t, memory.Write(in(t, session), listOf(long)))
	}
	memory.Read(in(t, "a"))
	require.NoError(t, memory.Write(in(t, "d"), listOf(long)))
	assert.Empty(t, memory.Read(in(t, "b")), "used longest ago")
	assert.NotEmpty(t, memory.Read(in(t, "a")))

	require.NoError(t, memory.Write(in(t, "d"), listOf("short")))
	require.NoError(t, memory.Write(in(t, "e"), listOf(long)))
	require.NoError(t, memory.Forget(in(t, "c")))
	require.NoError(t, memory.Write(in(t, "f"), listOf(long)))
	for _, session := range []string{"a", "d", "e", "f"} {
		assert.NotEmpty(t, memory.Read(in(t, session)), "%s: what is shorter or forgotten makes room", session)
	}

	require.NoError(t, memory.Write(in(t, "g"), listOf(long, long, long, long)))
	assert.Len(t, memory.Read(in(t, "g")), 4, "never the one that is written")
	assert.Empty(t, memory.Read(in(t, "f")))
}

// TestMemoryAgainstAModel compares long random sequences of operations with the
// plainest thing that could work: a slice of sessions in the order of use.
func TestMemoryAgainstAModel(t *testing.T) {
	t.Parallel()
	const limit = 5
	random := rand.New(rand.NewPCG(1, 2))
	memory := todo.NewMemory(todo.WithMaxSessions(limit))
	lists := map[string]string{}
	var order []string // most recent last
	touch := func(session string) {
		for i, other := range order {
			if other == session {
				order = append(order[:i], order[i+1:]...)
				break
			}
		}
		if lists[session] != "" {
			order = append(order, session)
		}
	}
	for step := range 20_000 {
		session := strconv.Itoa(random.IntN(9))
		switch random.IntN(10) {
		case 0:
			require.NoError(t, memory.Forget(in(t, session)))
			delete(lists, session)
			touch(session)
		case 1, 2, 3, 4:
			lists[session] = fmt.Sprint("step ", step)
			require.NoError(t, memory.Write(in(t, session), listOf(lists[session])))
			touch(session)
			if len(order) > limit {
				delete(lists, order[0])
				order = order[1:]
			}
		default:
			var want []string
			if lists[session] != "" {
				want = []string{lists[session]}
			}
			require.Equal(t, want, contents(memory.Read(in(t, session))), "step %d", step)
			touch(session)
		}
	}
}

func TestMemoryUnderConcurrency(t *testing.T) {
	t.Parallel()
	const writers, sessions, rounds = 16, 5, 200
	memory := todo.NewMemory(todo.WithMaxSessions(sessions - 1))
	cancel := memory.Subscribe(func(session string, todos []todo.Todo) {
		assertWhole(t, session, todos)
		clear(todos) // the copy is the subscriber's to keep
	})
	defer cancel()
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for round := range rounds {
				session := strconv.Itoa((writer + round) % sessions)
				ctx := in(t, session)
				text := fmt.Sprintf("%s by %d in round %d", session, writer, round)
				if err := memory.Write(ctx, listOf(text, text, text)); err != nil {
					t.Error(err) // require is for the test's own goroutine
				}
				list, err := memory.Todos(ctx)
				if err != nil && !errors.Is(err, todo.ErrNoList) { // another writer may have forgotten it
					t.Error(err)
				}
				assertWhole(t, session, list)
				if round%17 == 0 {
					if err := memory.Forget(ctx); err != nil {
						t.Error(err)
					}
				}
				if round%31 == 0 {
					memory.Subscribe(func(string, []todo.Todo) {})()
				}
				_, _ = memory.Handle(ctx, tooldef.TodoRead, "")
			}
		})
	}
	group.Wait()
}

// assertWhole checks that list is one that one writer wrote for session.
func assertWhole(t *testing.T, session string, list []todo.Todo) {
	t.Helper()
	if len(list) == 0 {
		return
	}
	if assert.Len(t, list, 3) {
		assert.True(t, strings.HasPrefix(list[0].Content, session+" by "), "list of another session: %v", list)
		assert.Equal(t, list[0].Content, list[1].Content)
		assert.Equal(t, list[0].Content, list[2].Content)
	}
}

// A bubble does not end before the goroutines that were started in it.
func TestMemoryStartsNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := todo.NewMemory(todo.WithMaxSessions(2))
		told := 0
		defer memory.Subscribe(func(string, []todo.Todo) { told++ })()
		for i := range 5 {
			require.NoError(t, memory.Write(in(t, strconv.Itoa(i)), listOf("x")))
		}
		assert.Equal(t, 5, told)
	})
}

func TestMemoryDefaultSessions(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	for i := range maxSessions + 1 {
		require.NoError(t, memory.Write(continuation.WithSession(t.Context(), strconv.Itoa(i)), listOf("x")))
	}
	assert.Empty(t, memory.Read(in(t, "0")))
	assert.NotEmpty(t, memory.Read(in(t, "1")))
	assert.NotEmpty(t, memory.Read(in(t, strconv.Itoa(maxSessions))))
}

func TestMemoryOptionsRefuseNonsense(t *testing.T) {
	t.Parallel()
	for want, option := range map[string]todo.MemoryOption{
		"todo: WithMaxItems: limit 0 is not positive (use todo.Off for no limit)":     todo.WithMaxItems(0),
		"todo: WithMaxContent: limit -2 is not positive (use todo.Off for no limit)":  todo.WithMaxContent(-2),
		"todo: WithMaxBytes: limit 0 is not positive (use todo.Off for no limit)":     todo.WithMaxBytes(0),
		"todo: WithMaxSessions: limit -3 is not positive (use todo.Off for no limit)": todo.WithMaxSessions(-3),
	} {
		assert.PanicsWithValue(t, "carryon/"+want, func() { todo.NewMemory(todo.WithMaxItems(1), option) })
	}
	memory := todo.NewMemory(todo.WithMaxItems(1), nil)
	assert.PanicsWithValue(t, "carryon/todo: Subscribe: nil function", func() { memory.Subscribe(nil) })
	var none context.Context
	assert.PanicsWithValue(t, "carryon/todo: nil context", func() { memory.Read(none) })
}

func BenchmarkMemoryTodos(b *testing.B) {
	memory := todo.NewMemory()
	ctx := continuation.WithSession(b.Context(), "session")
	require.NoError(b, memory.Write(ctx, listOf(strings.Split(strings.Repeat("a step of the plan,", 99)+"x", ",")...)))
	b.Run("todos=100/parallel=false", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if list, _ := memory.Todos(ctx); len(list) != 100 {
				b.Fatal(len(list))
			}
		}
	})
	b.Run("todos=100/parallel=true", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if list, _ := memory.Todos(ctx); len(list) != 100 {
					b.Error(len(list))
				}
			}
		})
	})
}

func BenchmarkMemoryWrite(b *testing.B) {
	memory := todo.NewMemory()
	ctx := continuation.WithSession(b.Context(), "session")
	list := listOf(strings.Split(strings.Repeat("a step of the plan,", 99)+"x", ",")...)
	b.Run("todos=100", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := memory.Write(ctx, list); err != nil {
				b.Fatal(err)
			}
		}
	})
}
