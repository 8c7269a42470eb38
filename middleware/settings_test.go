package middleware_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
)

var (
	defaults = continuation.Values{TodoContinuation: true, ApprovalMode: continuation.ApprovalDefault}
	off      = continuation.Values{TodoContinuation: false, ApprovalMode: continuation.ApprovalDefault}
	yolo     = continuation.Values{TodoContinuation: true, ApprovalMode: continuation.ApprovalYOLO}
)

// settingsOf returns settings with these defaults.
func settingsOf(defaults continuation.Values, opts ...middleware.Option) *middleware.Settings {
	s := middleware.New(buildTodos, append(opts, middleware.WithApprovalMode(defaults.ApprovalMode))...).Settings()
	_ = s.SetTodoContinuation(context.Background(), "", defaults.TodoContinuation) // a default is kept in memory
	return s
}

// values returns the values in force for the session, which are kept in memory.
func values(s *middleware.Settings, session string) continuation.Values {
	v, err := s.Load(context.Background(), session)
	if err != nil {
		panic(err)
	}
	return v
}

func TestDefaultValues(t *testing.T) {
	t.Parallel()
	assert.Equal(t, defaults, continuation.DefaultValues())
	s := settingsOf(defaults)
	assert.Equal(t, defaults, values(s, ""))
	assert.Equal(t, defaults, values(s, "a"))
}

func TestSettingsOfASessionAreItsOwn(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	require.NoError(t, s.SetTodoContinuation(t.Context(), "a", false))
	require.NoError(t, s.SetApprovalMode(t.Context(), "b", continuation.ApprovalYOLO))
	assert.Equal(t, off, values(s, "a"))
	assert.Equal(t, yolo, values(s, "b"))
	assert.Equal(t, defaults, values(s, ""))
	assert.Equal(t, defaults, values(s, "c"))

	require.NoError(t, s.Reset(t.Context(), "a"))
	assert.Equal(t, defaults, values(s, "a"))
	assert.Equal(t, yolo, values(s, "b"), "another session's are left alone")
}

func TestSettingsOfNoSessionAreTheDefault(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	require.NoError(t, s.SetTodoContinuation(t.Context(), "own", true))
	require.NoError(t, s.SetApprovalMode(t.Context(), "mode", continuation.ApprovalDefault))
	require.NoError(t, s.SetTodoContinuation(t.Context(), "", false))
	require.NoError(t, s.SetApprovalMode(t.Context(), "", continuation.ApprovalYOLO))

	both := continuation.Values{TodoContinuation: false, ApprovalMode: continuation.ApprovalYOLO}
	assert.Equal(t, both, values(s, ""))
	assert.Equal(t, both, values(s, "any"))
	assert.Equal(t, yolo, values(s, "own"), "a session keeps its own value, even if that was the old default")
	assert.Equal(t, off, values(s, "mode"))
	require.NoError(t, s.Reset(t.Context(), "own"))
	assert.Equal(t, both, values(s, "own"))
}

func TestSettingsResetOfWhatWasNeverSet(t *testing.T) {
	t.Parallel()
	s := settingsOf(yolo)
	require.NoError(t, s.Reset(t.Context(), "a"))
	assert.Equal(t, yolo, values(s, "a"))
}

func TestSettingsRefuseUnknownModes(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	for _, session := range []string{"", "a"} {
		for _, mode := range []continuation.ApprovalMode{"", "YOLO", "auto"} {
			err := s.SetApprovalMode(t.Context(), session, mode)
			require.EqualError(t, err, fmt.Sprintf("continuation: unknown approval mode %q (valid: default, yolo)", mode))
			assert.Equal(t, defaults, values(s, session))
		}
	}
}

func TestSettingsConcurrentUse(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	var wg sync.WaitGroup
	for i := range 8 {
		own := strconv.Itoa(i)
		wg.Go(func() {
			for range 200 {
				require.NoError(t, s.SetTodoContinuation(t.Context(), own, false))
				assert.False(t, values(s, own).TodoContinuation)
				if err := s.SetApprovalMode(t.Context(), "", continuation.ApprovalYOLO); err != nil {
					t.Error(err)
				}
				require.NoError(t, s.Reset(t.Context(), own))
				assert.True(t, values(s, own).TodoContinuation)
			}
		})
	}
	wg.Wait()
}

