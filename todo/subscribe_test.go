package todo_test

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/tooldef"
	"github.com/carryon-go/carryon/todo"
)

// recorder records the calls of a subscriber, one line each.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) notify(session string, todos []todo.Todo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprint(session, contents(todos)))
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

func TestSubscribeTellsOfEachChange(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory(todo.WithMaxSessions(1))
	var first, second recorder
	memory.Subscribe(first.notify)
	cancel := memory.Subscribe(second.notify)

	require.NoError(t, memory.Write(in(t, "a"), listOf("x", "y")))
	require.Error(t, memory.Write(in(t, "a"), listOf("")))
	_, _ = memory.Handle(in(t, "a"), tooldef.TodoWrite, `["z"]`)
	_, _ = memory.Handle(in(t, "a"), tooldef.TodoWrite, `nonsense`)
	_, _ = memory.Handle(in(t, "a"), tooldef.TodoRead, ``)
	require.NoError(t, memory.Forget(in(t, "a")))
	require.NoError(t, memory.Forget(in(t, "a")))
	require.NoError(t, memory.Write(in(t, "b"), listOf("b")))
	require.NoError(t, memory.Write(in(t, "c"), listOf("c"))) // b is dropped
	require.NoError(t, memory.Write(in(t, "c"), nil))

	want := []string{"a[x y]", "a[z]", "a[]", "b[b]", "c[c]", "c[]"}
	assert.Equal(t, want, first.take())
	assert.Equal(t, want, second.take())

	cancel()
	cancel()
	require.NoError(t, memory.Write(in(t, "a"), listOf("after")))
	assert.Equal(t, []string{"a[after]"}, first.take())
	assert.Empty(t, second.take())
}

func TestSubscriberGetsACopy(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	memory.Subscribe(func(_ string, todos []todo.Todo) { todos[0].Content = "changed" })
	var second recorder
	memory.Subscribe(second.notify)
	require.NoError(t, memory.Write(in(t, "s"), listOf("x")))
	assert.Equal(t, []string{"s[x]"}, second.take())
	assert.Equal(t, []string{"x"}, contents(memory.Read(in(t, "s"))))
}

func TestSubscriberMayUseTheMemory(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	var cancel func()
	var seen recorder
	cancel = memory.Subscribe(func(session string, todos []todo.Todo) {
		ctx := in(t, session)
		switch todos[0].Content {
		case "x":
			assert.Equal(t, []string{"x"}, contents(memory.Read(ctx)))
			assert.NoError(t, memory.Write(ctx, listOf("y")))
			assert.NoError(t, memory.Write(in(t, "other"), listOf("z")))
		case "y":
			cancel()
		}
	})
	memory.Subscribe(seen.notify)
	require.NoError(t, memory.Write(in(t, "s"), listOf("x")))
	// The order holds within a session, not between sessions.
	assert.Equal(t, []string{"other[z]", "s[x]", "s[y]"}, seen.take())
}

func TestSubscribersSeeOneOrder(t *testing.T) {
	t.Parallel()
	const writers, rounds = 8, 100
	memory := todo.NewMemory()
	var first, second recorder
	memory.Subscribe(first.notify)
	memory.Subscribe(second.notify)
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for round := range rounds {
				assert.NoError(t, memory.Write(in(t, "s"), listOf(fmt.Sprint(writer, ".", round))))
			}
		})
	}
	group.Wait()
	lines := first.take()
	assert.Len(t, lines, writers*rounds)
	assert.Equal(t, lines, second.take())
	assert.Equal(t, fmt.Sprint("s", contents(memory.Read(in(t, "s")))), lines[len(lines)-1])
	next := map[string]int{}
	for _, line := range lines {
		writer := line[len("s[") : len("s[")+1]
		require.Equal(t, fmt.Sprintf("s[%s.%d]", writer, next[writer]), line)
		next[writer]++
	}
}

func TestSlowSubscriberSkipsTheOldest(t *testing.T) {
	t.Parallel()
	const extra = 50
	memory := todo.NewMemory()
	var seen recorder
	memory.Subscribe(func(session string, todos []todo.Todo) {
		seen.notify(session, todos)
		if todos[0].Content != "start" {
			return
		}
		for i := range 1000 + extra {
			assert.NoError(t, memory.Write(in(t, "s"), listOf(strconv.Itoa(i))))
		}
	})
	require.NoError(t, memory.Write(in(t, "s"), listOf("start")))
	lines := seen.take()
	require.Len(t, lines, 1+1000)
	assert.Equal(t, fmt.Sprintf("s[%d]", extra), lines[1])
	assert.Equal(t, fmt.Sprintf("s[%d]", 1000+extra-1), lines[1000])
}

func TestPanicOfASubscriberStaysThere(t *testing.T) {
	t.Parallel()
	var panics []string
	memory := todo.NewMemory(todo.OnPanic(func(session string, recovered any) {
		panics = append(panics, fmt.Sprint(session, ": ", recovered))
	}))
	memory.Subscribe(func(string, []todo.Todo) { panic("broken") })
	var second recorder
	memory.Subscribe(second.notify)
	require.NoError(t, memory.Write(in(t, "s"), listOf("x")))
	require.NoError(t, memory.Write(in(t, "s"), listOf("y")))
	assert.Equal(t, []string{"s: broken", "s: broken"}, panics)
	assert.Equal(t, []string{"s[x]", "s[y]"}, second.take())

	silent := todo.NewMemory(todo.OnPanic(nil))
	silent.Subscribe(func(string, []todo.Todo) { panic("broken") })
	require.NoError(t, silent.Write(in(t, "s"), listOf("x")))
	assert.Equal(t, []string{"x"}, contents(silent.Read(in(t, "s"))))
}

func TestGoexitInASubscriberDoesNotBlockTheSession(t *testing.T) {
	t.Parallel()
	memory := todo.NewMemory()
	var seen recorder
	memory.Subscribe(func(session string, todos []todo.Todo) {
		seen.notify(session, todos)
		if todos[0].Content == "exit" {
			runtime.Goexit()
		}
	})
	var group sync.WaitGroup
	group.Go(func() { _ = memory.Write(in(t, "s"), listOf("exit")) })
	group.Wait()
	require.NoError(t, memory.Write(in(t, "s"), listOf("x")))
	assert.Equal(t, []string{"s[exit]", "s[x]"}, seen.take())
}
