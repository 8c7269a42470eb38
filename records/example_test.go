package records_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// Two replicas share an engine. This one is in memory; production uses one of
// carryon/stores/redis or carryon/stores/postgres.
func Example() {
	engine := records.WithPrefix(records.NewMemoryEngine(), "staging:")
	replica := func() *middleware.Middleware {
		return middleware.New(todo.NewMemory(todo.WithRecords(engine)), middleware.WithRecords(engine))
	}
	a, b := replica(), replica()

	ctx := continuation.WithSession(context.Background(), "conversation-42")
	answer, err := a.Settings().CommandFor(ctx, "conversation-42", "/set todo-continuation off")
	fmt.Println(answer, err)
	values, err := b.Settings().Load(ctx, "conversation-42")
	fmt.Println(values.TodoContinuation, err)
	// Output:
	// todo-continuation is now false. <nil>
	// false <nil>
}

func ExampleMemoryEngine() {
	engine := records.NewMemoryEngine()
	for range 2 {
		err := engine.Update(context.Background(), "visits", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			return append(slices.Clip(old), 'x'), time.Hour, nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(engine.Len())
	// Output:
	// 1
}

// Programs that must share nothing can use one server.
func ExampleWithPrefix() {
	server := records.NewMemoryEngine()
	staging, production := records.WithPrefix(server, "staging:"), records.WithPrefix(server, "production:")
	ctx := context.Background()
	err := staging.Update(ctx, "greeting", func(time.Time, []byte) ([]byte, time.Duration, error) {
		return []byte("hello"), records.Off, nil
	})
	fmt.Println(err)
	for _, engine := range []records.Records{staging, production} {
		err := engine.Update(ctx, "greeting", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			fmt.Printf("%q\n", old)
			return old, records.Off, nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// <nil>
	// "hello"
	// ""
}

// table is a server with a compare-and-swap. This one is a map; a real one is reached
// over a network.
type table struct {
	mu      sync.Mutex
	records map[string]records.Snapshot
	changes int
}

// Swap implements records.Swapper.
func (t *table) Swap(_ context.Context, key string, s records.Swap) (now records.Snapshot, swapped bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now = t.records[key]
	if now.Revision != s.Revision {
		return now, false, nil
	}
	switch s.Action {
	case records.Replace:
		t.changes++
		now = records.Snapshot{Record: slices.Clone(s.Record), Revision: strconv.Itoa(t.changes)}
		t.records[key] = now
	case records.Remove:
		delete(t.records, key)
	case records.Look, records.Renew: // this one keeps everything for good
	}
	return now, true, nil
}

// An engine is one method: retries, fairness and a cache come from NewSwapping.
func ExampleNewSwapping() {
	engine := records.NewSwapping(&table{records: map[string]records.Snapshot{}})
	for range 3 {
		err := engine.Update(context.Background(), "visits", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			visits, _ := strconv.Atoi(string(old))
			fmt.Println(visits)
			return []byte(strconv.Itoa(visits + 1)), time.Hour, nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 0
	// 1
	// 2
}