// fillSettings switches sessions 0 to n-1 off, in that order.
func fillSettings(s *middleware.Settings, n int) {
	for i := range n {
		_ = s.SetTodoContinuation(context.Background(), strconv.Itoa(i), false)
	}
}

func TestSettingsForgetTheSessionUsedLongestAgo(t *testing.T) {
	t.Parallel()
	limit := continuation.DefaultLimits().MaxSessions
	s := settingsOf(defaults)
	fillSettings(s, limit)
	values(s, "0")                                                     // asking is a use
	require.NoError(t, s.SetTodoContinuation(t.Context(), "1", false)) // so is setting
	require.NoError(t, s.SetApprovalMode(t.Context(), "2", continuation.ApprovalDefault))
	values(s, "unknown") // takes no place
	require.NoError(t, s.SetTodoContinuation(t.Context(), "", true))
	for range 2 {
		require.NoError(t, s.SetTodoContinuation(t.Context(), "new", false))
	}
	require.NoError(t, s.SetApprovalMode(t.Context(), "newer", continuation.ApprovalYOLO))
	for session, want := range map[string]continuation.Values{
		"0": off, "1": off, "2": off, "3": defaults, "4": defaults, "5": off, "new": off, "newer": yolo, strconv.Itoa(limit - 1): off,
	} {
		assert.Equal(t, want, values(s, session), session)
	}
}

func TestSettingsResetMakesRoom(t *testing.T) {
	t.Parallel()
	s := settingsOf(defaults)
	fillSettings(s, continuation.DefaultLimits().MaxSessions)
	require.NoError(t, s.Reset(t.Context(), "1"))
	require.NoError(t, s.SetTodoContinuation(t.Context(), "new", false))
	assert.Equal(t, off, values(s, "0"), "the oldest is still there")
	assert.Equal(t, defaults, values(s, "1"))
	require.NoError(t, s.SetTodoContinuation(t.Context(), "newer", false))
	assert.Equal(t, defaults, values(s, "2"))
}

// A bubble does not end before the goroutines that were started in it.
func TestSettingsStartNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := settingsOf(defaults)
		fillSettings(s, 10)
		assert.Equal(t, off, values(s, "9"))
	})
}

// Not parallel: other tests' memory must not count.
func TestSettingsAreSmall(t *testing.T) {
	s := settingsOf(defaults)
	before := measure.Live()
	fillSettings(s, 2*continuation.DefaultLimits().MaxSessions)
	assert.Less(t, measure.Live(), before+(40<<20))
	runtime.KeepAlive(s)
}

// The name may be a small part of a request that is long gone.
func TestSettingsDoNotHoldOnToWhereANameWasCutFrom(t *testing.T) {
	const large = 8 << 20
	s := settingsOf(defaults)
	before := measure.Live()
	for i := range 4 {
		request := string(make([]byte, large)) + strconv.Itoa(i)
		require.NoError(t, s.SetTodoContinuation(t.Context(), request[large:], false))
	}
	assert.Less(t, measure.Live(), before+large)
	assert.Equal(t, off, values(s, "3"))
	runtime.KeepAlive(s)
}

func BenchmarkSettingsFor(b *testing.B) {
	s := settingsOf(defaults)
	fillSettings(s, continuation.DefaultLimits().MaxSessions)
	for _, session := range []string{"0", "unknown"} {
		b.Run("session="+session, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				values(s, session)
			}
		})
		b.Run("session="+session+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					values(s, session)
				}
			})
		})
	}
}

func TestSharedSettings(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	a := settingsOf(defaults, middleware.WithRecords(engine))
	b := settingsOf(yolo, middleware.WithRecords(engine))
	load := func(s *middleware.Settings, session string) continuation.Values {
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
	settings := settingsOf(defaults, middleware.WithRecords(downStore{}))
	for _, line := range []string{"/set", "/set todo-continuation", "/set todo-continuation off", "/set approval-mode yolo"} {
		answer, err := settings.CommandFor(t.Context(), "s", line)
		require.ErrorIs(t, err, assert.AnError)
		assert.Equal(t, "The settings cannot be reached right now. A change may not have been saved.", answer)
	}
	_, err := settings.CommandFor(t.Context(), "", "/set todo-continuation off")
	require.NoError(t, err, "the default is kept here")
}

type downStore struct{}

func (downStore) Update(context.Context, string, records.UpdateFunc) error {
	return assert.AnError
}
