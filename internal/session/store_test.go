package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/records"
)

func TestStoresKeepTheRules(t *testing.T) {
	t.Parallel()
	t.Run("store=memory", func(t *testing.T) { testStore(t, func() session.Store { return newMemory() }) })
	t.Run("store=shared", func(t *testing.T) {
		testStore(t, func() session.Store {
			engine := records.NewMemoryEngine()
			return &twoStores{a: newShared(engine), b: newShared(engine)}
		})
	})
	t.Run("store=twice", func(t *testing.T) {
		testStore(t, func() session.Store { return newShared(twice{records.NewMemoryEngine()}) })
	})
}

// newShared returns a store on the engine, with the default bound.
func newShared(engine records.Records) *session.SharedStore {
	return session.NewSharedStore(engine, continuation.DefaultLimits().SessionLife)
}

// twice is an engine that has lost a race: it runs every update twice,
// of which the last run counts.
type twice struct{ records.Records }

func (e twice) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	return e.Records.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		_, _, _ = f(now, old)
		return f(now, old)
	})
}

func TestKeysOfSharedStatesHaveAHashOfTheName(t *testing.T) {
	t.Parallel()
	var keys []string
	engine := watched{records.NewMemoryEngine(), func(key string) { keys = append(keys, key) }}
	put(t, newShared(engine), "alice@example.com", decision.State{UserTurn: 1})
	// printf %s alice@example.com | sha256sum
	assert.Equal(t, []string{"carryon:state:ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976"}, keys)
}

type watched struct {
	records.Records

	see func(key string)
}

func (w watched) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	w.see(key)
	return w.Records.Update(ctx, key, f)
}

func put(t *testing.T, store session.Store, key string, s decision.State) {
	t.Helper()
	require.NoError(t, store.Update(t.Context(), key, func(decision.State) decision.State { return s }))
}

// Another version of carryon, or another program, has written the record. The store
// must neither misread nor overwrite it.
func TestWhatASharedStoreCannotReadItLeavesAlone(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]error{
		`carryon/state/2 {"user_turn":1}`:                  records.ErrNewer,
		`carryon/state/1 {"user_turn":1,"new":"a budget"}`: records.ErrForeign,
		`carryon/state/1 {"user_turn":"one"}`:              records.ErrForeign,
		`carryon/state/1 {"user_turn":1}{}`:                records.ErrForeign,
		`carryon/state/1 `:                                 records.ErrForeign,
		`carryon/state/1`:                                  records.ErrForeign,
		`carryon/state/x {}`:                               records.ErrForeign,
		`carryon/state/0 {}`:                               records.ErrForeign,
		`carryon/todos/1 {}`:                               records.ErrForeign,
		`{"user_turn":1}`:                                  records.ErrForeign,
		"\x80\x02":                                         records.ErrForeign,
		" ":                                                records.ErrForeign,
	} {
		engine, key := records.NewMemoryEngine(), ""
		store := newShared(watched{engine, func(k string) { key = k }})
		put(t, store, "s", decision.State{UserTurn: 1})
		kept := func(f func(old []byte) []byte) {
			require.NoError(t, engine.Update(t.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
				return f(old), time.Hour, nil
			}))
		}
		kept(func([]byte) []byte { return []byte(record) })
		err := store.Update(t.Context(), "s", func(decision.State) decision.State {
			assert.Fail(t, "f was given something", record)
			return decision.State{Attempts: 1}
		})
		require.ErrorIs(t, err, want, record)
		require.ErrorIs(t, err, session.ErrBadState)
		kept(func(old []byte) []byte {
			assert.Equal(t, record, string(old))
			return old
		})
	}
}
