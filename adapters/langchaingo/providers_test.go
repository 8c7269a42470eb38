package langchaingo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/huggingface"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// Answers in anthropic's format, whole and streamed.

func block(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func use(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

func claude(stop string, blocks ...string) string {
	return fmt.Sprintf(`{"content":[%s],"stop_reason":%q,"usage":{"input_tokens":10,"output_tokens":5}}`, strings.Join(blocks, ","), stop)
}

// claudeStream is a stream of texts and, if there is a name, of a call.
func claudeStream(stop string, texts []string, name, input string) string {
	events := []string{
		`{"type":"message_start","message":{"id":"m","role":"assistant","usage":{"input_tokens":10}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}`,
	}
	for _, text := range texts {
		events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text))
	}
	events = append(events, `{"type":"content_block_stop","index":0}`)
	if name != "" {
		events = append(events,
			fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":%q}}`, name),
			fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":%q}}`, input),
			`{"type":"content_block_stop","index":1}`)
	}
	events = append(events,
		fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":5}}`, stop),
		`{"type":"message_stop"}`)
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

// messagesOf returns the messages of a request, role and text.
func messagesOf(request object) (list []string) {
	for _, message := range request.list("messages") {
		line := []string{message.text("role") + ":"}
		if text := message.text("content"); text != "" {
			line = append(line, text)
		}
		for _, part := range message.list("content") {
			for _, key := range []string{"type", "text", "name", "content"} {
				if text := part.text(key); text != "" {
					line = append(line, text)
				}
			}
		}
		list = append(list, strings.Join(line, " "))
	}
	return list
}

func TestAnthropicIsContinued(t *testing.T) {
	t.Parallel()
	server := newScript(t, claude("end_turn", block("Did one:")), claude("tool_use",
		block("Stuck."), use("p", "todo_pause", reasonJSON(blocked)), use("c", "search", `{"q":1}`)))
	model := carrylangchain.Wrap(newAnthropic(t, server), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	require.Len(t, answer.Choices, 1)
	choice := answer.Choices[0]
	assert.Equal(t, "Did one:\n\nStuck.\n\nTask paused: "+blocked, choice.Content)
	assert.Equal(t, []string{"search"}, names(choice))
	assert.Nil(t, choice.FuncCall, "a field that the provider does not use")
	assert.Equal(t, "tool_use", choice.StopReason)
	assert.Equal(t, 10, choice.GenerationInfo["InputTokens"])
	requests := server.requests()
	require.Len(t, requests, 2)
	assert.Len(t, requests[1]["tools"], 2)
	sent := messagesOf(requests[1])
	require.Len(t, sent, 3)
	assert.Equal(t, "assistant: text Did one:", sent[1])
}

func TestAnthropicIsToldOfARejectedPause(t *testing.T) {
	t.Parallel()
	server := newScript(t, claude("end_turn", block("Did one:")),
		claude("tool_use", block("Well:"), use("p", "todo_pause", `{"reason":"stuck"}`)),
		claude("end_turn", block("Did two:")))
	mw := middleware.New(twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	answer, err := carrylangchain.Wrap(newAnthropic(t, server), mw).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nWell:\n\nDid two:", answer.Choices[0].Content)
	requests := server.requests()
	require.Len(t, requests, 3)
	sent := messagesOf(requests[2])
	require.Len(t, sent, 4)
	// The client sends the first part of an AI message alone.
	assert.Equal(t, "assistant: text Did one:\n\nWell:", sent[1])
	assert.Equal(t, "assistant: tool_use todo_pause", sent[2])
	assert.Contains(t, sent[3], "user: tool_result Invalid pause reason: ")
}

func TestOpenAIIsToldOfARejectedPause(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pause("stuck").ID("p").AndText("Well:"), fakellm.Text("Did two:")),
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	assert.Equal(t, "Did one:\n\nWell:\n\nDid two:", s.requireAsk(t).Content)
	messages := s.requests()[2].Messages
	require.Len(t, messages, 4)
	assert.Equal(t, fakellm.Message{
		Role: "assistant", Content: "Did one:\n\nWell:",
		ToolCalls: []fakellm.ToolCall{{ID: "p", Name: "todo_pause", Arguments: reasonJSON("stuck")}},
	}, messages[2])
	assert.Equal(t, "tool", messages[3].Role)
	assert.Equal(t, "p", messages[3].ToolCallID)
	assert.Contains(t, messages[3].Content, "Invalid pause reason: ")
}

func TestAPauseWithoutATextIsAnsweredWithoutOne(t *testing.T) {
	t.Parallel()
	mw := middleware.New(twoTodos, unhurried, middleware.WithPauseTool(middleware.PauseToolAlways))
	server := newScript(t, claude("tool_use", use("p", "todo_pause", `{"reason":"stuck"}`)), claude("end_turn", block("Did two:")))
	answer, err := carrylangchain.Wrap(newAnthropic(t, server), mw).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did two:", answer.Choices[0].Content)
	sent := messagesOf(server.requests()[1])
	require.Len(t, sent, 3)
	assert.Equal(t, "assistant: tool_use todo_pause", sent[1])
	assert.Contains(t, sent[2], "user: tool_result Invalid pause reason: ")

	paused := says("", "tool_calls")
	paused.Choices[0].ToolCalls = []llms.ToolCall{toolCall("p", "todo_pause", reasonJSON("stuck"))}
	var last []llms.MessageContent
	model := spoken(func(_ context.Context, messages []llms.MessageContent, _ *llms.CallOptions) (*llms.ContentResponse, error) {
		if last == nil {
			last = messages
			return paused, nil
		}
		last = messages
		return says("Did two:", "stop"), nil
	})
	_, err = carrylangchain.Wrap(model, mw, carrylangchain.WithSinglePrompt()).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	folded, _ := last[0].Parts[0].(llms.TextContent)
	assert.True(t, strings.HasPrefix(folded.Text, "You write code.\n\nInvalid pause reason: "), folded.Text)
}

func TestAnthropicStreams(t *testing.T) {
	t.Parallel()
	server := newScript(t, claudeStream("end_turn", []string{"Did ", "one:"}, "", ""),
		claudeStream("tool_use", []string{"Stuck", "."}, "todo_pause", reasonJSON(blocked)))
	model := carrylangchain.Wrap(newAnthropic(t, server), middleware.New(twoTodos, unhurried))
	r, why := new(recording), new(thoughts)
	answer, err := model.GenerateContent(t.Context(), question(), withTools("search"), r.option(), why.option())
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nStuck.\n\nTask paused: "+blocked, answer.Choices[0].Content)
	assert.Equal(t, []string{"Did ", "one:", "\n\nStuck", ".", "\n\nTask paused: " + blocked}, r.chunks)
	assert.Empty(t, why.chunks, "the provider gives it thoughts alone")
	assert.Empty(t, answer.Choices[0].ToolCalls)
	assert.Equal(t, "end_turn", answer.Choices[0].StopReason)
}

// llama is an answer in ollama's format, streamed in the pieces given.
func llama(pieces ...string) string {
	var b strings.Builder
	for _, piece := range pieces {
		fmt.Fprintf(&b, `{"message":{"role":"assistant","content":%q}}`+"\n", piece)
	}
	b.WriteString(`{"message":{"role":"assistant","content":""},"done":true,"eval_count":5,"prompt_eval_count":10}` + "\n")
	return b.String()
}

func TestOllamaNeverGivesAStopReason(t *testing.T) {
	t.Parallel()
	server := newScript(t, llama("Did ", "one:"), llama("Did ", "two:"))
	model := carrylangchain.Wrap(newOllama(t, server), middleware.New(twoTodos, unhurried), carrylangchain.WithPlainChains())
	r := new(recording)
	answer, err := model.GenerateContent(t.Context(), question(), r.option())
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nDid two:", answer.Choices[0].Content)
	assert.Equal(t, answer.Choices[0].Content, r.text())
	assert.Equal(t, 20, answer.Choices[0].GenerationInfo["TotalTokens"])
	sent := messagesOf(server.requests()[1])
	require.Len(t, sent, 4)
	assert.Equal(t, "assistant: Did one:", sent[2])
}

func TestOllamaCutOffIsNotContinued(t *testing.T) {
	t.Parallel()
	// Its client takes a stream that was cut for an empty answer.
	server := newScript(t, strings.SplitAfter(llama("Did ", "one."), "\n")[0])
	model := carrylangchain.Wrap(newOllama(t, server), middleware.New(twoTodos, unhurried), carrylangchain.WithPlainChains())
	answer, err := model.GenerateContent(t.Context(), question(), new(recording).option())
	require.NoError(t, err)
	assert.Empty(t, answer.Choices[0].Content)
	assert.Len(t, server.requests(), 1)
}

func TestAMissingStopReasonCountsOnceTheModelHasGivenOne(t *testing.T) {
	t.Parallel()
	model, asked := speaks(says("Did one:", "tool_calls"), says("Did tw", ""))
	wrapped := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried))
	for range 2 {
		_, err := wrapped.GenerateContent(t.Context(), question(), withTools("search"))
		require.NoError(t, err)
	}
	assert.Equal(t, 2, *asked, "neither is continued")
}

