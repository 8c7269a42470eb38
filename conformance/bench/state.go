package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

// stateBars are those of what decides, remembers and reads.
func stateBars() []bar {
	decide := decision()
	reminder, nothing := thousandTasks(), asynctask.NewManager()
	list := listOfConversation(500)
	update := storeUpdate()
	return []bar{
		{"decision and prompt, 100 todos", "<= 1 us", func(int) figure { return each(1000, decide) }},
		{"decision and prompt, allocations", "<= 2", func(int) figure { return count(2, testing.AllocsPerRun(1000, decide)) }},
		{"update of a session", "<= 500 ns", func(int) figure { return each(500, update) }},
		{"1,000,000 sessions", "<= 200 MiB", func(int) figure { return million() }},
		{"list from 500 messages", "<= 100 us", func(int) figure { return each(100_000, list) }},
		{"reminder of 1,000 tasks", "<= 1 ms", func(int) figure { return each(1_000_000, reminder) }},
		{"no task to tell of", "<= 100 ns", func(int) figure { return each(100, func() { nothing.Deliver("s", asynctask.ReminderAndSummary) }) }},
		{"no task to tell of, allocations", "0", func(int) figure {
			return count(0, testing.AllocsPerRun(1000, func() { nothing.Deliver("s", asynctask.ReminderAndSummary) }))
		}},
	}
}

// count is a bar of allocations, which are exact.
func count(limit, n float64) figure { return figure{fmt.Sprintf("%.0f", n), n <= limit} }

// each is a bar of the time that f takes, in nanoseconds.
func each(limit float64, f func()) figure {
	times := 1
	for timed(func() { run1(f, times) }) < time.Millisecond {
		times *= 2
	}
	took := repeated(minPairs, func() time.Duration { return timed(func() { run1(f, times) }) }).over(float64(times))
	return figure{
		fmt.Sprintf("%v (%v to %v)", duration(took.median), duration(took.low), duration(took.high)),
		took.low <= limit,
	}
}

func run1(f func(), times int) {
	for range times {
		f()
	}
}

func duration(nanoseconds float64) time.Duration {
	d := time.Duration(nanoseconds)
	if d > 10*time.Microsecond {
		return d.Round(100 * time.Nanosecond)
	}
	return d
}

// decision decides over 100 todos, the first of them done, and writes the prompt.
func decision() func() {
	todos := make([]todo.Todo, 100)
	for i := range todos {
		todos[i] = todo.Todo{ID: strconv.Itoa(i), Content: "Write part " + strconv.Itoa(i) + " of the parser", Status: todo.Completed}
	}
	todos[99].Status = todo.Pending
	limits, err := continuation.Limits{}.WithDefaults()
	must(err)
	in := continuation.Input{
		Todos: todos, TodosKnown: true, Limits: limits, Now: time.Unix(1_800_000_000, 0),
		Turn:     continuation.Turn{Finish: "stop"},
		Settings: continuation.DefaultValues(),
	}
	prompter, err := continuation.NewPrompter(continuation.LongTemplates())
	must(err)
	return func() {
		ev := continuation.Evaluate(in)
		if !ev.Continue {
			panic(ev.Reason.String())
		}
		prompter.Prompt(continuation.PromptInput{Task: ev.Todo.Content, Attempt: ev.Attempt})
	}
}

// storeUpdate updates a session of a store.
func storeUpdate() func() {
	store, ctx := continuation.NewMemoryStore(continuation.MemoryOptions{}), context.Background()
	now := time.Unix(1_800_000_000, 0)
	return func() {
		must(store.Update(ctx, "conversation-42", func(s continuation.State) continuation.State { return s.Begin(1, now) }))
	}
}

// million measures the memory of a million sessions.
func million() figure {
	const sessions = 1_000_000
	before := liveBytes()
	store := continuation.NewMemoryStore(continuation.MemoryOptions{MaxSessions: sessions})
	now := time.Unix(1_800_000_000, 0)
	for i := range sessions {
		must(store.Update(context.Background(), "conversation-"+strconv.Itoa(i), func(s continuation.State) continuation.State { return s.Begin(1, now) }))
	}
	size := float64(liveBytes()-before) / (1 << 20)
	runtime.KeepAlive(store)
	return figure{fmt.Sprintf("%.0f MiB", size), size <= 200}
}

// listOfConversation reads a list of ten items from a history.
func listOfConversation(messages int) func() {
	items := make([]string, 10)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"%d","content":"Write part %d of the parser","status":"pending"}`, i, i)
	}
	list := `{"todos":[` + strings.Join(items, ",") + "]}"
	source := todo.FromConversation()
	calls := func(yield func(todo.Call) bool) {
		for i := range messages / 2 {
			call := todo.Call{ID: "c", Name: "edit_file", Arguments: `{"path":"parser.go"}`, Result: "ok", Answered: true}
			if i == messages/2-1 {
				call.Name, call.Arguments = "todo_write", list
			}
			if !yield(call) {
				return
			}
		}
	}
	ctx := todo.WithConversation(context.Background(), calls)
	return func() {
		todos, err := source.Todos(ctx)
		must(err)
		if len(todos) != len(items) {
			panic(len(todos))
		}
	}
}

// thousandTasks builds, and gives back, the reminder of a thousand tasks.
func thousandTasks() func() {
	const tasks = 1000
	m := asynctask.NewManager(asynctask.WithLimit(tasks))
	ctx := continuation.WithSession(context.Background(), "s")
	for i := range tasks {
		id := strconv.Itoa(i)
		_, err := m.Begin(ctx, id, "task "+id)
		must(err)
		must(m.Finish(id, asynctask.Message("The result of "+id+".")))
	}
	return func() {
		r := m.Remind("s")
		if r == nil {
			panic("nothing to tell")
		}
		r.Release()
	}
}
