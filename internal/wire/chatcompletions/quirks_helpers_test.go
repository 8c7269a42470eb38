package chatcompletions_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	langchain "github.com/tmc/langchaingo/llms/openai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// quirkTask is what the rows of the table are continued for.
const quirkTask = "Write the parser"

// onceMore returns a middleware that continues a call once, and does not wait.
func onceMore() *middleware.Middleware {
	todos := todo.Static(todo.Todo{ID: "1", Content: quirkTask, Status: todo.Pending})
	return middleware.New(todos, wiretest.Unattended, middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
}

// carriedOn puts the transport before an upstream.
func carriedOn(base http.RoundTripper) http.RoundTripper { return transport.New(base, onceMore()) }

// quirkClients are the clients that this module has.
func quirkClients() []quirks.Client {
	return []quirks.Client{
		{Name: quirks.GoOpenAI, Read: readGoOpenAI},
		{Name: quirks.LangChainGo, Read: readLangChain},
	}
}

// parserRequest asks for the parser, and offers a tool.
func parserRequest() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:    "test-model",
		Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "Write the parser."}},
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: "edit_file", Parameters: map[string]any{"type": "object"},
		}}},
	}
}

// readGoOpenAI reads an answer with go-openai, and joins it as programs do:
// fragments by index, and the last finish reason and usage.
func readGoOpenAI(ctx context.Context, rt http.RoundTripper, unary bool) quirks.Reading {
	config := openai.DefaultConfig("no key")
	config.BaseURL = "http://upstream.test/v1"
	config.HTTPClient = &http.Client{Transport: rt}
	client := openai.NewClientWithConfig(config)
	if unary {
		return readGoOpenAIAnswer(ctx, client, parserRequest())
	}
	stream, err := client.CreateChatCompletionStream(ctx, parserRequest())
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	defer stream.Close()
	return readStream(stream)
}

// readStream reads a stream as a program does.
func readStream(s stream) quirks.Reading {
	var r quirks.Reading
	calls := map[int]*quirks.Call{} // by their index
	for {
		chunk, err := s.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.Err = quirks.Problem(err)
			}
			break
		}
		addGoOpenAI(&r, calls, chunk)
	}
	for _, index := range slices.Sorted(maps.Keys(calls)) {
		r.Calls = append(r.Calls, *calls[index])
	}
	return r
}

func addGoOpenAI(r *quirks.Reading, calls map[int]*quirks.Call, chunk openai.ChatCompletionStreamResponse) {
	if chunk.Usage != nil {
		r.Usage = goOpenAIUsage(*chunk.Usage)
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		r.Text += choice.Delta.Content
		r.Reasoning += choice.Delta.ReasoningContent
		if choice.FinishReason != "" {
			r.Finish = string(choice.FinishReason)
		}
		for _, part := range choice.Delta.ToolCalls {
			index := 0
			if part.Index != nil {
				index = *part.Index
			}
			addGoOpenAICall(calls, index, part)
		}
		if f := choice.Delta.FunctionCall; f != nil {
			addGoOpenAICall(calls, 0, openai.ToolCall{Function: *f})
		}
	}
}

func addGoOpenAICall(calls map[int]*quirks.Call, index int, part openai.ToolCall) {
	call := calls[index]
	if call == nil {
		call = &quirks.Call{}
		calls[index] = call
	}
	if part.ID != "" {
		call.ID = part.ID
	}
	if part.Type != "" {
		call.Type = string(part.Type)
	}
	call.Name += part.Function.Name
	call.Arguments += part.Function.Arguments
}

func readGoOpenAIAnswer(ctx context.Context, client *openai.Client, request openai.ChatCompletionRequest) quirks.Reading {
	answer, err := client.CreateChatCompletion(ctx, request)
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	r := quirks.Reading{Usage: goOpenAIUsage(answer.Usage)}
	if len(answer.Choices) == 0 {
		return r
	}
	choice := answer.Choices[0]
	r.Text, r.Reasoning, r.Finish = choice.Message.Content, choice.Message.ReasoningContent, string(choice.FinishReason)
	for _, part := range choice.Message.MultiContent {
		r.Text += part.Text
	}
	for _, call := range choice.Message.ToolCalls {
		r.Calls = append(r.Calls, quirks.Call{
			ID: call.ID, Type: string(call.Type), Name: call.Function.Name, Arguments: call.Function.Arguments,
		})
	}
	if f := choice.Message.FunctionCall; f != nil {
		r.Calls = append(r.Calls, quirks.Call{Name: f.Name, Arguments: f.Arguments})
	}
	return r
}

