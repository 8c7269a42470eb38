package guard_test

import (
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/guard"
)

var (
	errDown = errors.New("down")
	noon    = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
)

// at is a clock that stands still.
type at time.Time

func (a at) Now() time.Time { return time.Time(a) }

// After a failure nobody asks for a while, and then one call at a time.
func TestRemoteThatFails(t *testing.T) {
	t.Parallel()
	var r guard.Remote
	require.True(t, r.Allows(nil, at(noon)))
	require.Equal(t, errDown, r.Failed(noon, errDown))
	assert.False(t, r.Allows(nil, at(noon)))
	assert.False(t, r.Allows(nil, at(noon.Add(guard.BreakTime-1))))
	tried := noon.Add(guard.BreakTime)
	assert.True(t, r.Allows(nil, at(tried)), "one call tries")
	assert.False(t, r.Allows(nil, at(tried)), "and the others go on without")
	assert.True(t, r.Allows(nil, at(tried.Add(guard.BreakTime))), "if that call never answers, the next one tries")
	assert.True(t, r.Allows(nil, at(noon.Add(-time.Hour))), "the clock was set back")
}

// A failure is reported once, until the remote works again.
func TestRemoteReportsAFailureOnce(t *testing.T) {
	t.Parallel()
	var r guard.Remote
	assert.False(t, r.Answered(), "it has not failed")
	assert.False(t, guard.IsKnown(r.Failed(noon, errDown)))
	again := r.Failed(noon, errDown)
	assert.True(t, guard.IsKnown(again))
	require.ErrorIs(t, again, errDown)
	assert.True(t, r.Answered())
	assert.False(t, r.Answered(), "recovery is reported once, too")
	assert.True(t, r.Allows(nil, at(noon)))
	assert.False(t, guard.IsKnown(r.Failed(noon, errDown)))
}

// A value that cannot be read is no failure of the remote, and is reported once for each key.
func TestRemoteWithUnreadableValues(t *testing.T) {
	t.Parallel()
	var r guard.Remote
	r.Readable("a")
	assert.Equal(t, errDown, r.Unreadable("a", errDown))
	assert.True(t, guard.IsKnown(r.Unreadable("a", errDown)))
	assert.False(t, guard.IsKnown(r.Unreadable("b", errDown)))
	assert.True(t, r.Allows(nil, at(noon)))
	r.Readable("a")
	assert.False(t, guard.IsKnown(r.Unreadable("a", errDown)))
	for i := range 1024 {
		_ = r.Unreadable(strconv.Itoa(i), errDown)
	}
	assert.False(t, guard.IsKnown(r.Unreadable("b", errDown)), "the oldest are forgotten")
}

// A turn waits for all remotes together, and not at all after a time-out.
func TestBudget(t *testing.T) {
	t.Parallel()
	var b guard.Budget
	const limit = time.Second
	assert.Equal(t, limit, b.Left(limit))
	b.Add(300 * time.Millisecond)
	b.Add(200 * time.Millisecond)
	assert.Equal(t, limit/2, b.Left(limit))
	b.BeginTurn()
	assert.Equal(t, limit, b.Left(limit), "the next turn has its own time")
	b.Add(math.MaxInt64)
	assert.Equal(t, math.MaxInt32*time.Microsecond, limit-b.Left(limit))
	var r guard.Remote
	assert.True(t, r.Allows(&b, at(noon)))
	b.End()
	b.Add(time.Millisecond)
	b.BeginTurn()
	assert.True(t, b.IsOver(), "for the whole call")
	assert.False(t, r.Allows(&b, at(noon)))
}
