package carryontest_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
)

func TestStoreOnTheMemoryStore(t *testing.T) {
	t.Parallel()
	carryontest.TestStore(t, func() continuation.Store {
		return continuation.NewMemoryStore()
	})
}

func TestStoreOnTheStoreOfTheExample(t *testing.T) {
	t.Parallel()
	testMapStore(t)
}

func TestStoreNeedsAFunction(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/carryontest: TestStore needs a function that opens a store", func() { carryontest.TestStore(t, nil) })
}

// twice is a store that has lost a race: it runs every update on an outdated state
// first, and then on the current one.
type twice struct{ continuation.Store }

func (s twice) Update(ctx context.Context, key string, f func(continuation.State) continuation.State) error {
	return s.Store.Update(ctx, key, func(state continuation.State) continuation.State {
		f(state)
		return f(state)
	})
}

func TestStoreOnAStoreThatRunsUpdatesTwice(t *testing.T) {
	t.Parallel()
	carryontest.TestStore(t, func() continuation.Store {
		return twice{continuation.NewMemoryStore()}
	})
}

// optimistic is like a store across a network: it keeps JSON, reads it, and writes
// only if nobody has written meanwhile.
type optimistic struct {
	mu   sync.Mutex
	kept map[string]string
}

func (s *optimistic) load(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[key]
}

func (s *optimistic) swap(key, before, after string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key] != before {
		return false
	}
	s.kept[key] = after
	return true
}

func (s *optimistic) Update(ctx context.Context, key string, f func(continuation.State) continuation.State) error {
	for ctx.Err() == nil {
		before := s.load(key)
		var state continuation.State
		if before != "" {
			if err := json.Unmarshal([]byte(before), &state); err != nil {
				return err
			}
		}
		after, err := json.Marshal(f(state))
		if err != nil {
			return err
		}
		if s.swap(key, before, string(after)) {
			return nil
		}
	}
	return context.Cause(ctx)
}

func TestStoreOnAStoreThatKeepsJSON(t *testing.T) {
	t.Parallel()
	carryontest.TestStore(t, func() continuation.Store {
		return &optimistic{kept: make(map[string]string)}
	})
}
