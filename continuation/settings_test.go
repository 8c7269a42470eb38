package continuation_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

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
