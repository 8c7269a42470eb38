package carryontest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

// mapStore is a store of your own: here a map, elsewhere rows of a database, each
// read and written in one transaction.
type mapStore struct {
	mu     sync.Mutex
	states map[string]continuation.State
}

func newMapStore() *mapStore {
	return &mapStore{states: make(map[string]continuation.State)}
}

func (s *mapStore) Update(ctx context.Context, key string, f func(continuation.State) continuation.State) error {
	s.mu.Lock()
	defer s.mu.Unlock() // also if f panics
	next := f(s.states[key])
	if err := ctx.Err(); err != nil {
		return err // and nothing is stored
	}
	s.states[key] = next
	return nil
}

// testMapStore is the whole test of the store: call it TestMapStore.
func testMapStore(t *testing.T) {
	t.Helper()
	carryontest.TestStore(t, func() continuation.Store { return newMapStore() })
}

func ExampleTestStore() {
	store := newMapStore() // goes into middleware.WithStore
	ctx, cancel := context.WithCancel(context.Background())
	begin := func(s continuation.State) continuation.State {
		s.Continuations++
		return s
	}
	fmt.Println(store.Update(ctx, "conversation-42", begin))
	cancel()
	fmt.Println(store.Update(ctx, "conversation-42", begin))
	fmt.Println(store.states["conversation-42"].Continuations)
	// Output:
	// <nil>
	// context canceled
	// 1
}
