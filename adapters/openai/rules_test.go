package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reading"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// begin returns a call that is continued at most once.
func begin(t *testing.T, options ...middleware.Option) *join.Call {
	t.Helper()
	todos := todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.Pending})
	options = append(options, middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
	call, _ := join.Begin(t.Context(), middleware.New(todos, options...), adapter.Request{Tools: 1, Users: 1, User: "Write it."})
	require.NotNil(t, call)
	return call
}

// joinAnswers returns what the caller sees of the answers.
func joinAnswers(
	t *testing.T, call *join.Call, turns ...openai.ChatCompletionResponse,
) openai.ChatCompletionResponse {
	t.Helper()
	sent := 0
	answer, err := join.Unary(call, newAnswers(),
		func(context.Context, *adapter.Continuation) (openai.ChatCompletionResponse, error) {
			sent++
			return turns[sent-1], nil
		})
	require.NoError(t, err)
	require.Equal(t, len(turns), sent, "turns")
	return answer
}

// source is a turn's chunks.
type source struct {
	chunks []openai.ChatCompletionStreamResponse
}

func (s *source) Recv() (openai.ChatCompletionStreamResponse, error) {
	if len(s.chunks) == 0 {
		return openai.ChatCompletionStreamResponse{}, io.EOF
	}
	chunk := s.chunks[0]
	s.chunks = s.chunks[1:]
	return chunk, nil
}

func (s *source) Close() error { return nil }

// joinChunks returns what the caller sees of the turns' chunks.
func joinChunks(
	t *testing.T, call *join.Call, turns ...[]openai.ChatCompletionStreamResponse,
) []openai.ChatCompletionStreamResponse {
	t.Helper()
	sent := 0
	joined := join.NewStream(call, newChunks(), &source{turns[0]},
		func(context.Context, *adapter.Continuation) (adapter.Source[openai.ChatCompletionStreamResponse], error) {
			sent++
			return &source{turns[sent]}, nil
		})
	defer joined.Close()
	var all []openai.ChatCompletionStreamResponse
	for {
		chunk, err := joined.Recv()
		if errors.Is(err, io.EOF) {
			require.Equal(t, len(turns)-1, sent, "continuations")
			return all
		}
		require.NoError(t, err)
		all = append(all, chunk)
	}
}

func textChunk(text string) openai.ChatCompletionStreamResponse {
	return chunkWith(openai.ChatCompletionStreamChoiceDelta{Content: text})
}

// stopped returns the chunks of a turn of text that stops.
func stopped(text string) []openai.ChatCompletionStreamResponse {
	last := chunkWith(openai.ChatCompletionStreamChoiceDelta{})
	last.Choices[0].FinishReason = openai.FinishReasonStop
	return []openai.ChatCompletionStreamResponse{textChunk(text), last}
}

func textAnswer(text string) openai.ChatCompletionResponse {
	return answerWith(openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: text})
}

func TestLaterChunksDropWhatIsAboutTheirPrompt(t *testing.T) {
	t.Parallel()
	turn := func(text string) []openai.ChatCompletionStreamResponse {
		chunks := stopped(text)
		chunks[0].PromptAnnotations = []openai.PromptAnnotation{{PromptIndex: 0}}
		chunks[0].PromptFilterResults = []openai.PromptFilterResult{{Index: 0}}
		return chunks
	}
	got := joinChunks(t, begin(t), turn("One:"), turn("Two:"))
	require.Len(t, got, 3)
	assert.NotEmpty(t, got[0].PromptFilterResults)
	assert.NotEmpty(t, got[0].PromptAnnotations)
	assert.Equal(t, "\n\nTwo:", got[1].Choices[0].Delta.Content)
	assert.Empty(t, got[1].PromptFilterResults, "of a prompt that the caller did not write")
	assert.Empty(t, got[1].PromptAnnotations)
}

func TestTextOfAChunkIsShownOnceHoweverManyChoicesItHas(t *testing.T) {
	t.Parallel()
	twice := textChunk("Two ")
	twice.Choices = append(twice.Choices, textChunk("words.").Choices...)
	got := joinChunks(t, begin(t), stopped("One:"), append([]openai.ChatCompletionStreamResponse{twice}, stopped(" Yes.")...))
	var texts []string
	for _, chunk := range got {
		for _, choice := range chunk.Choices {
			texts = append(texts, choice.Delta.Content)
		}
	}
	assert.Equal(t, "One:\n\nTwo words. Yes.", strings.Join(texts, ""))
}

