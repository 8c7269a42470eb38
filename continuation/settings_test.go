package continuation_test

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
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
	assert.Equal(t, defaults, s.For(""))
	assert.Equal(t, defaults, s.For("a"))
}

func TestSettingsOfASessionAreItsOwn(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	s.SetTodoContinuation("a", false)
	require.NoError(t, s.SetApprovalMode("b", continuation.ApprovalYOLO))
	assert.Equal(t, off, s.For("a"))
	assert.Equal(t, yolo, s.For("b"))
	assert.Equal(t, defaults, s.For(""))
	assert.Equal(t, defaults, s.For("c"))

	s.Reset("a")
	assert.Equal(t, defaults, s.For("a"))
	assert.Equal(t, yolo, s.For("b"), "another session's are left alone")
}

func TestSettingsOfNoSessionAreTheDefault(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	s.SetTodoContinuation("own", true)
	require.NoError(t, s.SetApprovalMode("mode", continuation.ApprovalDefault))
	s.SetTodoContinuation("", false)
	require.NoError(t, s.SetApprovalMode("", continuation.ApprovalYOLO))

	both := continuation.Values{TodoContinuation: false, ApprovalMode: continuation.ApprovalYOLO}
	assert.Equal(t, both, s.For(""))
	assert.Equal(t, both, s.For("any"))
	assert.Equal(t, yolo, s.For("own"), "what a session has set itself stays, though it is the same as the default was")
	assert.Equal(t, off, s.For("mode"))
	s.Reset("own")
	assert.Equal(t, both, s.For("own"))
}

func TestSettingsResetOfWhatWasNeverSet(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(yolo)
	s.Reset("a")
	assert.Equal(t, yolo, s.For("a"))
}

func TestSettingsRefuseUnknownModes(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	for _, session := range []string{"", "a"} {
		for _, mode := range []continuation.ApprovalMode{"", "YOLO", "auto"} {
			err := s.SetApprovalMode(session, mode)
			require.EqualError(t, err, fmt.Sprintf("continuation: unknown approval mode %q (valid: default, yolo)", mode))
			assert.Equal(t, defaults, s.For(session))
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
				s.SetTodoContinuation(own, false)
				assert.False(t, s.For(own).TodoContinuation)
				if err := s.SetApprovalMode("", continuation.ApprovalYOLO); err != nil {
					t.Error(err)
				}
				s.Reset(own)
				assert.True(t, s.For(own).TodoContinuation)
			}
		})
	}
	wg.Wait()
}

func TestSettingsOfAnEmptyModeAreTheDefaultOne(t *testing.T) {
	t.Parallel()
	assert.Equal(t, off, continuation.NewSettings(continuation.Values{}).For("a"))
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
		s.SetTodoContinuation(strconv.Itoa(i), false)
	}
}

func TestSettingsForgetTheSessionUsedLongestAgo(t *testing.T) {
	t.Parallel()
	const limit = continuation.DefaultMaxSessions
	s := continuation.NewSettings(defaults)
	fillSettings(s, limit)
	s.For("0")                        // asking is a use
	s.SetTodoContinuation("1", false) // so is setting
	require.NoError(t, s.SetApprovalMode("2", continuation.ApprovalDefault))
	s.For("unknown") // takes no place
	s.SetTodoContinuation("", true)
	for range 2 {
		s.SetTodoContinuation("new", false)
	}
	require.NoError(t, s.SetApprovalMode("newer", continuation.ApprovalYOLO))
	for session, want := range map[string]continuation.Values{
		"0": off, "1": off, "2": off, "3": defaults, "4": defaults, "5": off, "new": off, "newer": yolo, strconv.Itoa(limit - 1): off,
	} {
		assert.Equal(t, want, s.For(session), session)
	}
}

func TestSettingsResetMakesRoom(t *testing.T) {
	t.Parallel()
	s := continuation.NewSettings(defaults)
	fillSettings(s, continuation.DefaultMaxSessions)
	s.Reset("1")
	s.SetTodoContinuation("new", false)
	assert.Equal(t, off, s.For("0"), "the oldest has its place still")
	assert.Equal(t, defaults, s.For("1"))
	s.SetTodoContinuation("newer", false)
	assert.Equal(t, defaults, s.For("2"))
}

// A bubble does not end before the goroutines that were started in it.
func TestSettingsStartNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := continuation.NewSettings(defaults)
		fillSettings(s, 10)
		assert.Equal(t, off, s.For("9"))
	})
}

// Not parallel: other tests' memory must not count.
func TestSettingsAreSmall(t *testing.T) {
	s := continuation.NewSettings(defaults)
	before := heap()
	fillSettings(s, 2*continuation.DefaultMaxSessions)
	assert.Less(t, heap(), before+(40<<20))
	runtime.KeepAlive(s)
}

// The name may be a small part of a request that is long gone.
func TestSettingsDoNotHoldOnToWhereANameWasCutFrom(t *testing.T) {
	const large = 8 << 20
	s := continuation.NewSettings(defaults)
	before := heap()
	for i := range 4 {
		request := string(make([]byte, large)) + strconv.Itoa(i)
		s.SetTodoContinuation(request[large:], false)
	}
	assert.Less(t, heap(), before+large)
	assert.Equal(t, off, s.For("3"))
	runtime.KeepAlive(s)
}

func BenchmarkSettingsFor(b *testing.B) {
	s := continuation.NewSettings(defaults)
	fillSettings(s, continuation.DefaultMaxSessions)
	for _, session := range []string{"0", "unknown"} {
		b.Run("session="+session, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.For(session)
			}
		})
		b.Run("session="+session+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.For(session)
				}
			})
		})
	}
}
