package fakellm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

func TestStreamAndUnaryHaveTheSameContent(t *testing.T) {
	tests := []struct {
		name   string
		turn   fakellm.Turn
		text   string
		calls  []openai.FunctionCall
		finish string
	}{
		{"text", fakellm.Text("I'll do it next."), "I'll do it next.", nil, "stop"},
		{"pieces", fakellm.Pieces("todo_", "pause", "('x')"), "todo_pause('x')", nil, "stop"},
		{"no text", fakellm.Text(""), "", nil, "stop"},
		{"zero", fakellm.Turn{}, "", nil, "stop"},
		{"lines and other scripts", fakellm.Text("a\n\n  <b> & é 漢字 🛑 "), "a\n\n  <b> & é 漢字 🛑 ", nil, "stop"},
		{
			"call", fakellm.Call("edit_file", `{"path":"main.go","text":"漢字漢字漢字"}`), "",
			[]openai.FunctionCall{{Name: "edit_file", Arguments: `{"path":"main.go","text":"漢字漢字漢字"}`}},
			"tool_calls",
		},
		{
			"text and calls", fakellm.Text("Both. ").AndText("Now.").AndCall("a", `{}`).AndCall("b", ``), "Both. Now.",
			[]openai.FunctionCall{{Name: "a", Arguments: `{}`}, {Name: "b"}},
			"tool_calls",
		},
		{
			"pause", fakellm.Pause("no \"key\""), "",
			[]openai.FunctionCall{{Name: "todo_pause", Arguments: `{"reason":"no \"key\""}`}},
			"tool_calls",
		},
		{"finish", fakellm.Text("cut").Finish("length"), "cut", nil, "length"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, connect := range ways() {
				t.Run(name, func(t *testing.T) {
					client := connect(fakellm.NewServer(t, tt.turn, tt.turn))
					streamed := ask(t, client, question())
					whole, err := client.CreateChatCompletion(t.Context(), question())
					require.NoError(t, err)
					require.NoError(t, streamed.err)

					message := whole.Choices[0].Message
					assert.Equal(t, tt.text, streamed.text)
					assert.Equal(t, tt.text, message.Content)
					assert.Equal(t, []string{tt.finish}, streamed.finishes)
					assert.Equal(t, tt.finish, string(whole.Choices[0].FinishReason))
					require.Len(t, streamed.calls, len(tt.calls))
					require.Len(t, message.ToolCalls, len(tt.calls))
					for i, want := range tt.calls {
						assert.Equal(t, want, streamed.calls[i].Function)
						assert.Equal(t, want, message.ToolCalls[i].Function)
						assert.Equal(t, fmt.Sprintf("call_1_%d", i+1), streamed.calls[i].ID)
						assert.Equal(t, fmt.Sprintf("call_2_%d", i+1), message.ToolCalls[i].ID)
						assert.Equal(t, openai.ToolTypeFunction, streamed.calls[i].Type)
					}
				})
			}
		})
	}
}

func TestAnswersAreNumberedAndNameTheModel(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			own := fakellm.Call("a", "{}").ID("mine").Model("other").ResponseID("id-7")
			client := connect(fakellm.NewServer(t, fakellm.Text("one two"), fakellm.Text("x"), own))

			first, second, third := ask(t, client, question()), ask(t, client, question()), ask(t, client, question())

			for _, chunk := range first.chunks {
				assert.Equal(t, "chatcmpl-1", chunk.ID)
				assert.Equal(t, "scripted", chunk.Model)
				assert.Equal(t, "chat.completion.chunk", chunk.Object)
				assert.EqualValues(t, 1893456001, chunk.Created)
			}
			assert.Equal(t, "chatcmpl-2", second.chunks[0].ID)
			assert.Equal(t, "id-7", third.chunks[0].ID)
			assert.Equal(t, "other", third.chunks[0].Model)
			assert.Equal(t, "mine", third.calls[0].ID)
		})
	}
}

