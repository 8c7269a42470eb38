package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// A note about a task that has ended is added to the last message of the user,
// after any tool results. carryon adds no note if there may be signed thinking.
func TestNotesOfBackgroundTasks(t *testing.T) {
	t.Parallel()
	const results = `{"role":"user","content":"Begin."},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"edit_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}`
	for name, test := range map[string]struct {
		ask
		noted bool
	}{
		"a text":    {ask{}, true},
		"a result":  {ask{messages: results}, true},
		"thinking":  {ask{messages: results, members: `"thinking":{"type":"adaptive"},`}, false},
		"unasked":   {ask{model: "claude-opus-5-5"}, false},
		"ruled out": {ask{model: "claude-opus-5-5", members: `"thinking":{"type":"disabled"},`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks := asynctask.NewManager()
			ctx := continuation.WithSession(t.Context(), "s")
			ticket, err := tasks.Begin(ctx, "job-7", "transcode")
			require.NoError(t, err)
			require.NoError(t, tasks.Finish(ctx, ticket, nil))
			test.options, test.turns = []middleware.Option{middleware.WithTasks(tasks)}, []fakellm.Turn{wiretest.Edit()}
			got := test.send(t, true)
			require.NoError(t, got.err)
			require.Len(t, got.requests, 1)
			assert.Equal(t, test.noted, strings.Contains(got.requests[0].Last().Content, "job-7"))
			if !test.noted {
				assert.Equal(t, test.body(true), string(got.requests[0].Body))
			}
		})
	}
}