func TestProvidersThatReadOneMessageAreRefusedOrFolded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []carrylangchain.Option
		text    string
		prompts int
	}{
		"refused": {nil, "Did one:", 1},
		"folded":  {[]carrylangchain.Option{carrylangchain.WithSinglePrompt()}, "Did one:\n\nDid two:", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newScript(t, `[{"generated_text":"Did one:"}]`, `[{"generated_text":"Did two:"}]`)
			llm, err := huggingface.New(huggingface.WithToken("none"), huggingface.WithURL(server.URL), huggingface.WithHTTPClient(server.Client()))
			require.NoError(t, err)
			model := carrylangchain.Wrap(llm, middleware.New(twoTodos, unhurried),
				append(test.options, carrylangchain.WithPlainChains())...)
			text, err := llms.GenerateFromSinglePrompt(t.Context(), model, "Write the parser.")
			require.NoError(t, err)
			assert.Equal(t, test.text, text)
			requests := server.requests()
			require.Len(t, requests, test.prompts)
			if test.prompts > 1 {
				prompt := requests[1].text("inputs")
				assert.True(t, strings.HasPrefix(prompt, "Write the parser.\n\nDid one:\n\n"), prompt)
				assertPrompt(t, prompt)
			}
		})
	}
}

func TestFoldingLeavesTheCallersMessagesAlone(t *testing.T) {
	t.Parallel()
	var sent [][]llms.MessageContent
	model := spoken(func(_ context.Context, messages []llms.MessageContent, _ *llms.CallOptions) (*llms.ContentResponse, error) {
		sent = append(sent, messages)
		return says(fmt.Sprintf("Did %d.", len(sent)), "stop"), nil
	})
	wrapped := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried), carrylangchain.WithSinglePrompt())
	messages := question()
	_, err := wrapped.GenerateContent(t.Context(), messages, withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, question(), messages)
	require.Len(t, sent, 2)
	assert.Len(t, sent[1], len(messages))
	assert.Equal(t, messages[1:], sent[1][1:])

	sent = nil
	picture := []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.ImageURLPart("http://test/tea.png")}}}
	_, err = wrapped.GenerateContent(t.Context(), picture, withTools("search"))
	require.NoError(t, err)
	require.Len(t, sent, 2)
	assert.Len(t, sent[1], 3, "there is no text to fold anything into")
}

func TestARejectedPauseIsFoldedToo(t *testing.T) {
	t.Parallel()
	answers := []*llms.ContentResponse{says("Did one:", ""), says("Well:", ""), says("Did two:", "")}
	answers[1].Choices[0].ToolCalls = []llms.ToolCall{toolCall("p", "todo_pause", reasonJSON("stuck"))}
	var sent [][]llms.MessageContent
	model := spoken(func(_ context.Context, messages []llms.MessageContent, _ *llms.CallOptions) (*llms.ContentResponse, error) {
		sent = append(sent, messages)
		return answers[len(sent)-1], nil
	})
	mw := middleware.New(twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
	answer, err := carrylangchain.Wrap(model, mw, carrylangchain.WithSinglePrompt()).GenerateContent(t.Context(), question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nWell:\n\nDid two:", answer.Choices[0].Content)
	require.Len(t, sent, 3)
	require.Len(t, sent[2], len(question()))
	first, _ := sent[2][0].Parts[0].(llms.TextContent)
	assert.True(t, strings.HasPrefix(first.Text, "You write code.\n\nDid one:\n\nWell:\n\nInvalid pause reason: "), first.Text)
}