func TestEnvelopeIsTheFirstChunksIfNoneHasAnID(t *testing.T) {
	t.Parallel()
	turn := func(text string, created int64) []openai.ChatCompletionStreamResponse {
		chunks := stopped(text)
		for i := range chunks {
			chunks[i].ID, chunks[i].Model, chunks[i].Created = "", "test-model", created+int64(i)
		}
		return chunks
	}
	got := joinChunks(t, begin(t), turn("One:", 7), turn("Two:", 70))
	require.Len(t, got, 3)
	assert.EqualValues(t, 7, got[1].Created)
	assert.EqualValues(t, 7, got[2].Created)
}

func TestCallInAnotherChoiceIsACall(t *testing.T) {
	t.Parallel()
	calling := chunkWith(openai.ChatCompletionStreamChoiceDelta{ToolCalls: []openai.ToolCall{{ID: "c1"}}})
	calling.Choices[0].Index = 1
	call := begin(t)
	joinChunks(t, call, append([]openai.ChatCompletionStreamResponse{calling}, stopped("One:")...))
	assert.Equal(t, reasons.ToolCalls, call.Outcome().Reason)

	call = begin(t)
	joinAnswers(t, call, answerWith(
		openai.ChatCompletionMessage{Content: "Either."},
		openai.ChatCompletionMessage{ToolCalls: []openai.ToolCall{{ID: "c1"}}}))
	assert.Equal(t, reasons.ToolCalls, call.Outcome().Reason)
}

func TestOnlyPlainTextIsRelayedUnread(t *testing.T) {
	t.Parallel()
	chunk := textChunk("Or else.")
	assert.True(t, isText(&chunk))
	chunk.Usage = new(openai.Usage)
	assert.False(t, isText(&chunk), "with usage")
	chunk.Usage, chunk.Choices[0].Index = nil, 1
	assert.False(t, isText(&chunk), "of another choice")
}

func TestAnswerOfTheSDKIsNotChanged(t *testing.T) {
	t.Parallel()
	last := textAnswer("Two:")
	last.Choices[0].Message.ToolCalls = []openai.ToolCall{
		{ID: "p", Function: openai.FunctionCall{Name: "todo_pause", Arguments: `{"reason":"The grammar is missing"}`}},
		{ID: "c1", Function: openai.FunctionCall{Name: "edit_file"}},
	}
	kept, err := json.Marshal(last)
	require.NoError(t, err)
	got := joinAnswers(t, begin(t), textAnswer("One:"), last)
	assert.Len(t, got.Choices[0].Message.ToolCalls, 1)
	after, err := json.Marshal(last)
	require.NoError(t, err)
	assert.JSONEq(t, string(kept), string(after), "it may be kept elsewhere")
}

func TestTextInPartsIsJoinedToOne(t *testing.T) {
	t.Parallel()
	last := answerWith(openai.ChatCompletionMessage{MultiContent: []openai.ChatMessagePart{
		{Type: openai.ChatMessagePartTypeText, Text: "Tw"}, {Type: openai.ChatMessagePartTypeText, Text: "o:"},
	}})
	got := joinAnswers(t, begin(t), textAnswer("One:"), last)
	assert.Equal(t, "One:\n\nTwo:", got.Choices[0].Message.Content)
	_, err := json.Marshal(got)
	assert.NoError(t, err, "the SDK refuses a message with both")
}

func TestCallsOfAnAnswerAreDistinctWhateverTheirIDs(t *testing.T) {
	t.Parallel()
	last := answerWith(openai.ChatCompletionMessage{ToolCalls: []openai.ToolCall{
		{ID: "call", Function: openai.FunctionCall{Name: "todo_pause", Arguments: `{"reason":"The grammar is missing"}`}},
		{ID: "call", Function: openai.FunctionCall{Name: "edit_file", Arguments: "{}"}},
	}})
	got := joinAnswers(t, begin(t), textAnswer("One:"), last)
	assert.Equal(t, last.Choices[0].Message.ToolCalls[1:], got.Choices[0].Message.ToolCalls)
}

