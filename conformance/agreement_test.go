package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// All clients read the same from an answer without quirks, streamed or not.
func TestClientsAgree(t *testing.T) {
	t.Parallel()
	const (
		done  = "The parser is written."
		notes = "I have read the notes."
	)
	edit := quirks.Call{ID: "call_a", Type: "function", Name: editFile, Arguments: path}
	test := quirks.Call{ID: "call_b", Type: "function", Name: "run_tests", Arguments: "{}"}
	planned, busy := fakellm.Text(plan).Usage(11, 7), fakellm.Status(503, `{"error":{"message":"busy"}}`)
	for _, script := range []struct {
		name  string
		turns []fakellm.Turn
		want  quirks.Reading
	}{
		{
			"nothing to continue",
			[]fakellm.Turn{fakellm.Call(editFile, path).ID("call_a").Usage(13, 5)},
			quirks.Reading{Calls: []quirks.Call{edit}, Finish: "tool_calls", Usage: tokens(13, 5)},
		},
		{
			"text",
			[]fakellm.Turn{planned, fakellm.Text(done).Usage(13, 5)},
			quirks.Reading{Text: plan + "\n\n" + done, Finish: "stop", Usage: tokens(11, 12)},
		},
		{
			"a call",
			[]fakellm.Turn{planned, fakellm.Call(editFile, path).ID("call_a").Usage(13, 5)},
			quirks.Reading{Text: plan, Calls: []quirks.Call{edit}, Finish: "tool_calls", Usage: tokens(11, 12)},
		},
		{
			"text and two calls",
			[]fakellm.Turn{
				planned,
				fakellm.Text(notes).AndCall(editFile, path).ID("call_a").AndCall("run_tests", "{}").ID("call_b").Usage(13, 5),
			},
			quirks.Reading{
				Text: plan + "\n\n" + notes, Calls: []quirks.Call{edit, test}, Finish: "tool_calls", Usage: tokens(11, 12),
			},
		},
		{
			"a pause",
			[]fakellm.Turn{planned, fakellm.Pause(blocker).Usage(13, 5)},
			quirks.Reading{
				Text: plan + "\n\nTask paused: " + blocker, Finish: "stop", Usage: tokens(11, 12),
			},
		},
		{
			"a pause before another call",
			[]fakellm.Turn{
				planned,
				fakellm.Pause(blocker).AndCall(editFile, path).ID("call_a").Usage(13, 5),
			},
			quirks.Reading{
				Text:  plan + "\n\nTask paused: " + blocker,
				Calls: []quirks.Call{edit}, Finish: "tool_calls", Usage: tokens(11, 12),
			},
		},
		{
			"a continuation that fails",
			[]fakellm.Turn{planned, busy, busy, busy},
			quirks.Reading{Text: plan, Finish: "stop", Usage: tokens(11, 7)},
		},
	} {
		for _, unary := range []bool{false, true} {
			t.Run(script.name+", "+how(unary), func(t *testing.T) {
				t.Parallel()
				for _, client := range []quirks.Client{openaiGo, goOpenAI, langchaingo} {
					server := fakellm.NewServer(t, script.turns...)
					got := client.Read(t.Context(), carryOnce(server.Transport()), unary)
					assert.Equal(t, script.want, got, client.Name)
					assert.Len(t, server.Requests(), len(script.turns), client.Name)
				}
			})
		}
	}
}

func tokens(prompt, completion int64) quirks.Usage {
	return quirks.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}
}

func how(unary bool) string {
	if unary {
		return "unary"
	}
	return "stream"
}
