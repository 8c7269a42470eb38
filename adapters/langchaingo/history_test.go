package langchaingo_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

func ai(parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
}

func toolResult(id, name, content string) llms.MessageContent {
	return llms.MessageContent{
		Role:  llms.ChatMessageTypeTool,
		Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: id, Name: name, Content: content}},
	}
}

func toolCall(id, name, arguments string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: arguments}}
}

// conversationOf returns the calls that a todo source is shown of the messages.
func conversationOf(t *testing.T, messages []llms.MessageContent) (calls []todo.Call) {
	t.Helper()
	source := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
		calls = slices.Collect(todo.ConversationFrom(ctx))
		return nil, nil
	})
	model, _ := speaks(says("Did one:", "stop"))
	_, err := carrylangchain.Wrap(model, middleware.New(source)).GenerateContent(t.Context(), messages, withTools("search"))
	require.NoError(t, err)
	return calls
}

func TestHistoryIsShownNewestFirst(t *testing.T) {
	t.Parallel()
	got := conversationOf(t, append(question(),
		ai(llms.TextPart("I look."), toolCall("1", "search", `{"q":1}`), toolCall("2", "fetch", `{}`)),
		toolResult("2", "fetch", "fetched"), toolResult("1", "search", "found"),
		ai(llms.TextPart("And again.")),
		ai(toolCall("1", "search", `{"q":2}`)), toolResult("1", "", "found more"),
		ai(toolCall("3", "search", `{"q":3}`)),
		ai(llms.ToolCall{ID: "4"}),
	))
	assert.Equal(t, []todo.Call{
		{ID: "4"},
		{ID: "3", Name: "search", Arguments: `{"q":3}`},
		{ID: "1", Name: "search", Arguments: `{"q":2}`, Result: "found more", Answered: true},
		{ID: "2", Name: "fetch", Arguments: `{}`, Result: "fetched", Answered: true},
		{ID: "1", Name: "search", Arguments: `{"q":1}`, Result: "found", Answered: true},
	}, got)
}

func TestHistoryCountsTheMessagesOfTheUser(t *testing.T) {
	t.Parallel()
	call, result := ai(toolCall("1", "task", `{}`)), toolResult("1", "task", "Begun.")
	for behind, want := range map[string]int{
		"<system-reminder>Today is Sunday.</system-reminder>": 0,
		"Go on.": 1,
	} {
		got := conversationOf(t, append(question(), call, result, llms.TextParts(llms.ChatMessageTypeHuman, behind)))
		assert.Equal(t, want, got[0].UserMessagesAfter, behind)
	}
}

func TestCallsWithoutIDsAreFoundByNameOrOrder(t *testing.T) {
	t.Parallel()
	got := conversationOf(t, append(question(),
		ai(toolCall("", "search", `{"q":1}`), toolCall("", "fetch", `{}`), toolCall("", "search", `{"q":2}`)),
		toolResult("", "search", "found 1"), toolResult("", "fetch", "fetched"), toolResult("", "search", "found 2"),
		ai(toolCall("", "search", `{"q":3}`)), toolResult("", "", "found 3"),
	))
	assert.Equal(t, []todo.Call{
		{Name: "search", Arguments: `{"q":3}`, Result: "found 3", Answered: true},
		{Name: "search", Arguments: `{"q":2}`, Result: "found 2", Answered: true},
		{Name: "fetch", Arguments: `{}`, Result: "fetched", Answered: true},
		{Name: "search", Arguments: `{"q":1}`, Result: "found 1", Answered: true},
	}, got)
}

func TestTodosOfTheConversation(t *testing.T) {
	t.Parallel()
	written := toolCall("1", "todo_write", `{"__arg1":"{\"todos\":[{\"id\":\"1\",\"content\":\"Write the parser\",\"status\":\"in_progress\"}]}"}`)
	for name, test := range map[string]struct {
		more  []llms.MessageContent
		asked int
	}{
		"open":     {nil, 2},
		"finished": {[]llms.MessageContent{ai(toolCall("2", "todo_write", `{"todos":[]}`)), toolResult("2", "", "saved")}, 1},
		"refused":  {[]llms.MessageContent{ai(toolCall("2", "todo_write", `{"todos":[]}`)), toolResult("2", "", "Error: no.")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := speaks(says("Did one:", "stop"), says("Did two:", "stop"))
			messages := slices.Concat(question(), []llms.MessageContent{ai(written), toolResult("1", "", "saved")}, test.more)
			wrapped := carrylangchain.Wrap(model, middleware.New(todo.FromConversation(), unhurried))
			_, err := wrapped.GenerateContent(t.Context(), messages, withTools("todo_write"))
			require.NoError(t, err)
			assert.Equal(t, test.asked, *asked)
		})
	}
}

