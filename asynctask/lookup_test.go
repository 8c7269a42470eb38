package asynctask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
)

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
	s.begins("", "3")
	for _, session := range []string{"", "a", "b"} {
		assert.Equal(t, []string{"1", "2"}, s.told(session))
		assert.Equal(t, []string{"1", "2", "3"}, s.kept(session))
		n, _ := s.Pending(session, -1)
		assert.Equal(t, 1, n)
		d := s.Deliver(session, delivery.Options{})
		assert.Equal(t, []string{"1", "2"}, d.Tasks)
		s.settle(d, delivery.Unread)
	}
}

func TestWithoutASessionNothingIsDelivered(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("", "1")
	s.begins("", "2")
	assert.Nil(t, s.Remind(""))
	assert.Nil(t, s.Deliver("", delivery.Options{}))
	assert.Empty(t, s.Summary(""))
	assert.Empty(t, s.Tasks(""))
	result, ok, err := s.Handle(in(t, ""), asynctask.CheckTool().Name, "{}")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "No async tasks.", result)
	task, ok := s.Get("1")
	assert.True(t, ok, "by its id it can be looked up")
	assert.Equal(t, asynctask.Completed, task.State)
}