func TestUsageOfTheLastTurnIsThatOfTheLastThatHasOne(t *testing.T) {
	t.Parallel()
	first := textAnswer("One:")
	first.Usage = openai.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15}
	got := joinAnswers(t, begin(t, middleware.WithUsage(middleware.UsageLastTurn)), first, textAnswer("Two:"))
	assert.Equal(t, first.Usage, got.Usage)

	chunks := stopped("One:")
	chunks[1].Usage = &first.Usage
	all := joinChunks(t, begin(t, middleware.WithUsage(middleware.UsageLastTurn)), chunks, stopped("Two:"))
	assert.Equal(t, &first.Usage, all[len(all)-1].Usage)
	assert.NotNil(t, all[len(all)-1].Choices, "written again, it has an empty list and no null")
}

// ownWord is a string of a type of its own.
type ownWord string

func TestRequestIsDescribed(t *testing.T) {
	t.Parallel()
	function := func(name string, strict bool) openai.Tool {
		return openai.Tool{Function: &openai.FunctionDefinition{Name: name, Strict: strict}}
	}
	format := func(kind openai.ChatCompletionResponseFormatType) *openai.ChatCompletionResponseFormat {
		return &openai.ChatCompletionResponseFormat{Type: kind}
	}
	tools := func(list ...openai.Tool) openai.ChatCompletionRequest {
		return openai.ChatCompletionRequest{Tools: list}
	}
	for name, test := range map[string]struct {
		request openai.ChatCompletionRequest
		want    adapter.Request
	}{
		"strict tools": {
			tools(function("a", true), function("b", true)), adapter.Request{Tools: 2, StrictTools: true},
		},
		"one tool that is not strict": {
			tools(function("a", false), function("b", true)), adapter.Request{Tools: 2},
		},
		"a todo_pause before other tools": {
			tools(function("Todo_Pause", false), function("b", false)), adapter.Request{Tools: 2, OwnPause: true},
		},
		"a tool without a function": {tools(openai.Tool{}), adapter.Request{Tools: 1}},
		"any tool": {
			openai.ChatCompletionRequest{ToolChoice: "any"}, adapter.Request{Choice: adapter.ToolChoiceRequired},
		},
		"a tool choice of the program's own type": {
			openai.ChatCompletionRequest{ToolChoice: ownWord("none")}, adapter.Request{Choice: adapter.ToolChoiceNone},
		},
		"a response format without a type": {
			openai.ChatCompletionRequest{ResponseFormat: format("")}, adapter.Request{},
		},
		"text": {
			openai.ChatCompletionRequest{ResponseFormat: format(openai.ChatCompletionResponseFormatTypeText)}, adapter.Request{},
		},
		"JSON": {
			openai.ChatCompletionRequest{ResponseFormat: format(openai.ChatCompletionResponseFormatTypeJSONObject)},
			adapter.Request{JSON: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := describe(&test.request)
			got.History, got.ToolNames = nil, nil
			test.want.Provider = "openai"
			assert.Equal(t, test.want, got)
		})
	}
}

func TestUserTurnIsThatOfTheLastMessageOfTheUser(t *testing.T) {
	t.Parallel()
	user := func(text string) openai.ChatCompletionMessage {
		return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: text}
	}
	calling := func(ids ...string) openai.ChatCompletionMessage {
		m := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, openai.ToolCall{ID: id})
		}
		return m
	}
	got := describe(&openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{
		user("Write it."), calling("c1"), user("Test it."), calling("c2", "c3"), calling("c4"),
	}})
	assert.Equal(t, 2, got.Users)
	assert.Equal(t, "Test it.", got.User)
	assert.False(t, got.Unanswered)
	assert.Equal(t, "c2", loopOf(got)[len(loopOf(got))-3], "the last call is the first after that message")
}

// A summary stands for what answered the user's last message, too.
func TestSummaryBehindTheUsersMessageIsAnAnswer(t *testing.T) {
	t.Parallel()
	message := func(role, text string) openai.ChatCompletionMessage {
		return openai.ChatCompletionMessage{Role: role, Content: text}
	}
	user := func(text string) openai.ChatCompletionMessage { return message(openai.ChatMessageRoleUser, text) }
	const summary = "This session is being continued from a previous conversation that ran out of context."
	for name, c := range map[string]struct {
		messages   []openai.ChatCompletionMessage
		unanswered bool
		users      int
	}{
		"behind it":            {[]openai.ChatCompletionMessage{user("Write it."), user(summary)}, false, 1},
		"before it":            {[]openai.ChatCompletionMessage{user(summary), user("Write it.")}, true, 1},
		"alone":                {[]openai.ChatCompletionMessage{user(summary)}, false, 0},
		"of the system":        {[]openai.ChatCompletionMessage{user("Write it."), message(openai.ChatMessageRoleSystem, summary)}, true, 1},
		"a reminder behind it": {[]openai.ChatCompletionMessage{user("Write it."), user("<system-reminder>Today is Sunday.</system-reminder>")}, true, 1},
	} {
		got := describe(&openai.ChatCompletionRequest{Messages: c.messages})
		assert.Equal(t, c.unanswered, got.Unanswered, name)
		assert.Equal(t, c.users, got.Users, name)
	}
}

