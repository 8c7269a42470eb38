package scenarios_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
)

// fault is a way to fail after n chunks.
type fault struct {
	name string
	in   func(turn fakellm.Turn, n int) fakellm.Turn
}

var faults = []fault{
	{"cut", fakellm.Turn.CutAfter},
	{"end", fakellm.Turn.EndAfter},
	{"hang", fakellm.Turn.HangAfter},
	{"error", func(turn fakellm.Turn, n int) fakellm.Turn { return turn.ErrorAfter(n, "overloaded") }},
}

// secondTurns are continuations in the shapes in which a failure matters.
var secondTurns = map[string]fakellm.Turn{
	"text":                  fakellm.Text("Work goes on, and on."),
	"finish with text":      fakellm.Text("Work goes on:").With(fakellm.FinishWithText),
	"finish twice":          fakellm.Text("Work goes on:").With(fakellm.FinishTwice, fakellm.NullFinishLast),
	"one chunk":             fakellm.Text("Work goes on:").With(fakellm.OneChunk),
	"reasoning":             fakellm.Text("Work goes on:").Reasoning("So it does."),
	"usage in every chunk":  fakellm.Text("Work goes on:").With(fakellm.UsageEveryChunk),
	"usage on the finish":   fakellm.Text("Work goes on:").With(fakellm.UsageOnFinish),
	"without DONE":          fakellm.Text("Work goes on:").NoDone(),
	"held text":             fakellm.Pieces("Work. Todo_", "list: see: `todo_pause(", "' and more", "."),
	"call":                  fakellm.Call("edit_file", `{"path":"parser.go","mode":"w"}`),
	"call, split name":      fakellm.Call("todo_list", `{"path":"parser.go"}`).With(fakellm.SplitName),
	"text and calls":        fakellm.Text("So. ").AndCall("edit_file", `{"path":"parser.go"}`).AndCall("todo", `{}`),
	"text after calls":      fakellm.Text("So. ").AndCall("edit_file", `{"path":"parser.go"}`).With(fakellm.TextLast),
	"legacy call":           fakellm.Call("edit_file", `{"path":"parser.go"}`).With(fakellm.Legacy),
	"pause":                 fakellm.Pause(scenario.Blocked),
	"pause, split name":     fakellm.Pause(scenario.Blocked).With(fakellm.SplitName),
	"pause and text":        fakellm.Pause(scenario.Blocked).AndText("I am blocked."),
	"pause and call":        fakellm.Pause(scenario.Blocked).AndCall("edit_file", `{"path":"parser.go"}`),
	"call and pause":        fakellm.Call("edit_file", `{"path":"parser.go"}`).AndCall("todo_pause", pauseArgs),
	"interleaved with call": fakellm.Pause(scenario.Blocked).AndCall("edit_file", `{"path":"parser.go"}`).With(fakellm.Interleaved),
}

func TestFailedContinuationKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	for name, turn := range secondTurns {
		whole, err := readBySDK(t, turn)
		require.NoError(t, err)
		for _, f := range faults {
			for n := range len(whole) + 2 {
				t.Run(fmt.Sprintf("%s, %s after %d", name, f.name, n), func(t *testing.T) {
					t.Parallel()
					got := scriptOf(pair(draft.Usage(100, 50), f.in(turn, n), f.in(turn, n), f.in(turn, n)), scenario.AtMost(1)).sameOnTheWire(t, true)
					requireFailedAfter(t, got.answer, whole[:min(n, len(whole))])
				})
			}
		}
	}
}

// requireFailedAfter checks the joined stream of draft and a turn that failed
// after these chunks.
func requireFailedAfter(t *testing.T, got scenario.Answer, sent []chunk) {
	t.Helper()
	ended, called := false, false
	var used *openai.Usage
	for _, c := range sent {
		ended, called = ended || hasFinish(c), called || hasCall(c)
		if c.Usage != nil {
			used = c.Usage
		}
	}
	require.True(t, strings.HasPrefix(got.Text, "Plan."), "text %q", got.Text)
	if !ended && called {
		require.Error(t, got.Err)
		require.NotErrorIs(t, got.Err, io.EOF)
		assert.Empty(t, got.Finish, "half a call must not look complete")
		return
	}
	require.NoError(t, got.Err)
	requireWellFormedEnd(t, got.Chunks)
	want := openai.Usage{PromptTokens: 100, CompletionTokens: 50, TotalTokens: 150}
	if !ended {
		assert.Equal(t, "stop", got.Finish)
		assert.Empty(t, got.Calls)
		assert.Equal(t, reasons.Failed, got.Outcome.Reason)
		require.Error(t, got.Outcome.Err)
		assert.Equal(t, joinTexts("Plan.", textOf(sent)), got.Text)
	} else if used != nil {
		want.CompletionTokens += used.CompletionTokens
		want.TotalTokens += used.TotalTokens - used.PromptTokens
	}
	require.NotNil(t, got.Usage)
	assert.Equal(t, want, *got.Usage)
	for _, call := range got.Calls {
		assert.NotEqual(t, "todo_pause", call.Function.Name)
		assert.True(t, strings.HasSuffix(call.Function.Arguments, "}"), "arguments %q", call.Function.Arguments)
	}
}

