package asynctask_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
)

func TestOneSessionCannotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	for range 5 {
		_, err := s.Start(in(t, "greedy"), "task", untilCancelled)
		require.NoError(t, err)
	}
	_, err := s.Start(in(t, "greedy"), "task", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrLimit)
	require.ErrorIs(t, s.Begin(in(t, "greedy"), "elsewhere", "task"), asynctask.ErrLimit)
	_, err = s.Start(in(t, "modest"), "task", untilCancelled)
	require.NoError(t, err)

	require.NoError(t, s.Close(t.Context()))
}

// Cancelling functions that ignore their ctx frees no slots for more of them.
func TestCancelledFunctionsKeepThePlacesOfTheirSession(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	hold := make(chan struct{})
	defer close(hold)
	for range 5 {
		id, err := s.Start(in(t, "deaf"), "task", deaf(hold))
		require.NoError(t, err)
		require.NoError(t, s.Cancel(id))
	}
	_, err := s.Start(in(t, "deaf"), "task", deaf(hold))
	require.EqualError(t, err, "asynctask: limit reached: 5 functions of the session have not returned")
	_, err = s.Start(in(t, "other"), "task", untilCancelled)
	require.NoError(t, err)
}

// Abandoned conversations cost the others nothing.
func TestAbandonedEndsDoNotKeepOthersFromStarting(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	for i := range 10_001 {
		s.ends(fmt.Sprint("session-", i%100), fmt.Sprint("task-", i))
	}
	s.begins("a", "more")
	assert.Len(t, s.told("session-0"), 101, "none of their ends is lost")
}

func TestTooManyUndeliveredKeepTheirSessionFromStarting(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	for i := range asynctask.MaxUndelivered {
		s.ends("full", fmt.Sprint("task-", i))
	}
	require.EqualError(t, s.Begin(in(t, "full"), "more", "more"),
		"asynctask: limit reached: 1000 ended tasks of the session wait for delivery")
	s.begins("a", "more")

	s.acks("full")
	s.begins("full", "more")
}

// The texts that a session's requests repeat stay, whatever happens in other sessions.
func TestWhatIsRepeatedSurvivesTheEndsOfOthers(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "told")
	d := s.deliver()
	s.settle(d, delivery.Repeat)
	for i := range 10_001 {
		session := fmt.Sprint("session-", i)
		s.ends(session, session)
		s.acks(session)
	}
	again := s.Deliver("a", delivery.Options{})
	require.NotNil(t, again)
	assert.Equal(t, d.Text, again.Repeated[0].Text)
	s.settle(again, delivery.Unread)
}

func TestSessionsAreDroppedAfterTheirRetention(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithRetention(time.Hour), asynctask.WithTaskLife(asynctask.Off))
	s.ends("old", "old")
	s.ends("used", "used")
	s.begins("running", "running")
	s.clock.Advance(time.Hour - 1)
	assert.NotEmpty(t, s.kept("used"))
	s.clock.Advance(1)
	s.ends("new", "new")
	assert.Empty(t, s.kept("old"))
	assert.NotEmpty(t, s.kept("used"), "it was looked at since")
	assert.NotEmpty(t, s.kept("running"), "sessions with running tasks stay")
}

func TestTasksHaveALife(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithSessionLimit(1), asynctask.WithTaskLife(time.Hour))
	s.begins("a", "abandoned")
	s.clock.Advance(time.Hour)
	s.begins("a", "next") // its slot is free
	task, _ := s.Get("abandoned")
	require.ErrorIs(t, task.Err, asynctask.ErrOwnerLost)
	assert.Equal(t, []string{"abandoned"}, s.told("a"))

	id, err := s.Start(in(t, "b"), "task", untilCancelled)
	require.NoError(t, err)
	s.clock.Advance(1000 * time.Hour)
	n, _ := s.Pending("b", -1)
	assert.Equal(t, 1, n, "a function of this process is not lost")
	require.NoError(t, s.Cancel(id))
}