func TestMessageWithAnotherPictureIsAnother(t *testing.T) {
	t.Parallel()
	shows := func(parts ...openai.ChatMessagePart) string {
		return identityOf(&openai.ChatCompletionMessage{MultiContent: parts})
	}
	text := func(s string) openai.ChatMessagePart { return openai.ChatMessagePart{Text: s} }
	picture := func(url string) openai.ChatMessagePart {
		return openai.ChatMessagePart{ImageURL: &openai.ChatMessageImageURL{URL: url}}
	}
	first, again := shows(text("Why?"), picture("data:,1")), shows(text("Why?"), picture("data:,1"))
	assert.Equal(t, first, again)
	assert.NotEqual(t, shows(text("Why?"), picture("data:,1")), shows(text("Why?"), picture("data:,2")))
	assert.NotEqual(t, shows(text("ab"), text("c")), shows(text("a"), text("bc")))
}

func TestHistoryIsReadFromItsEnd(t *testing.T) {
	t.Parallel()
	call := func(id string) openai.ToolCall { return openai.ToolCall{ID: id} }
	messages := []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{call("again")}},
		{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{call("first"), call("second"), call("again")}},
		{Role: openai.ChatMessageRoleTool, ToolCallID: "again", Content: "saved"},
		{Role: openai.ChatMessageRoleTool, ToolCallID: "first", MultiContent: []openai.ChatMessagePart{{Text: "sa"}, {Text: "ved"}}},
	}
	assert.Equal(t, []todo.Call{
		{ID: "again", Result: "saved", Answered: true},
		{ID: "second"},
		{ID: "first", Result: "saved", Answered: true},
		{ID: "again"}, // an earlier one, which has no answer of its own
	}, slices.Collect(reading.CallsOf(history(messages))))

	for newest := range history(messages) {
		assert.Equal(t, "again", newest.Call.ID)
		break
	}
}

func TestHistoryCountsTheMessagesOfTheUser(t *testing.T) {
	t.Parallel()
	for behind, want := range map[string]int{
		"<system-reminder>Today is Sunday.</system-reminder>": 0,
		"Go on.": 1,
	} {
		got := describe(&openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleUser, Content: "Begin."},
			{Role: openai.ChatMessageRoleAssistant, ToolCalls: []openai.ToolCall{{ID: "1"}}},
			{Role: openai.ChatMessageRoleTool, ToolCallID: "1", Content: "Begun."},
			{Role: openai.ChatMessageRoleUser, Content: behind},
		}})
		for call := range reading.CallsOf(got.History) {
			assert.Equal(t, want, call.UserMessagesAfter, behind)
		}
	}
}

// withReasoning returns an answer of text and reasoning.
func withReasoning(text, reasoning string) openai.ChatCompletionResponse {
	answer := textAnswer(text)
	answer.Choices[0].Message.ReasoningContent = reasoning
	return answer
}

func TestReasoningOfTheTurnsIsJoined(t *testing.T) {
	t.Parallel()
	got := joinAnswers(t, begin(t), withReasoning("One:", "Hm."), withReasoning("Two:", "Aha."))
	assert.Equal(t, "Hm.\n\nAha.", got.Choices[0].Message.ReasoningContent)
}

func TestReasoningOfAStreamIsSeparated(t *testing.T) {
	t.Parallel()
	turn := func(reasoning, text string) []openai.ChatCompletionStreamResponse {
		return append([]openai.ChatCompletionStreamResponse{chunkWith(openai.ChatCompletionStreamChoiceDelta{ReasoningContent: reasoning})}, stopped(text)...)
	}
	var reasoning strings.Builder
	for _, chunk := range joinChunks(t, begin(t), turn("Hm.", "One:"), turn("Aha.", "Two:")) {
		reasoning.WriteString(chunk.Choices[0].Delta.ReasoningContent)
	}
	assert.Equal(t, "Hm.\n\nAha.", reasoning.String())
}

