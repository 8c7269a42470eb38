package middleware_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A program may settle deliveries itself. Their notes then have no place.
func TestNoteWithoutAPlaceGoesToTheLastMessage(t *testing.T) {
	t.Parallel()
	tasks := asynctask.NewManager()
	ctx := inSession(t, "s")
	ticket, err := tasks.Begin(ctx, "job-7", "transcode")
	require.NoError(t, err)
	require.NoError(t, tasks.Finish(ctx, ticket, nil))
	d, err := tasks.Deliver(ctx, "s", asynctask.DeliverOptions{NoSummary: true})
	require.NoError(t, err)
	require.NoError(t, tasks.Settle(ctx, d, asynctask.Repeat))

	texts := []string{"You are an agent.", "Fix the build."}
	attachable := func(i int) (string, bool) { return texts[i], i > 0 }
	mw := middleware.New(todo.Static(), middleware.WithTasks(tasks))
	call := begin(ctx, mw, adapter.Request{Tools: 1, Users: 1, User: texts[1], Messages: 2, Attachable: attachable})
	attached := call.Additions().Attachments
	require.NotEmpty(t, attached)
	for _, attachment := range attached {
		assert.Equal(t, 1, attachment.Message)
	}
	assert.Contains(t, attached[0].Text, "job-7")
	_, err = middleware.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(context.Context, *adapter.Continuation) (sdkAnswer, error) { return says("Done."), nil })
	require.NoError(t, err)
	d, err = tasks.Deliver(ctx, "s", asynctask.DeliverOptions{})
	require.NoError(t, err)
	assert.Nil(t, d, "the reminder was delivered")
}
