package continuation_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/todo"
)

func ExampleEvaluate() {
	limits, err := continuation.Limits{}.WithDefaults()
	if err != nil {
		fmt.Println(err)
		return
	}
	in := continuation.Input{
		Settings: continuation.DefaultValues(),
		Turn:     continuation.EndedTurn{Finish: "stop"},
		Limits:   limits,
		Now:      time.Now(),
	}
	fmt.Println(continuation.Evaluate(in).Reason) // nothing speaks against it so far

	in.TodosKnown = true
	in.Todos = []todo.Todo{
		{ID: "1", Content: "Read the code", Status: todo.Completed},
		{ID: "2", Content: "Fix the bug", Status: todo.InProgress},
	}
	ev := continuation.Evaluate(in)
	fmt.Println(ev.Continue, ev.Reason, ev.Todo.ID, ev.Attempt)

	in.Turn.ToolCalls = true
	ev = continuation.Evaluate(in)
	fmt.Println(ev.Continue, ev.Reason)
	fmt.Println(ev.Conditions)
	// Output:
	// The todos have not been asked for yet
	// true All continuation conditions satisfied 2 1
	// false Tool calls were made during stream - no continuation needed
	// enabled in_scope unbroken !no_tool_calls
}

func ExampleLimits() {
	limits, err := continuation.Limits{
		MaxAttempts: 5,
		MinInterval: continuation.Off,
		TokenBudget: 20_000,
	}.WithDefaults()
	fmt.Println(limits.MaxAttempts, limits.MaxWithoutProgress, limits.TokenBudget, limits.ResponseTimeout, err)

	_, err = continuation.Limits{MaxAttempts: -5}.WithDefaults()
	fmt.Println(err)
	// Output:
	// 5 10 20000 30s <nil>
	// limit MaxAttempts is negative: -5 (use continuation.Off for no limit)
}

func ExampleWithSession() {
	ctx := context.Background()
	ctx = continuation.WithSession(ctx, "conversation-42")
	fmt.Println(continuation.Session(ctx))
	// Output: conversation-42
}

func ExampleSettings() {
	settings := continuation.NewSettings(continuation.DefaultValues())
	_ = settings.SetTodoContinuation(context.Background(), "quiet", false)                                // one session
	if err := settings.SetApprovalMode(context.Background(), "", continuation.ApprovalYOLO); err != nil { // all others
		fmt.Println(err)
	}
	fmt.Println(settings.Local("quiet").TodoContinuation, settings.Local("quiet").ApprovalMode)
	fmt.Println(settings.Local("other").TodoContinuation, settings.Local("other").ApprovalMode)
	_ = settings.Reset(context.Background(), "quiet")
	fmt.Println(settings.Local("quiet").TodoContinuation)

	fmt.Println(settings.SetApprovalMode(context.Background(), "", "reckless"))
	// Output:
	// false yolo
	// true yolo
	// true
	// continuation: unknown approval mode "reckless" (valid: default, yolo)
}

func ExampleMemoryStore() {
	store := continuation.NewMemoryStore(continuation.WithMaxSessions(2))
	ctx := context.Background()
	for _, session := range []string{"a", "b", "c"} {
		err := store.Update(ctx, session, func(s continuation.State) continuation.State {
			s.Attempts++
			return s
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(store.Len(), "sessions")
	// Output: 2 sessions
}

// lockedStore is a minimal store: states by key, and one update at a time.
type lockedStore struct {
	mu     sync.Mutex
	states map[string]continuation.State
}

func (s *lockedStore) Update(_ context.Context, key string, f func(continuation.State) continuation.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[key] = f(s.states[key])
	return nil
}

// A program brings its own store to share sessions between replicas. A real one keeps
// a row per session, with a transaction or a compare-and-swap in place of the mutex.
// TestStore of package carryontest checks it.
func ExampleStore() {
	var store continuation.Store = &lockedStore{states: make(map[string]continuation.State)}
	for range 2 {
		err := store.Update(context.Background(), "conversation-42", func(s continuation.State) continuation.State {
			s.Continuations++
			return s
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	err := store.Update(context.Background(), "conversation-42", func(s continuation.State) continuation.State {
		fmt.Println(s.Continuations, "continuations in this user turn")
		return s
	})
	fmt.Println(err)
	// Output:
	// 2 continuations in this user turn
	// <nil>
}