func TestANewMessageOfTheUserRenewsTheBudget(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	ask := func(messages []llms.MessageContent) int {
		before := len(s.requests())
		s.server.Append(fakellm.Text("One:"), fakellm.Text("Two:"))
		_, err := s.model.GenerateContent(s.ctx, messages, withTools("search"))
		require.NoError(t, err)
		return len(s.requests()) - before
	}
	picture := func(url string) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
			llms.WithCacheControl(llms.TextPart("What is this?"), nil), llms.ImageURLPart(url), llms.BinaryPart("image/png", []byte{1}),
		}}
	}
	first := question()
	assert.Equal(t, 2, ask(first))
	assert.Equal(t, 1, ask(first), "the budget is used up")
	assert.Equal(t, 1, ask(append(first, ai(toolCall("1", "search", "{}")), toolResult("1", "", "found"))), "a tool result is no new message")
	assert.Equal(t, 2, ask(append(first, ai(llms.TextPart("One:")), picture("http://test/1.png"))))
	assert.Equal(t, 1, ask(append(first, ai(llms.TextPart("One:")), picture("http://test/1.png"))))
	assert.Equal(t, 2, ask(append(first, ai(llms.TextPart("One:")), picture("http://test/2.png"))))
}

// A summary stands for what answered the user's last message, too.
func TestSummaryBehindTheUsersMessageRenewsNoBudget(t *testing.T) {
	t.Parallel()
	const summary = "This session is being continued from a previous conversation that ran out of context."
	human := func(text string) llms.MessageContent { return llms.TextParts(llms.ChatMessageTypeHuman, text) }
	s := newScene(t, nil)
	for _, c := range []struct {
		behind []llms.MessageContent
		want   int
	}{
		{[]llms.MessageContent{ai(toolCall("c1", "search", "{}")), toolResult("c1", "", "found")}, 2},
		{[]llms.MessageContent{human(summary)}, 1},
		{[]llms.MessageContent{human(summary), llms.TextParts(llms.ChatMessageTypeSystem, summary)}, 1},
		{[]llms.MessageContent{human(summary), human("Go on.")}, 2},
	} {
		before := len(s.requests())
		s.server.Append(fakellm.Text("One:"))
		if c.want > 1 {
			s.server.Append(fakellm.Text("Two:"))
		}
		_, err := s.model.GenerateContent(s.ctx, append(question(), c.behind...), withTools("search"))
		require.NoError(t, err)
		assert.Equal(t, c.want, len(s.requests())-before, "%v", c.behind)
	}
}

func TestMessagesOfTheUserAreToldApart(t *testing.T) {
	t.Parallel()
	parts := func(parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeGeneric, Parts: parts}
	}
	cached := func(text string) llms.ContentPart { return llms.WithCacheControl(llms.TextPart(text), nil) }
	s := newScene(t, nil)
	for i, message := range []llms.MessageContent{
		parts(llms.TextPart("ab"), llms.TextPart("c")),
		parts(llms.TextPart("a"), llms.TextPart("bc")),
		parts(cached("ab")), parts(cached("abc")),
		parts(llms.BinaryPart("image/png", []byte{1})),
		parts(llms.BinaryPart("image/gif", []byte{1})),
		parts(llms.BinaryPart("image/gif", []byte{1, 2})),
	} {
		for _, more := range []int{1, 0} { // the second time the budget is used up
			before := len(s.requests())
			s.server.Append(fakellm.Text("One:"))
			if more == 1 {
				s.server.Append(fakellm.Text("Two:"))
			}
			_, err := s.model.GenerateContent(s.ctx, []llms.MessageContent{message}, withTools("search"))
			require.NoError(t, err)
			assert.Equal(t, 1+more, len(s.requests())-before, "message %d", i)
		}
	}
}

func TestCallsOfEarlierUserTurnsAreNotThisLoops(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	messages := append(question(), ai(toolCall("call-17", "search", "{}")), toolResult("call-17", "", "found"),
		llms.TextParts(llms.ChatMessageTypeHuman, "And now?"))
	for range 2 {
		s.server.Append(fakellm.Text("One:"), fakellm.Text("Two:"))
		_, err := s.model.GenerateContent(t.Context(), messages, withTools("search"))
		require.NoError(t, err)
	}
	assert.Len(t, s.requests(), 4, "each is a loop that has just begun")
}

func TestWithoutASessionALoopHasOneBudget(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("One:"), fakellm.Call("search", "{}"), fakellm.Text("Two:")))
	messages := append(question(), ai(toolCall("call-17", "search", "{}")), toolResult("call-17", "", "found"))
	for range 2 {
		_, err := s.model.GenerateContent(t.Context(), messages, withTools("search"))
		require.NoError(t, err)
		messages = append(messages, ai(toolCall("call-18", "search", "{}")), toolResult("call-18", "", "found"))
	}
	assert.Len(t, s.requests(), 3)
}
