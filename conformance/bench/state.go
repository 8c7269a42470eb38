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
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/tooldef"
	"github.com/carryon-go/carryon/todo"
)

// statePromises are about decisions, session state, todo lists and reminders.
func statePromises() []promise {
	decide := judge()
	reminder, nothing := thousandTasks(), nothingToTell()
	list := listOfConversation(500)
	update := storeUpdate()
	return []promise{
		{"decision and prompt, 100 todos", "<= 0.36 chunks", func(pairs int) result { return inChunks(0.36, pairs, decide) }},
		{"decision and prompt, allocations", "<= 2", func(int) result { return count(2, testing.AllocsPerRun(1000, decide)) }},
		{"update of a session", "<= 0.18 chunks", func(pairs int) result { return inChunks(0.18, pairs, update) }},
		{"1,000,000 sessions", "<= 200 MiB", func(int) result { return million() }},
		{"list from 500 messages", "<= 36 chunks", func(pairs int) result { return inChunks(36, pairs, list) }},
		{"reminder of 1,000 tasks", "<= 360 chunks", func(pairs int) result { return inChunks(360, pairs, reminder) }},
		{"no task to tell of", "<= 0.036 chunks", func(pairs int) result {
			return inChunks(0.036, pairs, nothing)
		}},
		{"no task to tell of, allocations", "0", func(int) result {
			return count(0, testing.AllocsPerRun(1000, nothing))
		}},
	}
}

// count is the result of counting allocations, which is exact.
func count(limit, n float64) result { return result{fmt.Sprintf("%.0f", n), n <= limit} }

// judge decides over 100 todos, all but the last completed, and writes the prompt.
func judge() func() {
	todos := make([]todo.Todo, 100)
	for i := range todos {
		todos[i] = todo.Todo{ID: strconv.Itoa(i), Content: "Write part " + strconv.Itoa(i) + " of the parser", Status: todo.Completed}
	}
	todos[99].Status = todo.Pending
	limits, err := continuation.Limits{}.WithDefaults()
	must(err)
	in := decision.Input{
		Todos: todos, Known: decision.TodoList | decision.BackgroundWork | decision.SessionState, Limits: limits, Now: time.Unix(1_800_000_000, 0),
		Turn:     decision.Turn{Finish: "stop"},
		Settings: continuation.DefaultValues(),
	}
	prompter, err := prompt.New(continuation.Templates{})
	must(err)
	return func() {
		ev := decision.Judge(in)
		if !ev.Continue {
			panic(ev.Reason.String())
		}
		list := prompt.List{Todos: ev.List.Todos, Open: ev.List.Active, Tool: tooldef.TodoWrite}
		upcoming := decision.Upcoming(todos, nil)
		copy(list.Next[:], upcoming[1:])
		prompter.Prompt(prompt.Input{Task: ev.Todo.Content, List: list, Attempt: ev.Attempt})
	}
}

// memoryStore returns the store of session state in memory.
func memoryStore(sessions int) *session.MemoryStore {
	return session.NewMemoryStore(sessions, continuation.DefaultLimits().SessionLife, time.Now)
}

// storeUpdate updates a session of a store.
func storeUpdate() func() {
	store, ctx := memoryStore(continuation.DefaultLimits().MaxSessions), context.Background()
	now := time.Unix(1_800_000_000, 0)
	return func() {
		must(store.Update(ctx, "conversation-42", func(s decision.State) decision.State {
			return s.Acquire(1, now, continuation.DefaultLimits().ClaimLife)
		}))
	}
}

// million measures the memory that a million sessions take.
func million() result {
	const sessions = 1_000_000
	before := measure.Live()
	store := memoryStore(sessions)
	now := time.Unix(1_800_000_000, 0)
	for i := range sessions {
		must(store.Update(context.Background(), "conversation-"+strconv.Itoa(i), func(s decision.State) decision.State {
			return s.Acquire(1, now, continuation.DefaultLimits().ClaimLife)
		}))
	}
	size := float64(measure.Live()-before) / (1 << 20)
	runtime.KeepAlive(store)
	return result{fmt.Sprintf("%.0f MiB", size), size <= 200}
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

// nothingToTell asks for the reminder of a session without background tasks.
func nothingToTell() func() {
	m, ctx := asynctask.NewManager(), context.Background()
	return func() {
		_, err := m.Deliveries().Deliver(ctx, "s", delivery.Options{})
		must(err)
	}
}

// thousandTasks builds the reminder of a thousand tasks and releases it.
func thousandTasks() func() {
	const tasks = 1000
	m := asynctask.NewManager(asynctask.WithSessionLimit(asynctask.Off))
	ctx := continuation.WithSession(context.Background(), "s")
	for i := range tasks {
		id := strconv.Itoa(i)
		ticket, err := m.Begin(ctx, id, "task "+id)
		must(err)
		must(m.Finish(ctx, ticket, asynctask.Message("The result of "+id+".")))
	}
	return func() {
		r, err := m.Deliveries().Remind(ctx, "s")
		must(err)
		if r == nil {
			panic("nothing to tell")
		}
		must(m.Deliveries().Settle(ctx, r, delivery.Unread))
	}
}