func TestUsageComesWhenAskedFor(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			turn := fakellm.Text("hi").Usage(7, 3)
			s := fakellm.NewServer(t, turn, turn, turn, turn.NoUsage(), turn.NoUsage(), fakellm.Text("hi"))
			client := connect(s)
			want := openai.Usage{PromptTokens: 7, CompletionTokens: 3, TotalTokens: 10}

			assert.Empty(t, ask(t, client, question()).usages)
			asked := ask(t, client, withUsage())
			assert.Equal(t, []openai.Usage{want}, asked.usages)
			assert.Empty(t, asked.chunks[len(asked.chunks)-1].Choices)
			whole, err := client.CreateChatCompletion(t.Context(), question())
			require.NoError(t, err)
			assert.Equal(t, want, whole.Usage)

			assert.Empty(t, ask(t, client, withUsage()).usages)
			whole, err = client.CreateChatCompletion(t.Context(), question())
			require.NoError(t, err)
			assert.Zero(t, whole.Usage)

			byDefault := ask(t, client, withUsage())
			assert.Equal(t, []openai.Usage{{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15}}, byDefault.usages)
			assert.True(t, s.Requests()[1].IncludeUsage)
		})
	}
}

func TestReasoningAndRefusal(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			turn := fakellm.Turn{}.Reasoning("Let me think.").Refusal("No.")
			client := connect(fakellm.NewServer(t, turn, turn))

			streamed := ask(t, client, question())
			assert.Equal(t, "Let me think.", streamed.reasoning)
			assert.Equal(t, "No.", streamed.refusal)
			whole, err := client.CreateChatCompletion(t.Context(), question())
			require.NoError(t, err)
			assert.Equal(t, "Let me think.", whole.Choices[0].Message.ReasoningContent)
			assert.Equal(t, "No.", whole.Choices[0].Message.Refusal)
		})
	}
}

func TestClientReadsEachShape(t *testing.T) {
	const arguments = `"a text of no particular form"`
	turn := fakellm.Text("one two").AndCall("todo_pause", arguments)
	shapes := map[string]fakellm.Turn{
		"OneChunk": turn.With(fakellm.OneChunk), "RoleEveryChunk": turn.With(fakellm.RoleEveryChunk), "TextLast": turn.With(fakellm.TextLast),
		"WholeCalls": turn.With(fakellm.WholeCalls), "SplitName": turn.With(fakellm.SplitName), "RepeatName": turn.With(fakellm.RepeatName),
		"EmptyFragments": turn.With(fakellm.EmptyFragments), "Interleaved": turn.With(fakellm.Interleaved), "Batched": turn.With(fakellm.Batched),
		"NoIndex": turn.With(fakellm.NoIndex), "SameIndex": turn.With(fakellm.SameIndex), "StartIndex": turn.StartIndex(3),
		"NoType": turn.With(fakellm.NoType), "RepeatType": turn.With(fakellm.RepeatType), "RepeatID": turn.With(fakellm.RepeatID),
		"NoFinish": turn.With(fakellm.NoFinish), "FinishWithText": turn.With(fakellm.FinishWithText), "FinishTwice": turn.With(fakellm.FinishTwice),
		"NullFinishLast": turn.With(fakellm.NullFinishLast), "UsageOnFinish": turn.With(fakellm.UsageOnFinish),
		"UsageEveryChunk": turn.With(fakellm.UsageEveryChunk), "UsageTwice": turn.With(fakellm.UsageTwice),
		"AzureFirst": turn.With(fakellm.AzureFirst), "ChangeID": turn.With(fakellm.ChangeID),
		"NoDone": turn.NoDone(), "Comments": turn.Comments(), "CRLF": turn.CRLF(),
	}
	for way, connect := range ways() {
		for name, shaped := range shapes {
			t.Run(way+"/"+name, func(t *testing.T) {
				client := connect(fakellm.NewServer(t, shaped, shaped))
				r := ask(t, client, withUsage())
				require.NoError(t, r.err)
				assert.Equal(t, "one two", r.text)
				assert.Equal(t, arguments, r.calls[len(r.calls)-1].Function.Arguments)
				assert.NotEmpty(t, r.usages)

				whole, err := client.CreateChatCompletion(t.Context(), question())
				require.NoError(t, err)
				assert.Equal(t, "one two", whole.Choices[0].Message.Content)
				assert.Equal(t, arguments, whole.Choices[0].Message.ToolCalls[0].Function.Arguments)
			})
		}
	}
}

