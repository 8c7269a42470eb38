package asynctask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

func TestFindByIDAndPrefix(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	s.begins("a", "build", "build-docs", "test")
	s.begins("b", "tidy", "terse")
	s.begins("", "lost")
	require.NoError(t, s.Finish("build-docs", nil))

	for prefix, want := range map[string]string{
		"build": "build", "build-": "build-docs", "build-docs": "build-docs", "t": "test", "te": "test",
	} {
		task, err := s.Find("a", prefix)
		require.NoError(t, err, prefix)
		assert.Equal(t, want, task.ID)
	}
	for _, prefix := range []string{"", "x", "build-docs-", "tidy", "lost"} {
		_, err := s.Find("a", prefix)
		require.ErrorIs(t, err, asynctask.ErrUnknown, prefix)
	}
	_, err := s.Find("", "lost")
	require.ErrorIs(t, err, asynctask.ErrUnknown, "without a session nothing is found")

	_, err = s.Find("a", "b")
	require.EqualError(t, err, `asynctask: 2 tasks begin with "b"`)
	var ambiguous *asynctask.AmbiguousError
	require.ErrorAs(t, err, &ambiguous)
	assert.Equal(t, "b", ambiguous.Prefix)
	require.Len(t, ambiguous.Candidates, 2)
	assert.Equal(t, "build", ambiguous.Candidates[0].ID)
	assert.Equal(t, asynctask.Completed, ambiguous.Candidates[1].State)
}

func TestTaskIsACopy(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	vars := map[string]string{"k": "v"}
	s.begins("a", "id")
	require.NoError(t, s.Finish("id", &asynctask.Output{TerminateReason: "DONE", EmittedVars: vars}))
	task, _ := s.Get("id")
	task.Output.EmittedVars["k"] = "changed"
	task.Output.TerminateReason = "changed"
	again, _ := s.Get("id")
	assert.Equal(t, &asynctask.Output{TerminateReason: "DONE", EmittedVars: vars}, again.Output)
}

func TestOneConversation(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithOneConversation())
	s.ends("", "1")
	s.ends("a", "2")
	_, err := s.Reserve(in(t, ""))
	require.NoError(t, err)
	for _, session := range []string{"", "a", "b"} {
		assert.Equal(t, []string{"1", "2"}, s.told(session))
		assert.Equal(t, []string{"1", "2"}, s.kept(session))
		n, _ := s.Pending(session, -1)
		assert.Equal(t, 1, n)
		d := s.Deliver(session, asynctask.DeliverOptions{})
		assert.Equal(t, []string{"1", "2"}, d.Tasks)
		s.settle(d, asynctask.Unread)
	}
}

func TestWithoutASessionNothingIsDelivered(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("", "1")
	s.begins("", "2")
	assert.Nil(t, s.Remind(""))
	assert.Nil(t, s.Deliver("", asynctask.DeliverOptions{}))
	assert.Empty(t, s.Summary(""))
	assert.Empty(t, s.Tasks(""))
	result, ok, err := s.Handle(in(t, ""), asynctask.CheckToolName, "{}")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "No async tasks.", result)
	task, ok := s.Get("1")
	assert.True(t, ok, "by its id it can be looked up")
	assert.Equal(t, asynctask.Completed, task.State)
}
