package proxy

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/todo"
)

// page3 returns the arguments of todo_write for a list of three.
func page3(statuses ...todo.Status) string {
	list := []todo.Todo{{Content: "Write index.html"}, {Content: "Write style.css"}, {Content: "Write README.md"}}
	var items []string
	for i, status := range statuses {
		items = append(items, `{"content":"`+list[i].Content+`","status":"`+string(status)+`"}`)
	}
	return `{"todos":[` + strings.Join(items, ",") + `]}`
}

// stalling is a model that stops twice in the middle of its list.
func stalling() []carryontest.Turn {
	const p, i, c = todo.Pending, todo.InProgress, todo.Completed
	write := func(list string) carryontest.Turn {
		return carryontest.Call("write_file", `{"path":"a file"}`).AndCall("todo_write", list)
	}
	return []carryontest.Turn{
		carryontest.Call("todo_write", page3(i, p, p)),
		write(page3(c, i, p)),
		carryontest.Text("The page is in place. Next, I will write style.css."), write(page3(c, c, i)),
		carryontest.Text("The styles are done. Now let me add the README."), write(page3(c, c, c)),
		carryontest.Text("All done."),
	}
}

// asker sends a request and returns the message that was answered.
type asker func(t *testing.T, r openai.ChatCompletionRequest) openai.ChatCompletionMessage

// loop is a plain tool loop. It returns its history and the list written last.
func loop(t *testing.T, ask asker) (history []openai.ChatCompletionMessage, list string) {
	t.Helper()
	request := openai.ChatCompletionRequest{
		Model:    "test-model",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Build a small web page about tea."}},
	}
	for _, name := range []string{"todo_write", "write_file"} {
		request.Tools = append(request.Tools, openai.Tool{
			Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: name, Parameters: map[string]any{}},
		})
	}
	for {
		message := ask(t, request)
		request.Messages = append(request.Messages, message)
		if len(message.ToolCalls) == 0 {
			return request.Messages, list
		}
		for _, call := range message.ToolCalls {
			if call.Function.Name == "todo_write" {
				list = call.Function.Arguments
			}
			request.Messages = append(request.Messages,
				openai.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: "ok"})
		}
	}
}

// asSDK asks through go-openai, pointed at the proxy.
func (s *scene) asSDK(stream bool) asker {
	config := openai.DefaultConfig("sk-secret-key")
	config.BaseURL, config.HTTPClient = s.base, s.client
	client := openai.NewClientWithConfig(config)
	return func(t *testing.T, r openai.ChatCompletionRequest) openai.ChatCompletionMessage {
		t.Helper()
		if !stream {
			answer, err := client.CreateChatCompletion(t.Context(), r)
			require.NoError(t, err)
			return answer.Choices[0].Message
		}
		chunks, err := client.CreateChatCompletionStream(t.Context(), r)
		require.NoError(t, err)
		defer chunks.Close()
		message := openai.ChatCompletionMessage{Role: "assistant"}
		for {
			chunk, err := chunks.Recv()
			if errors.Is(err, io.EOF) {
				return message
			}
			require.NoError(t, err)
			join(&message, chunk)
		}
	}
}

// asCurl sends the request as curl does, and reads the stream by hand.
func (s *scene) asCurl(stream bool) asker {
	return func(t *testing.T, r openai.ChatCompletionRequest) openai.ChatCompletionMessage {
		t.Helper()
		r.Stream = stream
		body, err := json.Marshal(r)
		require.NoError(t, err)
		got := s.send(newRequest(t, http.MethodPost, s.base+"/chat/completions", string(body)))
		require.NoError(t, got.err)
		require.Equal(t, http.StatusOK, got.status, got.body)
		if !stream {
			var answer openai.ChatCompletionResponse
			require.NoError(t, json.Unmarshal([]byte(got.body), &answer))
			return answer.Choices[0].Message
		}
		message := openai.ChatCompletionMessage{Role: "assistant"}
		events := bufio.NewScanner(strings.NewReader(got.body))
		for events.Scan() {
			data, ok := strings.CutPrefix(events.Text(), "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			var chunk openai.ChatCompletionStreamResponse
			require.NoError(t, json.Unmarshal([]byte(data), &chunk))
			join(&message, chunk)
		}
		assert.Contains(t, got.body, "data: [DONE]")
		return message
	}
}

// join adds a chunk to a message.
func join(message *openai.ChatCompletionMessage, chunk openai.ChatCompletionStreamResponse) {
	for _, choice := range chunk.Choices {
		message.Content += choice.Delta.Content
		for _, call := range choice.Delta.ToolCalls {
			if *call.Index == len(message.ToolCalls) {
				message.ToolCalls = append(message.ToolCalls, openai.ToolCall{ID: call.ID, Type: "function"})
			}
			function := &message.ToolCalls[*call.Index].Function
			function.Name += call.Function.Name
			function.Arguments += call.Function.Arguments
		}
	}
}

func TestStalledConversationFinishes(t *testing.T) {
	t.Parallel()
	clients := map[string]func(*scene, bool) asker{"SDK": (*scene).asSDK, "curl": (*scene).asCurl}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, stream bool) {
				s := newScene(t)
				s.upstream.Append(stalling()...)

				history, list := loop(t, client(s, stream))

				assert.Equal(t, page3(todo.Completed, todo.Completed, todo.Completed), list)
				assert.Len(t, history, 13, "the user's message, five answers and seven results")
				for _, message := range history[1:] {
					assert.NotEqual(t, "user", message.Role)
					assert.NotContains(t, message.Content, "continue", "no prompt is in the history")
				}
				sent := s.upstream.Requests()
				require.Len(t, sent, 7)
				for i, continued := range []bool{false, false, false, true, false, true, false} {
					assert.Equal(t, continued, sent[i].HasTool("todo_pause"), "request %d", i+1)
				}
				assert.Contains(t, sent[3].Last().Content, "'Write style.css'")
				assert.Contains(t, sent[5].Last().Content, "'Write README.md'")
			})
		})
	}
}

func TestStalledConversationStopsWithoutCarryon(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-dry-run")
	s.upstream.Append(stalling()[:3]...)

	_, list := loop(t, s.asSDK(true))

	assert.Equal(t, page3(todo.Completed, todo.InProgress, todo.Pending), list)
	s.served.wait()
	last := s.report(t).Entries[0]
	assert.Equal(t, stateDryRun, last.State)
	assert.Contains(t, lines(last), "1 go on true: satisfied")
	assert.True(t, last.Outcome.DryRun)
	assert.True(t, last.Turns[0].Decision.DryRun)
}

func TestClientsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const clients = 8
	for range 7 * clients { // each answers for the current step of its client
		s.upstream.Append(carryontest.Func(func(r carryontest.Request) carryontest.Turn {
			step := 0
			for _, message := range r.Messages {
				if message.Role == "assistant" {
					step++
				}
			}
			at := []int{0, 1, 2, 4, 6}[min(step, 4)]
			if r.HasTool("todo_pause") {
				at = []int{0, 0, 0, 3, 5}[step]
			}
			return stalling()[at]
		}))
	}
	t.Run("all", func(t *testing.T) { // returns when all have ended
		for i := range clients {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				_, list := loop(t, s.asSDK(i%2 == 0))
				assert.Equal(t, page3(todo.Completed, todo.Completed, todo.Completed), list)
			})
		}
	})
	s.served.wait()
	got := s.report(t).Counts
	assert.Equal(t, []int{5 * clients, 5 * clients, 2 * clients, 0}, []int{got.Requests, got.Calls, got.Continuations, got.Failed})
}