func TestStatusAnswersBothKindsOfRequest(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			limited := fakellm.Status(http.StatusTooManyRequests, `{"error":{"message":"slow down"}}`).Header("Retry-After", "7")
			client := connect(fakellm.NewServer(t, limited, limited, fakellm.Status(http.StatusBadGateway, "")))

			stream, err := client.CreateChatCompletionStream(t.Context(), question())
			assert.Nil(t, stream)
			var failure *openai.APIError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, http.StatusTooManyRequests, failure.HTTPStatusCode)
			assert.Equal(t, "slow down", failure.Message)
			_, err = client.CreateChatCompletion(t.Context(), question())
			require.ErrorAs(t, err, &failure)

			_, err = client.CreateChatCompletion(t.Context(), question())
			var empty *openai.RequestError
			require.ErrorAs(t, err, &empty)
			assert.Equal(t, http.StatusBadGateway, empty.HTTPStatusCode)
		})
	}
}

func TestHeadersReachTheClient(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			plain := fakellm.Text("hi")
			named := plain.Header("X-Request-Id", "r1").Header("Content-Type", "text/event-stream; charset=utf-8")
			client := connect(fakellm.NewServer(t, named, plain, plain))

			first, second := open(t.Context(), t, client), open(t.Context(), t, client)
			assert.Equal(t, "r1", first.Header().Get("X-Request-Id"))
			assert.Equal(t, []string{"text/event-stream; charset=utf-8"}, first.Header().Values("Content-Type"))
			assert.Equal(t, "text/event-stream", second.Header().Get("Content-Type"))
			assert.Empty(t, second.Header().Get("X-Request-Id"))

			whole, err := client.CreateChatCompletion(t.Context(), question())
			require.NoError(t, err)
			assert.Equal(t, "application/json", whole.Header().Get("Content-Type"))
			assert.NotEmpty(t, whole.Header().Get("Content-Length"))
		})
	}
}

func TestChunksAndRawAreSentAsTheyAre(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			client := connect(fakellm.NewServer(t,
				fakellm.Chunks(`{"choices":[{"index":0,"delta":{"content":"A"}}]}`, `{"choices":null}`),
				fakellm.Raw("data: {\"choices\":[{\"delta\":{\"con", "", "tent\":\"B\"}}]}\n", "data: [DONE]\n"),
				fakellm.Raw(),
			))
			chunks := ask(t, client, question())
			assert.Equal(t, "A", chunks.text)
			assert.Len(t, chunks.chunks, 2)
			assert.Equal(t, "B", ask(t, client, question()).text)
			assert.Empty(t, ask(t, client, question()).chunks)
		})
	}
}

func TestFuncAnswersFromTheRequest(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			echo := fakellm.Func(func(r fakellm.Request) fakellm.Turn {
				r.Messages[0].Content += "!" // a copy
				return fakellm.Text("You said: " + r.Last().Content)
			})
			s := fakellm.NewServer(t, echo)
			assert.Equal(t, "You said: Go on.!", ask(t, connect(s), question()).text)
			assert.Equal(t, "Go on.", s.Requests()[0].Last().Content)
		})
	}
}

func TestScriptRunsOut(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			tb := &recordingTB{TB: t}
			s := fakellm.NewServer(tb, fakellm.Text("one"))
			client := connect(s)
			assert.Equal(t, "one", ask(t, client, question()).text)

			_, err := client.CreateChatCompletion(t.Context(), question())
			var failure *openai.APIError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, http.StatusInternalServerError, failure.HTTPStatusCode)
			assert.Equal(t, "carryontest: no turn left for request 2", failure.Message)
			assert.Equal(t, []string{"carryontest: no turn left for request 2"}, tb.failures())

			s.Append(fakellm.Text("three"))
			assert.Equal(t, "three", ask(t, client, question()).text)
			assert.Len(t, s.Requests(), 3)
		})
	}
}

// recordingTB keeps failures to itself.
type recordingTB struct {
	testing.TB

	mu       sync.Mutex
	messages []string
}

func (tb *recordingTB) Errorf(format string, args ...any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.messages = append(tb.messages, fmt.Sprintf(format, args...))
}

func (tb *recordingTB) failures() []string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return tb.messages
}