func goOpenAIUsage(u openai.Usage) quirks.Usage {
	usage := quirks.Usage{
		Prompt: int64(u.PromptTokens), Completion: int64(u.CompletionTokens), Total: int64(u.TotalTokens),
	}
	if u.PromptTokensDetails != nil {
		usage.Cached = int64(u.PromptTokensDetails.CachedTokens)
	}
	if u.CompletionTokensDetails != nil {
		usage.Reasoning = int64(u.CompletionTokensDetails.ReasoningTokens)
	}
	return usage
}

// readLangChain reads an answer with langchaingo's package for OpenAI.
func readLangChain(ctx context.Context, rt http.RoundTripper, unary bool) (r quirks.Reading) {
	defer func() {
		if value := recover(); value != nil {
			r = quirks.Reading{Err: fmt.Sprintf("panic: %v", value)}
		}
	}()
	model, err := langchain.New(
		langchain.WithToken("no key"), langchain.WithModel("test-model"), langchain.WithBaseURL("http://upstream.test/v1"),
		langchain.WithHTTPClient(&http.Client{Transport: rt}),
	)
	if err != nil {
		return quirks.Reading{Err: err.Error()}
	}
	options := []llms.CallOption{llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "edit_file", Parameters: map[string]any{"type": "object"},
	}}})}
	if !unary {
		options = append(options, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Write the parser.")}
	answer, err := model.GenerateContent(ctx, messages, options...)
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	return langChainReading(answer.Choices[0])
}

func langChainReading(choice *llms.ContentChoice) quirks.Reading {
	count := func(name string) int64 {
		n, _ := choice.GenerationInfo[name].(int)
		return int64(n)
	}
	r := quirks.Reading{
		Text: choice.Content, Reasoning: choice.ReasoningContent, Finish: choice.StopReason,
		Usage: quirks.Usage{
			Prompt: count("PromptTokens"), Completion: count("CompletionTokens"), Total: count("TotalTokens"),
			Cached: count("PromptCachedTokens"), Reasoning: count("ReasoningTokens"),
		},
	}
	for _, call := range choice.ToolCalls {
		r.Calls = append(r.Calls, quirks.Call{
			ID: call.ID, Type: call.Type, Name: call.FunctionCall.Name, Arguments: call.FunctionCall.Arguments,
		})
	}
	return r
}

// exchange is the result of a request through the transport.
type exchange struct {
	asked  []string
	status int
	header http.Header
	length int64
	body   string
	err    error
}

// Requests of the rows, with members and numbers that no SDK would send.
const (
	quirkRequest = `{"model":"test-model","stream":%v,"vendor":{"b":1.0e2,"a":12345678901234567890},"messages":[` +
		`{"role":"system","content":"You write code."},{"role":"user","content":"Write the parser.","name":"j\u00fcrgen"}],` +
		`"tools":[{"type":"function","function":{"name":"edit_file","parameters":{"type":"object","properties":{}}}}],"temperature":0.70}`
)

// play sends a request of the row through the transport. The upstream returns
// at most bite bytes per Read, and the answer is read sip bytes at a time; 0 is
// as many as there are.
func play(t *testing.T, q quirks.Quirk, bite, sip int) exchange {
	t.Helper()
	upstream := q.Upstream()
	upstream.ReadSize = bite
	body := strings.NewReader(fmt.Sprintf(quirkRequest, !q.Unary))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://upstream.test/v1/chat/completions", body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := carriedOn(upstream).RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	x := exchange{status: response.StatusCode, header: response.Header, length: response.ContentLength}
	x.body, x.err = drink(response.Body, sip)
	x.asked = upstream.Asked()
	return x
}

// drink reads to the end, into as many bytes at a time as said.
func drink(r io.Reader, sip int) (string, error) {
	if sip == 0 {
		b, err := io.ReadAll(r)
		return string(b), err
	}
	var all strings.Builder
	glass := make([]byte, sip)
	for {
		n, err := r.Read(glass)
		all.Write(glass[:n])
		switch {
		case errors.Is(err, io.EOF):
			return all.String(), nil
		case err != nil:
			return all.String(), err
		}
	}
}