func TestReasoningOfATurnThatFailedIsNotKept(t *testing.T) {
	t.Parallel()
	failed := withReasoning("Two:", "Aha.")
	failed.Choices[0].FinishReason = ""
	got := joinAnswers(t, begin(t), withReasoning("One:", "Hm."), failed, failed, failed)
	assert.Equal(t, "Hm.", got.Choices[0].Message.ReasoningContent)
}

// closing is a transport that reports when an answer's body is closed.
type closing struct {
	base   http.RoundTripper
	closed atomic.Bool
}

func (c *closing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &closingBody{response.Body, c}
	return response, nil
}

type closingBody struct {
	io.ReadCloser

	transport *closing
}

func (b *closingBody) Close() error {
	b.transport.closed.Store(true)
	return b.ReadCloser.Close()
}

func TestCloseOfAStreamThatIsPassedThroughClosesIt(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text("One:"))
	transport := &closing{base: server.Transport()}
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = fakellm.BaseURL, &http.Client{Transport: transport}
	client := Wrap(openai.NewClientWithConfig(config), middleware.New(todo.Static()))
	s, err := client.CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{})
	require.NoError(t, err)
	_, err = s.Recv()
	require.NoError(t, err)
	require.NoError(t, s.Close())
	assert.True(t, transport.closed.Load())
}

func TestRangeEndsWithTheError(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text("One:").CutAfter(1))
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	mw := middleware.New(todo.Static())
	s, err := Wrap(openai.NewClientWithConfig(config), mw).CreateChatCompletionStream(t.Context(),
		openai.ChatCompletionRequest{Tools: []openai.Tool{{}}})
	require.NoError(t, err)
	var failures []error
	for _, err := range s.All() {
		if err != nil {
			failures = append(failures, err)
		}
		if len(failures) > 1 {
			break
		}
	}
	assert.Len(t, failures, 1)
}

// loopOf returns what a request adds to tell its tool loop from others.
func loopOf(r adapter.Request) (texts []string) {
	if r.Loop != nil {
		r.Loop(func(text string) { texts = append(texts, text) })
	}
	return texts
}

func TestToolLoopIsToldByAllThatLedToIt(t *testing.T) {
	t.Parallel()
	const user, assistant, tool = openai.ChatMessageRoleUser, openai.ChatMessageRoleAssistant, openai.ChatMessageRoleTool
	request := func(change func([]openai.ChatCompletionMessage) []openai.ChatCompletionMessage) openai.ChatCompletionRequest {
		call := openai.ToolCall{ID: "call_0", Function: openai.FunctionCall{Name: "edit", Arguments: `{"path":"a"}`}}
		messages := []openai.ChatCompletionMessage{
			{Role: "system", Content: "You serve Ada."},
			{Role: user, Content: "Go on."},
			{Role: assistant, ToolCalls: []openai.ToolCall{call, {ID: "call_1"}}},
			{Role: tool, ToolCallID: "call_0", Content: "ok"},
		}
		return openai.ChatCompletionRequest{Messages: change(messages)}
	}
	type change = func([]openai.ChatCompletionMessage) []openai.ChatCompletionMessage
	same := request(func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage { return m })
	want := loopOf(describe(&same))
	require.NotEmpty(t, want)
	for name, c := range map[string]struct {
		change change
		same   bool
	}{
		"a later message": {func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage {
			return append(m, openai.ChatCompletionMessage{Role: assistant, ToolCalls: []openai.ToolCall{{ID: "call_9"}}})
		}, true},
		"another result": {func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage { m[3].Content = "no"; return m }, true},
		"another system prompt": {func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage {
			m[0].Content = "You serve Bob."
			return m
		}, false},
		"another message": {func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage {
			m[1].Content = "Go on!"
			return m
		}, false},
		"other arguments": {func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage {
			m[2].ToolCalls[0].Function.Arguments = `{"path":"b"}`
			return m
		}, false},
		"another id": {func(m []openai.ChatCompletionMessage) []openai.ChatCompletionMessage {
			m[2].ToolCalls[0].ID = "call_7"
			return m
		}, false},
	} {
		r := request(c.change)
		assert.Equal(t, c.same, slices.Equal(want, loopOf(describe(&r))), name)
	}
}