func TestWhatIsNoChatCompletionIsRefused(t *testing.T) {
	s := fakellm.NewServer(t, fakellm.Text("still there"))
	tests := []struct {
		method, path, body string
		status             int
		message            string
	}{
		{http.MethodGet, "/v1/chat/completions", "", http.StatusNotFound, "nothing at GET /v1/chat/completions"},
		{http.MethodPost, "/v1/embeddings", "{}", http.StatusNotFound, "nothing at POST /v1/embeddings"},
		{http.MethodPost, "/v1/chat/completions", "garbage", http.StatusBadRequest, "invalid body"},
		{http.MethodPost, "/v1/chat/completions", "", http.StatusBadRequest, "invalid body"},
		{http.MethodPost, "/v1/chat/completions", "null", http.StatusBadRequest, "invalid body"},
		{http.MethodPost, "/v1/chat/completions", `{"messages":[{"role":"user","content":7}]}`, http.StatusBadRequest, "invalid body"},
		{http.MethodPost, "/openai/deployments/x/chat/completions", "{}", http.StatusOK, "still there"},
	}
	for _, tt := range tests {
		recorder := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
		s.Handler().ServeHTTP(recorder, r)
		assert.Equal(t, tt.status, recorder.Code)
		assert.Contains(t, recorder.Body.String(), tt.message)
		assert.Equal(t, "application/json", recorder.Header().Get("Content-Type"))
	}
	assert.Len(t, s.Requests(), 1)
}

func TestRequestsAtTheSameTime(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			const n = 32
			s := fakellm.NewServer(t)
			for range n {
				s.Append(fakellm.Text("one two three").AndCall("f", `{"a":"b"}`))
			}
			client := connect(s)
			ids := make([]string, n)
			var group sync.WaitGroup
			for i := range n {
				group.Go(func() {
					r := ask(t, client, question())
					assert.Equal(t, "one two three", r.text)
					ids[i] = r.chunks[0].ID
				})
			}
			group.Wait()
			seen := make(map[string]bool)
			for _, id := range ids {
				seen[id] = true
			}
			assert.Len(t, seen, n)
			assert.Len(t, s.Requests(), n)
		})
	}
}

func TestServerWithoutATest(t *testing.T) {
	s := fakellm.Start(fakellm.Text("hi"))
	url := s.URL()
	assert.True(t, strings.HasSuffix(url, "/v1"))
	assert.Equal(t, url, s.URL())
	assert.Equal(t, "hi", ask(t, overHTTP(s), question()).text)
	_, err := inMemory(s).CreateChatCompletion(t.Context(), question())
	require.ErrorContains(t, err, "no turn left for request 2")
	s.Close()
	s.Close()

	_, err = overHTTP(s).CreateChatCompletion(t.Context(), question())
	require.Error(t, err)
	_, err = inMemory(s).CreateChatCompletion(t.Context(), question())
	require.ErrorContains(t, err, "carryontest: server closed")
	recorder := httptest.NewRecorder()
	s.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", nil))
	assert.Equal(t, http.StatusServiceUnavailable, recorder.Code)
}

func TestClosedServerDoesNotBeginToListen(t *testing.T) {
	s := fakellm.Start()
	s.Close()
	assert.Equal(t, fakellm.BaseURL, s.URL())
}

func TestMistakesInScriptsPanic(t *testing.T) {
	status := fakellm.Status(http.StatusOK, "{}")
	const unchangeable = "carryon/carryontest: a turn made by Status, Chunks, Raw or Func has no answer to change"
	mistakes := []struct {
		message string
		mistake func()
	}{
		{"carryon/carryontest: NewServer of a nil testing.TB (Start needs none)", func() { fakellm.NewServer(nil) }},
		{"carryon/carryontest: ID needs a call", func() { fakellm.Text("x").ID("y") }},
		{"carryon/carryontest: Func of a nil function", func() { fakellm.Func(nil) }},
		{"carryon/carryontest: 42 is not a status to answer with", func() { fakellm.Status(42, "") }},
		{unchangeable, func() { status.AndText("x") }},
		{unchangeable, func() { fakellm.Raw("x").With(fakellm.WholeCalls) }},
		{"carryon/carryontest: UsageJSON of invalid JSON: {", func() { fakellm.Text("x").UsageJSON("{") }},
		{"carryon/carryontest: Delay of a negative duration", func() { status.Delay(-1) }},
	}
	for _, tt := range mistakes {
		assert.PanicsWithValue(t, tt.message, tt.mistake)
	}
}
