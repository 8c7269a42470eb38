package middleware_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A program may acknowledge deliveries of its own, which stand nowhere then.
func TestNoteWithoutAPlaceGoesToTheLastMessage(t *testing.T) {
	t.Parallel()
	tasks := asynctask.NewManager()
	ctx := inSession(t, "s")
	_, err := tasks.Begin(ctx, "job-7", "transcode")
	require.NoError(t, err)
	require.NoError(t, tasks.Finish("job-7", nil))
	tasks.Deliver("s", asynctask.ReminderOnly).Ack(false)

	texts := []string{"You are an agent.", "Fix the build."}
	carrier := func(i int) (string, bool) { return texts[i], i > 0 }
	mw := middleware.New(todo.Static(), middleware.WithTasks(tasks))
	call := mw.Begin(ctx, middleware.Request{Tools: 1, Users: 1, User: texts[1], Messages: 2, Carrier: carrier})
	notes := call.Notes()
	require.NotEmpty(t, notes)
	for _, note := range notes {
		assert.Equal(t, 1, note.Message)
	}
	assert.Contains(t, notes[0].Text, "job-7")
	_, err = middleware.Unary(call, &answers{ledger: newLedger()},
		func(context.Context, *middleware.Continuation) (sdkAnswer, error) { return says("Done."), nil })
	require.NoError(t, err)
	assert.Nil(t, tasks.Deliver("s", asynctask.ReminderAndSummary), "it was told")
}