// hasCall reports whether the chunk shows a part of a call to a caller's tool.
func hasCall(c chunk) bool {
	for _, choice := range c.Choices {
		if choice.Delta.FunctionCall != nil {
			return true
		}
		for _, call := range choice.Delta.ToolCalls {
			if name := call.Function.Name; name != "" && !strings.HasPrefix("todo_pause", name) && name != "pause" {
				return true
			}
		}
	}
	return false
}

func TestFailureLateInAChainKeepsAllTurnsBefore(t *testing.T) {
	t.Parallel()
	third := fakellm.Text("Three and four.")
	for _, f := range faults {
		for n := range 6 { // role, three words and what comes before the finish
			t.Run(fmt.Sprintf("%s after %d", f.name, n), func(t *testing.T) {
				t.Parallel()
				scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
					got := joinOn(t.Context(), m, []fakellm.Turn{
						draft.Usage(100, 50), fakellm.Text("Two:").Usage(10, 5).Finish("end_turn"), f.in(third.With(fakellm.NoFinish), n),
					})
					require.NoError(t, got.Err)
					requireWellFormedEnd(t, got.Chunks)
					assert.True(t, strings.HasPrefix(got.Text, "Plan.\n\nTwo:"), got.Text)
					assert.Equal(t, "end_turn", got.Finish)
					require.NotNil(t, got.Usage)
					assert.Equal(t, 100, got.Usage.PromptTokens)
					assert.Equal(t, 55, got.Usage.CompletionTokens)
				})
			})
		}
	}
}

func TestContinuationThatCannotBeOpenedCostsNothing(t *testing.T) {
	t.Parallel()
	want, err := readBySDK(t, draft)
	require.NoError(t, err)
	for name, turn := range map[string]fakellm.Turn{
		"refused":              fakellm.Status(400, `{"error":{"message":"no such tool"}}`),
		"overloaded":           fakellm.Status(503, `{"error":{"message":"overloaded"}}`),
		"refused without JSON": fakellm.Status(502, "<html>"),
		"cut":                  done().Cut(),
		"hangs":                done().Hang(),
		"no stream":            fakellm.Status(200, `{"choices":[]}`),
		"an error as success":  fakellm.Status(200, `{"error":{"message":"overloaded"}}`),
		"nothing at all":       fakellm.Raw(),
		"only DONE":            fakellm.Chunks(),
		"no JSON":              fakellm.Chunks("ping"),
		"an error first":       done().ErrorAfter(0, "overloaded"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
				got := joinOn(t.Context(), m, pair(draft, turn))
				require.NoError(t, got.Err)
				assert.Equal(t, want, got.Chunks)
				assert.Equal(t, reasons.Failed, got.Outcome.Reason)
				assert.Error(t, got.Outcome.Err)
			})
		})
	}
}

func TestFirstTurnThatFailsIsAsTheSDKGivesIt(t *testing.T) {
	t.Parallel()
	for _, turn := range []fakellm.Turn{
		draft, draft.With(fakellm.FinishWithText), draft.With(fakellm.OneChunk), draft.With(fakellm.UsageEveryChunk),
	} {
		for _, f := range faults {
			if f.name == "hang" {
				continue // the SDK's own client would wait forever
			}
			for n := range 7 {
				t.Run(fmt.Sprintf("%s after %d", f.name, n), func(t *testing.T) {
					t.Parallel()
					failing := f.in(turn, n)
					want, wantErr := readBySDK(t, failing)
					scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
						got := joinOn(t.Context(), m, pair(failing, fakellm.Call("edit_file", `{}`)))
						if wantErr == nil && len(want) > 0 && slices.ContainsFunc(want, hasFinish) {
							require.NoError(t, got.Err)
							assert.Equal(t, "tool_calls", got.Finish)
							return
						}
						requireRelayed(t, want, got.Chunks)
						assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(got.Err))
					})
				})
			}
		}
	}
}
