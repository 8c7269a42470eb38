package langchaingo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// ended is a manager with a task of the session that has ended.
func ended(ctx context.Context, t *testing.T, opts ...asynctask.Option) *asynctask.Manager {
	t.Helper()
	tasks := asynctask.NewManager(opts...)
	ticket, err := tasks.Begin(ctx, "job-7", "run the tests")
	require.NoError(t, err)
	require.NoError(t, tasks.Finish(ctx, ticket, asynctask.Message("All 214 tests pass.")))
	return tasks
}

func TestTheEndOfATaskRidesOnTheRequest(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]llms.MessageContent{
		"behind the user's text": question(),
		"behind a tool's result": append(question(), ai(toolCall("1", "search", "{}")), toolResult("1", "", "found")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := continuation.WithSession(t.Context(), "s")
			s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")), middleware.WithTasks(ended(ctx, t)))
			_, err := s.model.GenerateContent(ctx, messages, withTools("search"))
			require.NoError(t, err)
			requests := s.requests()
			require.Len(t, requests, 2)
			at := len(messages) - 1
			for _, request := range requests {
				assert.Contains(t, request.Messages[at].Content, "All 214 tests pass.")
			}
			assert.Equal(t, requests[0].Messages, requests[1].Messages[:at+1])
			assert.NotContains(t, requests[1].Last().Content, "214")
			for _, message := range messages {
				for _, part := range message.Parts {
					if text, ok := part.(llms.TextContent); ok {
						assert.NotContains(t, text.Text, "214", "the caller's own messages are left alone")
					}
				}
			}
		})
	}
}

func TestANoteIsJoinedToWhateverAMessageEndsWith(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		role  llms.ChatMessageType
		parts []llms.ContentPart
		want  string // the beginning of the last part
		more  int    // parts added
	}{
		"text":             {llms.ChatMessageTypeHuman, []llms.ContentPart{llms.TextPart("Look.")}, "Look.\n\n", 0},
		"picture and text": {llms.ChatMessageTypeHuman, []llms.ContentPart{llms.ImageURLPart("http://test"), llms.TextPart("Look.")}, "Look.\n\n", 0},
		"picture":          {llms.ChatMessageTypeHuman, []llms.ContentPart{llms.ImageURLPart("http://test")}, "\n\n", 1},
		"cached text":      {llms.ChatMessageTypeGeneric, []llms.ContentPart{llms.WithCacheControl(llms.TextPart("Look."), nil)}, "\n\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := continuation.WithSession(t.Context(), "s")
			var sent []llms.MessageContent
			model := spoken(func(_ context.Context, messages []llms.MessageContent, _ *llms.CallOptions) (*llms.ContentResponse, error) {
				sent = messages
				return says("Did one:", "stop"), nil
			})
			wrapped := carrylangchain.Wrap(model, middleware.New(todo.Static(), middleware.WithTasks(ended(ctx, t))))
			messages := []llms.MessageContent{{Role: test.role, Parts: test.parts}}
			_, err := wrapped.GenerateContent(ctx, messages, withTools("search"))
			require.NoError(t, err)
			require.Len(t, sent, 1)
			require.Len(t, sent[0].Parts, len(test.parts)+test.more)
			last, _ := sent[0].Parts[len(sent[0].Parts)-1].(llms.TextContent)
			assert.True(t, strings.HasPrefix(last.Text, test.want), last.Text)
			assert.Contains(t, last.Text, "214")
			assert.Equal(t, test.parts, messages[0].Parts)
		})
	}
}

func TestTheSummaryOfTasksMayRideOnTheSystemMessage(t *testing.T) {
	t.Parallel()
	ctx := continuation.WithSession(t.Context(), "s")
	s := newScene(t, turns(fakellm.Call("search", "{}")),
		middleware.WithTasks(ended(ctx, t, asynctask.WithSummaryInSystem())))
	s.requireAsk(t)
	assert.Contains(t, s.requests()[0].Messages[0].Content, "You write code.\n\n[ASYNC TASKS: 1 total]")

	empty := []llms.MessageContent{{Role: llms.ChatMessageTypeSystem}, question()[1]}
	s.server.Append(fakellm.Call("search", "{}"))
	_, err := s.model.GenerateContent(ctx, empty, withTools("search"))
	require.NoError(t, err)
	assert.Contains(t, s.requests()[1].Messages[0].Content, "[ASYNC TASKS: 1 total]")
	assert.Empty(t, empty[0].Parts)
}

func TestANoteIsJoinedToAFunctionsResult(t *testing.T) {
	t.Parallel()
	ctx := continuation.WithSession(t.Context(), "s")
	var sent []llms.MessageContent
	model := spoken(func(_ context.Context, messages []llms.MessageContent, _ *llms.CallOptions) (*llms.ContentResponse, error) {
		sent = messages
		return says("Did one:", "stop"), nil
	})
	result := toolResult("", "search", "found")
	result.Role = llms.ChatMessageTypeFunction
	wrapped := carrylangchain.Wrap(model, middleware.New(todo.Static(), middleware.WithTasks(ended(ctx, t))))
	_, err := wrapped.GenerateContent(ctx, append(question(), ai(toolCall("", "search", "{}")), result), withTools("search"))
	require.NoError(t, err)
	last, _ := sent[len(sent)-1].Parts[0].(llms.ToolCallResponse)
	assert.True(t, strings.HasPrefix(last.Content, "found\n\n"), last.Content)
	assert.Contains(t, last.Content, "214")
}
