package anthropic_test

import (
	"context"
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/conformance/anthropic"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func TestContinuedWhenTheListIsOpen(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("Next, I will write it.")),
			uses(thought("How?"), text("Here it is."), use("edit_file", object{"path": "parser.go"})))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "Next, I will write it.\n\nHere it is.", textOf(message))
		assert.Equal(t, []string{"edit_file"}, callsOf(message))
		assert.Equal(t, "msg_1", message.ID)
		assert.Equal(t, sdk.StopReasonToolUse, message.StopReason)
		assert.EqualValues(t, 10, message.Usage.InputTokens, "of the first turn")
		assert.EqualValues(t, 3, message.Usage.CacheReadInputTokens)
		assert.EqualValues(t, 10, message.Usage.OutputTokens)
		last := message.Content[len(message.Content)-1]
		assert.JSONEq(t, `{"path":"parser.go"}`, string(last.Input))
		assert.NotEmpty(t, message.ToParam().Content)
		for _, block := range message.ToParam().Content {
			if block.OfText != nil {
				assert.NotEmpty(t, block.OfText.Text, "the provider refuses blocks without text")
			}
		}
	})
}

func TestRequestOfAContinuation(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), says(text("Two.")), uses(use("edit_file", object{})))
		p := params()
		before := toJSON(p)

		_, err := ask(t, provider.client().Messages, p)

		require.NoError(t, err)
		assert.Equal(t, before, toJSON(p), "the caller's request is not changed, so that no prompt gets into the history")
		requests := provider.requests()
		require.Len(t, requests, 3)
		first, third := requests[0], requests[2]
		assert.Equal(t, at(first, "messages", 0), at(third, "messages", 0))
		said, asked := at(third, "messages", 1), at(third, "messages", 2)
		assert.Equal(t, object{"role": "assistant", "content": []any{text("One.\n\nTwo.")}}, said)
		assert.Equal(t, "user", at(asked, "role"))
		assert.Contains(t, toJSON(asked), "Write the parser")
		assert.Contains(t, toJSON(asked), "ATTEMPT #2")
		assert.Equal(t, at(first, "tools", 0), at(third, "tools", 0))
		assert.Len(t, third["tools"], 2)
		assert.Equal(t, "todo_pause", at(third, "tools", 1, "name"))
		assert.Equal(t, "object", at(third, "tools", 1, "input_schema", "type"))
		assert.NotNil(t, at(third, "tools", 1, "input_schema", "properties", "reason"))
		for _, field := range []string{"model", "max_tokens", "stream"} {
			assert.Equal(t, first[field], third[field])
		}
	})
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]turn{
		"a tool call":       uses(text("Here it is."), use("edit_file", object{"path": "parser.go"})),
		"too long":          {blocks: []object{text("It is lo")}, stop: "max_tokens"},
		"a refusal":         {blocks: []object{text("I won't.")}, stop: "refusal"},
		"the provider's":    {blocks: []object{{"type": "server_tool_use", "id": "s", "name": "web_search", "input": object{}}}, stop: "pause_turn"},
		"a todo_pause":      uses(pause(blocked)),
		"a stream that end": {blocks: []object{text("Half an ans")}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrapped, bare := newProvider(t, answer), newProvider(t, answer)
			client := bare.bare()

			assert.Equal(t, drain(t, &client.Messages), drain(t, wrapped.client().Messages), "the very same events")
			assert.Equal(t, bare.requests(), wrapped.requests(), "the very same request")
			if answer.cut {
				return
			}
			wrapped, bare = newProvider(t, answer), newProvider(t, answer)
			client = bare.bare()
			want, err := client.Messages.New(t.Context(), params())
			require.NoError(t, err)
			got, err := wrapped.client().Messages.New(t.Context(), params())
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, want.RawJSON(), got.RawJSON())
		})
	}
}

// drain returns the events of a stream.
func drain(t *testing.T, messages service) (events []sdk.MessageStreamEventUnion) {
	t.Helper()
	stream := messages.NewStreaming(t.Context(), params())
	defer stream.Close()
	for stream.Next() {
		events = append(events, stream.Current())
	}
	require.NoError(t, stream.Err())
	return events
}

func TestPauseIsLeftOutAndTheNoticeShown(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), uses(text("Two."), pause(blocked)))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "One.\n\nTwo.\n\nTask paused: "+blocked, textOf(message))
		assert.Empty(t, callsOf(message))
		assert.Equal(t, sdk.StopReasonEndTurn, message.StopReason)
		assert.NotContains(t, message.RawJSON(), "todo_pause")
	})
}

func TestPauseBesideAnotherCall(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), uses(pause(blocked), use("edit_file", object{"path": "a.go"})))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "One.\n\nTask paused: "+blocked, textOf(message))
		assert.Equal(t, []string{"edit_file"}, callsOf(message))
		assert.Equal(t, sdk.StopReasonToolUse, message.StopReason)
	})
}

func TestPauseThatIsPrinted(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), says(text("todo_pause('"+blocked+"')")))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "One.\n\nTask paused: "+blocked, textOf(message))
	})
}

