package continuation_test

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
)

var (
	defaults = continuation.Values{TodoContinuation: true, ApprovalMode: continuation.ApprovalDefault}
	off      = continuation.Values{TodoContinuation: false, ApprovalMode: continuation.ApprovalDefault}
	yolo     = continuation.Values{TodoContinuation: true, ApprovalMode: continuation.ApprovalYOLO}
)

func TestDefaultValues(t *testing.T) {
	t.Parallel()
	assert.Equal(t, defaults, continuation.DefaultValues())
	s := continuation.NewSettings(defaults)
	assert.Equal(t, defaults, s.Local(""))
	assert.Equal(t, defaults, s.Local("a"))
}

func TestSettingsOfASessionAreItsOwn(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	require.NoError(t, s.SetTodoContinuation(t.Context(), "a", false))
	require.NoError(t, s.SetApprovalMode(t.Context(), "b", continuation.ApprovalYOLO))
	assert.Equal(t, off, s.Local("a"))
	assert.Equal(t, yolo, s.Local("b"))
	assert.Equal(t, defaults, s.Local(""))
	assert.Equal(t, defaults, s.Local("c"))

	require.NoError(t, s.Reset(t.Context(), "a"))
	assert.Equal(t, defaults, s.Local("a"))
	assert.Equal(t, yolo, s.Local("b"), "another session's are left alone")
}

func TestSettingsOfNoSessionAreTheDefault(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	require.NoError(t, s.SetTodoContinuation(t.Context(), "own", true))
	require.NoError(t, s.SetApprovalMode(t.Context(), "mode", continuation.ApprovalDefault))
	require.NoError(t, s.SetTodoContinuation(t.Context(), "", false))
	require.NoError(t, s.SetApprovalMode(t.Context(), "", continuation.ApprovalYOLO))

	both := continuation.Values{TodoContinuation: false, ApprovalMode: continuation.ApprovalYOLO}
	assert.Equal(t, both, s.Local(""))
	assert.Equal(t, both, s.Local("any"))
	assert.Equal(t, yolo, s.Local("own"), "a session keeps its own value, even if that was the old default")
	assert.Equal(t, off, s.Local("mode"))
	require.NoError(t, s.Reset(t.Context(), "own"))
	assert.Equal(t, both, s.Local("own"))
}

func TestSettingsResetOfWhatWasNeverSet(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(yolo)
	require.NoError(t, s.Reset(t.Context(), "a"))
	assert.Equal(t, yolo, s.Local("a"))
}

func TestSettingsRefuseUnknownModes(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	for _, session := range []string{"", "a"} {
		for _, mode := range []continuation.ApprovalMode{"", "YOLO", "auto"} {
			err := s.SetApprovalMode(t.Context(), session, mode)
			require.EqualError(t, err, fmt.Sprintf("continuation: unknown approval mode %q (valid: default, yolo)", mode))
			assert.Equal(t, defaults, s.Local(session))
		}
	}
}

func TestSettingsConcurrentUse(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	var wg sync.WaitGroup
	for i := range 8 {
		own := strconv.Itoa(i)
		wg.Go(func() {
			for range 200 {
				require.NoError(t, s.SetTodoContinuation(t.Context(), own, false))
				assert.False(t, s.Local(own).TodoContinuation)
				if err := s.SetApprovalMode(t.Context(), "", continuation.ApprovalYOLO); err != nil {
					t.Error(err)
				}
				require.NoError(t, s.Reset(t.Context(), own))
				assert.True(t, s.Local(own).TodoContinuation)
			}
		})
	}
	wg.Wait()
}

func TestSettingsOfAnEmptyModeAreTheDefaultOne(t *testing.T) {
	t.Parallel()
	assert.Equal(t, off, continuation.NewSettings(continuation.Values{}).Local("a"))
}

func TestSettingsRefuseAnUnknownDefaultMode(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, `carryon/continuation: unknown approval mode "reckless" (valid: default, yolo)`, func() {
		continuation.NewSettings(continuation.Values{ApprovalMode: "reckless"})
	})
	settings, err := continuation.TryNewSettings(continuation.Values{ApprovalMode: "reckless"})
	require.EqualError(t, err, `continuation: unknown approval mode "reckless" (valid: default, yolo)`)
	assert.Nil(t, settings)
}

// fillSettings switches sessions 0 to n-1 off, in that order.
func fillSettings(s *continuation.Settings, n int) {
	for i := range n {
		_ = s.SetTodoContinuation(context.Background(), strconv.Itoa(i), false)
	}
}

func TestSettingsForgetTheSessionUsedLongestAgo(t *testing.T) {
	t.Parallel()
	const limit = continuation.DefaultMaxSessions
	s := continuation.NewSettings(defaults)
	fillSettings(s, limit)
	s.Local("0")                                                       // asking is a use
	require.NoError(t, s.SetTodoContinuation(t.Context(), "1", false)) // so is setting
	require.NoError(t, s.SetApprovalMode(t.Context(), "2", continuation.ApprovalDefault))
	s.Local("unknown") // takes no place
	require.NoError(t, s.SetTodoContinuation(t.Context(), "", true))
	for range 2 {
		require.NoError(t, s.SetTodoContinuation(t.Context(), "new", false))
	}
	require.NoError(t, s.SetApprovalMode(t.Context(), "newer", continuation.ApprovalYOLO))
	for session, want := range map[string]continuation.Values{
		"0": off, "1": off, "2": off, "3": defaults, "4": defaults, "5": off, "new": off, "newer": yolo, strconv.Itoa(limit - 1): off,
	} {
		assert.Equal(t, want, s.Local(session), session)
	}
}

func TestSettingsResetMakesRoom(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	fillSettings(s, continuation.DefaultMaxSessions)
	require.NoError(t, s.Reset(t.Context(), "1"))
	require.NoError(t, s.SetTodoContinuation(t.Context(), "new", false))
	assert.Equal(t, off, s.Local("0"), "the oldest is still there")
	assert.Equal(t, defaults, s.Local("1"))
	require.NoError(t, s.SetTodoContinuation(t.Context(), "newer", false))
	assert.Equal(t, defaults, s.Local("2"))
}

// A bubble does not end before the goroutines that were started in it.
func TestSettingsStartNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := continuation.NewSettings(defaults)
		fillSettings(s, 10)
		assert.Equal(t, off, s.Local("9"))
	})
}

// Not parallel: other tests' memory must not count.
func TestSettingsAreSmall(t *testing.T) {
	s := continuation.NewSettings(defaults)
	before := measure.Live()
	fillSettings(s, 2*continuation.DefaultMaxSessions)
	assert.Less(t, measure.Live(), before+(40<<20))
	runtime.KeepAlive(s)
}

// The name may be a small part of a request that is long gone.
func TestSettingsDoNotHoldOnToWhereANameWasCutFrom(t *testing.T) {
	const large = 8 << 20
	s := continuation.NewSettings(defaults)
	before := measure.Live()
	for i := range 4 {
		request := string(make([]byte, large)) + strconv.Itoa(i)
		require.NoError(t, s.SetTodoContinuation(t.Context(), request[large:], false))
	}
	assert.Less(t, measure.Live(), before+large)
	assert.Equal(t, off, s.Local("3"))
	runtime.KeepAlive(s)
}

func BenchmarkSettingsFor(b *testing.B) {
	s := continuation.NewSettings(defaults)
	fillSettings(s, continuation.DefaultMaxSessions)
	for _, session := range []string{"0", "unknown"} {
		b.Run("session="+session, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Local(session)
			}
		})
		b.Run("session="+session+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.Local(session)
				}
			})
		})
	}
}
