package transport_test

import (
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/reasons"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// An open list, in both modes.
func openList(mode continuation.ApprovalMode) *middleware.Middleware {
	return middleware.New(todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Pending}),
		wiretest.Unhurried, middleware.WithApprovalMode(mode))
}

// A limit that a gateway writes into the text of an answer is bought twice, and shown once. The answer is byte for byte the one
// that a refused continuation leaves.
func TestTheSameAnswerIsShownOnce(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]string{
		"the same":   "I will write the scanner now.",
		"other form": "**I WILL write** the scanner, now!",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEachProtocol(t, func(t *testing.T, path, body string) {
				for _, mode := range []continuation.ApprovalMode{continuation.ApprovalDefault, continuation.ApprovalYOLO} {
					first := fakellm.Text("I will write the scanner now.")
					want := ask(t, t.Context(), fakellm.NewServer(t, first, refused()), openList(mode), path, body)
					server := fakellm.NewServer(t, first, fakellm.Text(again), fakellm.Text(again))
					ctx, outcomes := middleware.Capture(t.Context())
					assert.Equal(t, want, ask(t, ctx, server, openList(mode), path, body))
					outcome := outcomes.Last()
					assert.Equal(t, reasons.MaxAttempts, outcome.Reason)
					assert.Equal(t, 2, outcome.Attempts)
					assert.Len(t, outcome.Usage, 3)
					assert.Contains(t, outcome.Explanation(), "the same answer again")
					sent := server.Requests()
					require.Len(t, sent, 3)
					assert.Equal(t, 1, strings.Count(string(sent[2].Body), "write the scanner now"), "nor is it sent twice")
					assert.Contains(t, string(sent[2].Body), "same answer as before")
				}
			})
		})
	}
}

// What follows a repeated answer is joined to the first. A text that only begins like it, and one beside a call, are shown. What
// was held when a continuation broke off had been shown before.
func TestOnlyARepeatedAnswerIsLeftOut(t *testing.T) {
	t.Parallel()
	const first = "I will write the scanner now."
	for name, scene := range map[string]struct {
		turns []fakellm.Turn
		shown int // how often the answer has the word
	}{
		"the same, then a call": {[]fakellm.Turn{fakellm.Text(first), wiretest.Edit()}, 1},
		"the same and a call":   {[]fakellm.Turn{wiretest.Edit().AndText(first)}, 2},
		"cut within the same":   {[]fakellm.Turn{fakellm.Text(first).CutAfter(2), wiretest.Edit()}, 1},
		"begins alike":          {[]fakellm.Turn{fakellm.Text(first + " And the tests."), wiretest.Edit()}, 2},
		"ends too soon":         {[]fakellm.Turn{fakellm.Text("I will write the scanner"), wiretest.Edit()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEachProtocol(t, func(t *testing.T, path, body string) {
				ctx, outcomes := middleware.Capture(t.Context())
				server := fakellm.NewServer(t, append([]fakellm.Turn{fakellm.Pieces(first)}, scene.turns...)...)
				got := ask(t, ctx, server, openList(continuation.ApprovalYOLO), path, body)
				assert.Equal(t, reasons.ToolCalls, outcomes.Last().Reason)
				assert.Contains(t, got, "edit_file")
				if !strings.Contains(path, "responses") {
					assert.Equal(t, scene.shown, strings.Count(got, "scanner"), "%s", got)
				}
			})
		})
	}
}

// A pause behind a repeated answer is a pause, and its turn is shown.
func TestPauseBehindARepeatedAnswer(t *testing.T) {
	t.Parallel()
	const first = "I will write the scanner now."
	inEachProtocol(t, func(t *testing.T, path, body string) {
		ctx, outcomes := middleware.Capture(t.Context())
		server := fakellm.NewServer(t, fakellm.Text(first), fakellm.Pause(wiretest.Blocked).AndText(first))
		got := ask(t, ctx, server, openList(continuation.ApprovalYOLO), path, body)
		assert.Equal(t, reasons.Paused, outcomes.Last().Reason)
		assert.NotContains(t, got, "todo_pause")
		assert.Contains(t, got, wiretest.Blocked)
		assert.Contains(t, got, "scanner")
	})
}