func TestTextThatLookedLikeAPauseIsShown(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), uses(text("I todo_pa"), use("edit_file", object{})))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "One.\n\nI todo_pa", textOf(message))
		assert.Equal(t, []string{"edit_file"}, callsOf(message))
	})
}

// Calls of tools that the provider runs do not count as the program's.
func TestToolsOfTheProviderArePassedOn(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		search := object{"type": "server_tool_use", "id": "s", "name": "web_search", "input": object{"query": "parsers"}}
		provider := newProvider(t, says(text("One.")), says(search, text("Two.")), uses(use("edit_file", object{})))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Len(t, provider.requests(), 3)
		assert.Equal(t, "One.\n\nTwo.", textOf(message))
		assert.Equal(t, []string{"edit_file"}, callsOf(message))
	})
}

func TestRejectedPauseIsAnswered(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), uses(pause("stuck")), uses(use("edit_file", object{})))

		message, err := ask(t, provider.client().Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "One.", textOf(message))
		assert.Equal(t, []string{"edit_file"}, callsOf(message))
		third := provider.requests()[2]
		assert.Equal(t, []any{text("One."), pause("stuck")}, at(third, "messages", 1, "content"))
		result := at(third, "messages", 2, "content", 0)
		assert.Equal(t, "tool_result", at(result, "type"))
		assert.Equal(t, "toolu_todo_pause", at(result, "tool_use_id"))
		assert.Contains(t, toJSON(result), "Invalid pause reason")
	})
}

// With thinking enabled, a call has to follow the thinking that led to it, which carryon does not keep.
func TestRejectedPauseOfAThinkingModel(t *testing.T) {
	t.Parallel()
	provider := newProvider(t, says(text("One.")), uses(pause("stuck")), uses(use("edit_file", object{})))
	p := params()
	p.Thinking = sdk.ThinkingConfigParamOfEnabled(1024)

	_, err := provider.client().Messages.New(t.Context(), p)

	require.NoError(t, err)
	third := provider.requests()[2]
	assert.Equal(t, []any{text("One.")}, at(third, "messages", 1, "content"))
	asked := at(third, "messages", 2, "content", 0)
	assert.Equal(t, "text", at(asked, "type"))
	assert.Contains(t, at(asked, "text"), "Invalid pause reason")
}

func TestPauseToolInEveryCall(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, uses(text("One."), pause(blocked)))

		message, err := ask(t, provider.client(middleware.WithPauseTool(middleware.PauseToolAlways)).Messages, params())

		require.NoError(t, err)
		assert.Len(t, provider.requests()[0]["tools"], 2)
		assert.Equal(t, "One.\n\nTask paused: "+blocked, textOf(message))
		assert.Equal(t, sdk.StopReasonEndTurn, message.StopReason, "in the SDK's own words")
	})
}

func TestFailingContinuationCostsNothing(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), turn{status: http.StatusServiceUnavailable})
		failed := make(chan error, 1)
		observer := middleware.WithObserver(middleware.Observer{
			Failed: func(_ context.Context, e middleware.Failed) { failed <- e.Err },
		})

		message, err := ask(t, provider.client(observer).Messages, params())

		require.NoError(t, err)
		assert.Equal(t, "One.", textOf(message))
		assert.Equal(t, sdk.StopReasonEndTurn, message.StopReason)
		assert.EqualValues(t, 10, message.Usage.InputTokens)
		var status *adapter.StatusError
		require.ErrorAs(t, <-failed, &status)
		assert.Equal(t, http.StatusServiceUnavailable, status.Status)
	})
}

func TestContinuationThatIsCut(t *testing.T) {
	t.Parallel()
	provider := newProvider(t, says(text("One.")), turn{blocks: []object{thought("So."), text("Two.")}, cut: true})

	message, err := askStream(t, provider.client().Messages, params())

	require.NoError(t, err)
	assert.Equal(t, "One.\n\nTwo.", textOf(message))
	assert.Equal(t, sdk.StopReasonEndTurn, message.StopReason)
}

func TestErrorOfTheCallersOwnRequest(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, turn{status: http.StatusServiceUnavailable})

		_, err := ask(t, provider.client().Messages, params())

		var refused *sdk.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	})
}

func TestCloseInTheMiddle(t *testing.T) {
	t.Parallel()
	provider := newProvider(t, says(text("One.")), says(text("Two.")))
	stream := provider.client().Messages.NewStreaming(t.Context(), params())
	require.True(t, stream.Next())

	require.NoError(t, stream.Close())

	for stream.Next() {
		continue
	}
	assert.Len(t, provider.requests(), 1)
}

func TestRequestsOutOfScope(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		for name, change := range map[string]func(*sdk.MessageNewParams){
			"no tools":        func(p *sdk.MessageNewParams) { p.Tools = nil },
			"no tool allowed": func(p *sdk.MessageNewParams) { p.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{} },
			"some tool":       func(p *sdk.MessageNewParams) { p.ToolChoice.OfAny = &sdk.ToolChoiceAnyParam{} },
			"a certain tool":  func(p *sdk.MessageNewParams) { p.ToolChoice = sdk.ToolChoiceParamOfTool("edit_file") },
			"JSON":            func(p *sdk.MessageNewParams) { p.OutputConfig.Format.Schema = object{"type": "object"} },
		} {
			p := params()
			change(&p)
			provider := newProvider(t, says(text("One.")))
			message, err := ask(t, provider.client().Messages, p)
			require.NoError(t, err, name)
			assert.Equal(t, "One.", textOf(message), name)
			assert.Len(t, provider.requests(), 1, name)
		}
	})
}

