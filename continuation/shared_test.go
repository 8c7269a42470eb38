package continuation_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/records"
)

func TestSharedStore(t *testing.T) {
	t.Parallel()
	carryontest.TestSharedStore(t, func() (a, b continuation.Store) {
		engine := records.NewMemoryEngine()
		return continuation.NewSharedStore(engine), continuation.NewSharedStore(engine)
	})
}

func TestKeysOfSharedStatesHaveAHashOfTheName(t *testing.T) {
	t.Parallel()
	var keys []string
	engine := watched{records.NewMemoryEngine(), func(key string) { keys = append(keys, key) }}
	put(t, continuation.NewSharedStore(engine), "alice@example.com", continuation.State{UserTurn: 1})
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

func put(t *testing.T, store continuation.Store, key string, s continuation.State) {
	t.Helper()
	require.NoError(t, store.Update(t.Context(), key, func(continuation.State) continuation.State { return s }))
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
		store := continuation.NewSharedStore(watched{engine, func(k string) { key = k }})
		put(t, store, "s", continuation.State{UserTurn: 1})
		kept := func(f func(old []byte) []byte) {
			require.NoError(t, engine.Update(t.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
				return f(old), time.Hour, nil
			}))
		}
		kept(func([]byte) []byte { return []byte(record) })
		err := store.Update(t.Context(), "s", func(continuation.State) continuation.State {
			assert.Fail(t, "f was given something", record)
			return continuation.State{Attempts: 1}
		})
		require.ErrorIs(t, err, want, record)
		require.ErrorIs(t, err, continuation.ErrBadState)
		kept(func(old []byte) []byte {
			assert.Equal(t, record, string(old))
			return old
		})
	}
}

func TestSharedStoreRefusesWrongOptions(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	_, err := continuation.TryNewSharedStore(nil)
	require.EqualError(t, err, "continuation: nil Records")
	_, err = continuation.TryNewSharedStore(engine, nil)
	require.NoError(t, err, "a nil option is ignored")
	_, err = continuation.TryNewSharedStore(engine, continuation.WithSharedMaxAge(-2))
	require.ErrorContains(t, err, "WithSharedMaxAge: -2ns is negative")
	assert.PanicsWithValue(t, "carryon/continuation: nil Records", func() { continuation.NewSharedStore(nil) })
	require.Error(t, continuation.NewSharedStore(engine).Update(t.Context(), "s", nil))
}

func TestSharedSettings(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	a := continuation.NewSharedSettings(defaults, continuation.NewSharedStore(engine))
	b := continuation.NewSharedSettings(yolo, continuation.NewSharedStore(engine))
	load := func(s *continuation.Settings, session string) continuation.Values {
		values, err := s.Load(t.Context(), session)
		require.NoError(t, err)
		return values
	}
	answer, err := a.CommandFor(t.Context(), "alice", "/set todo-continuation off")
	require.NoError(t, err)
	assert.Equal(t, "todo-continuation is now false.", answer)
	assert.Equal(t, off, load(a, "alice"))
	assert.Equal(t, continuation.Values{ApprovalMode: continuation.ApprovalYOLO}, load(b, "alice"), "the default of the other process")
	answer, err = b.CommandFor(t.Context(), "alice", "/set todo-continuation")
	require.NoError(t, err)
	assert.Contains(t, answer, "todo-continuation is false")
	assert.Equal(t, defaults, load(a, "bob"))

	require.NoError(t, b.SetApprovalMode(t.Context(), "alice", continuation.ApprovalDefault))
	assert.Equal(t, off, load(b, "alice"))
	_, err = a.Command("/set todo-continuation off")
	require.NoError(t, err)
	assert.Equal(t, yolo, load(b, "bob"), "defaults are each process's own")
	require.NoError(t, b.Reset(t.Context(), "alice"))
	assert.Equal(t, yolo, load(b, "alice"))
	assert.Zero(t, engine.Len())
}

func TestSharedSettingsThatCannotBeReached(t *testing.T) {
	t.Parallel()
	settings := continuation.NewSharedSettings(defaults, downStore{})
	for _, line := range []string{"/set", "/set todo-continuation", "/set todo-continuation off", "/set approval-mode yolo"} {
		answer, err := settings.CommandFor(t.Context(), "s", line)
		require.ErrorIs(t, err, assert.AnError)
		assert.Equal(t, "The settings cannot be reached right now. A change may not have been saved.", answer)
	}
	_, err := settings.CommandFor(t.Context(), "", "/set todo-continuation off")
	require.NoError(t, err, "the default is kept here")
	assert.Panics(t, func() { continuation.NewSharedSettings(defaults, nil) })
	_, err = continuation.TryNewSharedSettings(defaults, nil)
	require.EqualError(t, err, "continuation: NewSharedSettings: nil Store")
	_, err = continuation.TryNewSharedSettings(continuation.Values{ApprovalMode: "reckless"}, downStore{})
	require.ErrorContains(t, err, `unknown approval mode "reckless"`)
}

type downStore struct{}

func (downStore) Update(context.Context, string, func(continuation.State) continuation.State) error {
	return assert.AnError
}