func message(t *testing.T, s *setup, id string) string {
	t.Helper()
	task, ok := s.Get(id)
	require.True(t, ok)
	return *task.Output.FinalMessage
}

// finishes begins tasks of a session and ends them with a message.
func (s *setup) finishes(session, message string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.begins(session, id)
		require.NoError(s.t, s.Finish(id, asynctask.Message(message)))
	}
}

func TestOldestOutputsOfASessionShrink(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithSessionLimit(20)) // and twice as much history
	long := strings.Repeat("begin ", 10) + strings.Repeat("x", 12_000) + strings.Repeat(" end", 10)
	s.finishes("a", long, "delivered")
	s.acks("a")
	for i := range 20 {
		s.finishes("a", long, fmt.Sprint("task-", i))
	}
	assert.Len(t, message(t, s, "delivered"), len(long), "within the size nothing is cut")
	for i := range 20 {
		s.finishes("b", long, fmt.Sprint("other-", i)) // of another session
	}
	assert.Len(t, message(t, s, "delivered"), len(long))

	s.finishes("a", long, "one-more")
	shrunk := message(t, s, "delivered")
	assert.Regexp(t, `^begin (.|\n)*x\n\[\.\.\. 1\d\d\d\d bytes cut \.\.\.\]\nx(.|\n)* end$`, shrunk)
	assert.Equal(t, long, message(t, s, "task-0"), "delivered outputs are cut first")
	s.finishes("a", long, "two-more", "three-more")
	shrunk = message(t, s, "task-0")
	assert.Less(t, len(shrunk), 2<<10)
	told, _ := payloads(t, s.Remind("a").Text)
	assert.NotEqual(t, long, *told[0].FinalMessage)
	assert.Equal(t, long, message(t, s, "three-more"))
}

func TestHugeOutputsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	vars := map[string]string{}
	for i := range 50_000 {
		vars[fmt.Sprintf("variable-%05d", i)] = "value"
	}
	cause := errors.New(strings.Repeat("e", 8<<20))
	s.begins("a", "message", "vars", "error")
	require.NoError(t, s.Finish("message", asynctask.Message(strings.Repeat("m", 64<<20))))
	require.NoError(t, s.Finish("vars", &asynctask.Output{EmittedVars: vars}))
	require.NoError(t, s.Fail("error", cause))

	assert.Less(t, len(message(t, s, "message")), asynctask.MaxCompletion)
	task, _ := s.Get("vars")
	assert.Less(t, len(task.Output.EmittedVars), 1000)
	task, _ = s.Get("error")
	assert.Less(t, len(task.Err.Error()), asynctask.MaxCompletion)
	require.NotErrorIs(t, task.Err, cause, "the error itself would keep its text")

	told, longest := payloads(t, s.Remind("a").Text)
	assert.LessOrEqual(t, longest, asynctask.MaxCompletion)
	require.Len(t, told, 3)
	assert.Regexp(t, `^\[49\d\d\d variables left out\]$`, told[1].EmittedVars["..."])
	assert.Contains(t, *told[2].Error, "bytes cut")
}

func TestBeyondItsMemoryAManagerCutsAndDropsWhatIsOldest(t *testing.T) {
	t.Parallel()
	const each = 10_000
	s := newSetup(t, asynctask.WithMemory(20*each))
	long := strings.Repeat("x", each)
	s.begins("running", "running")
	s.finishes("first", long, "first")
	for i := range 30 {
		name := fmt.Sprint("task-", i)
		s.finishes(name, long, name)
	}
	assert.Less(t, len(message(t, s, "first")), 2<<10, "the oldest are cut")
	assert.Equal(t, long, message(t, s, "task-29"))
	assert.Equal(t, []string{"first"}, s.told("first"), "its end is still reported")

	for i := range 300 {
		name := fmt.Sprint("more-", i)
		s.finishes(name, long, name)
	}
	assert.Empty(t, s.kept("first"), "in the end they go")
	assert.NotEmpty(t, s.kept("running"))
	assert.Equal(t, []string{"more-299"}, s.told("more-299"))
}