func TestOwnPause(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		provider := newProvider(t, says(text("One.")), uses(pause(blocked)))
		p := params()
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{Name: "todo_pause"}})

		message, err := ask(t, provider.client().Messages, p)

		require.NoError(t, err)
		assert.Equal(t, []string{"todo_pause"}, callsOf(message))
		assert.Len(t, provider.requests()[1]["tools"], 2)
	})
}

// conversation has a list that was written twice, the second time without success, and a call after each.
func conversation(t *testing.T) []sdk.MessageParam {
	t.Helper()
	list := func(id, content string) sdk.ContentBlockParamUnion {
		return sdk.NewToolUseBlock(id, object{"todos": []object{{"id": "1", "content": content, "status": "pending"}}}, "todo_write")
	}
	return []sdk.MessageParam{
		sdk.NewUserMessage(sdk.NewTextBlock("Write the parser.")),
		sdk.NewAssistantMessage(list("call-1", "From the history")),
		sdk.NewUserMessage(sdk.NewToolResultBlock("call-1", "1 todo", false)),
		sdk.NewAssistantMessage(sdk.NewTextBlock("Again."), list("call-2", "Never came into force")),
		sdk.NewUserMessage(sdk.NewToolResultBlock("call-2", "not now", true)),
	}
}

func TestListOfTheConversation(t *testing.T) {
	t.Parallel()
	provider := newProvider(t, says(text("One.")), uses(use("edit_file", object{})))
	p := params()
	p.Messages = conversation(t)
	client := anthropic.Wrap(provider.bare(), middleware.New(todo.FromConversation(), unhurried))

	_, err := client.Messages.New(t.Context(), p)

	require.NoError(t, err)
	require.Len(t, provider.requests(), 2)
	assert.Contains(t, toJSON(at(provider.requests()[1], "messages", 6)), "From the history")
}

// Attempts are counted within a tool loop, which is identified by the user's last message and the first call after it.
func TestAttemptsOfAToolLoop(t *testing.T) {
	t.Parallel()
	provider := newProvider(t, says(text("One.")), says(text("Two.")), says(text("Three.")))
	once := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1})
	client := provider.client(once)
	p := params()
	p.Messages = conversation(t)
	_, err := client.Messages.New(t.Context(), p)
	require.NoError(t, err)

	p.Messages = append(p.Messages, sdk.NewAssistantMessage(sdk.NewTextBlock("Two."), sdk.NewToolUseBlock("call-3", object{}, "edit_file")),
		sdk.NewUserMessage(sdk.NewToolResultBlock("call-3", "done", false)))
	_, err = client.Messages.New(t.Context(), p)

	require.NoError(t, err)
	assert.Len(t, provider.requests(), 3, "the second call of the loop has no attempt left")
}

func TestNotesOfBackgroundTasks(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, ask asker) {
		tasks := asynctask.NewManager(asynctask.WithOneConversation())
		ticket, err := tasks.Begin(t.Context(), "task-1", "run the tests")
		require.NoError(t, err)
		require.NoError(t, tasks.Finish(t.Context(), ticket, asynctask.Message("All green.")))
		provider := newProvider(t, uses(use("edit_file", object{})))
		p := params()
		before := toJSON(p)

		_, err = ask(t, provider.client(middleware.WithTasks(tasks)).Messages, p)

		require.NoError(t, err)
		assert.Equal(t, before, toJSON(p))
		content := at(provider.requests()[0], "messages", 0, "content")
		require.Len(t, content, 2)
		assert.Contains(t, at(content, 1, "text"), "All green.")
	})
}

func TestStrictTools(t *testing.T) {
	t.Parallel()
	provider := newProvider(t, says(text("One.")), uses(use("edit_file", object{})))
	p := params()
	p.Tools[0].OfTool.Strict = sdk.Bool(true)

	_, err := provider.client().Messages.New(t.Context(), p)

	require.NoError(t, err)
	assert.Equal(t, true, at(provider.requests()[1], "tools", 1, "strict"))
}

func TestUsersContextEndsTheStream(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	provider := newProvider(t, says(text("One.")), says(text("Two.")))
	client := provider.client(middleware.WithObserver(middleware.Observer{
		ContinuationStarted: func(context.Context, middleware.ContinuationStarted) { cancel() },
	}))
	stream := client.Messages.NewStreaming(ctx, params())
	defer stream.Close()

	for stream.Next() {
		continue
	}

	require.ErrorIs(t, stream.Err(), context.Canceled)
}

func TestNilMiddleware(t *testing.T) {
	t.Parallel()
	assert.PanicsWithValue(t, "carryon/conformance/anthropic: nil middleware", func() { anthropic.Wrap(sdk.Client{}, nil) })
}
