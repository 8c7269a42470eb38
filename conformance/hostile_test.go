package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/hostile"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

var (
	conversations = flag.Int("conversations", 150, "how many hostile conversations each client has")
	seed          = flag.Uint64("seed", 0, "replay the hostile conversation of this seed")
)

// hostileClients are the SDKs that read hostile conversations.
var hostileClients = map[string]struct {
	protocol hostile.Protocol
	read     func(ctx context.Context, url string, c *http.Client) hostile.Reading
}{
	"go-openai":           {hostile.ChatCompletions, hostileGoOpenAI},
	"openai-go":           {hostile.ChatCompletions, hostileOpenAIGo},
	"anthropic-sdk-go":    {hostile.Messages, hostileAnthropic},
	"openai-go responses": {hostile.Responses, hostileResponses},
	"genai":               {hostile.Gemini, hostileGenAI},
}

// Whatever the model's answers are like, clients read of the joined answer what they read of each alone.
func TestHostileTurns(t *testing.T) {
	t.Parallel()
	for name, client := range hostileClients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if *seed != 0 {
				playHostile(t, hostile.New(client.protocol, *seed), client.read)
				return
			}
			for n := range uint64(*conversations) { //nolint:gosec // positive
				playHostile(t, hostile.New(client.protocol, n+1), client.read)
			}
		})
	}
}

// playHostile has a client read a conversation, and judges what it has read.
func playHostile(t *testing.T, c hostile.Conversation, read func(context.Context, string, *http.Client) hostile.Reading) {
	t.Helper()
	var result hostile.Result
	for i := range c.Turns {
		result.Alone[i] = readFrom(t, hostile.NewUpstream(c.Turns[i]), read, func(base http.RoundTripper) http.RoundTripper { return base })
	}
	mw := middleware.New(todo.Static(todo.Todo{Content: hostile.Task, Status: todo.InProgress}),
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: len(c.Turns) - 1}))
	upstream := hostile.NewUpstream(c.Turns[:]...)
	var raw bytes.Buffer
	result.Joined = readFrom(t, upstream, read, func(base http.RoundTripper) http.RoundTripper {
		return tee{transport.New(base, mw), &raw}
	})
	result.Raw, result.Requests = raw.String(), upstream.Requests()
	if err := c.Judge(&result); err != nil {
		t.Errorf("seed %d: %v\n%s", c.Seed, err, c.Report(&result))
	}
}

// readFrom reads an answer of an upstream over HTTP.
func readFrom(
	t *testing.T, upstream *hostile.Upstream, read func(context.Context, string, *http.Client) hostile.Reading, wrap func(http.RoundTripper) http.RoundTripper,
) hostile.Reading {
	t.Helper()
	server := httptest.NewServer(upstream)
	defer server.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	return read(t.Context(), server.URL, &http.Client{Transport: wrap(base)})
}

// tee copies the bodies of answers.
type tee struct {
	http.RoundTripper

	to io.Writer
}

func (t tee) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(response.Body, t.to), response.Body}
	}
	return response, err
}

func hostileGoOpenAI(ctx context.Context, url string, c *http.Client) (r hostile.Reading) {
	config := goopenai.DefaultConfig("none")
	config.BaseURL, config.HTTPClient = url+"/v1", c
	stream, err := goopenai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, goopenai.ChatCompletionRequest{
		Model: "m", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: "Go."}},
		Tools: []goopenai.Tool{{Type: "function", Function: &goopenai.FunctionDefinition{Name: "edit_file", Parameters: map[string]any{"type": "object"}}}},
	})
	if err != nil {
		return hostile.Reading{Err: err}
	}
	defer stream.Close()
	calls := callsByIndex{}
	for {
		chunk, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.Err = err
			}
			r.Calls = calls.list()
			return r
		}
		for _, choice := range chunk.Choices {
			r.Text += choice.Delta.Content
			if choice.FinishReason != "" {
				r.Finish = string(choice.FinishReason)
			}
			for _, call := range choice.Delta.ToolCalls {
				index := 0
				if call.Index != nil {
					index = *call.Index
				}
				calls.add(index, call.Function.Name, call.Function.Arguments)
			}
		}
	}
}

func hostileOpenAIGo(ctx context.Context, url string, c *http.Client) (r hostile.Reading) {
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithHTTPClient(c))
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Go.")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "edit_file"})},
	})
	defer stream.Close()
	calls := callsByIndex{}
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			r.Text += choice.Delta.Content
			if choice.FinishReason != "" {
				r.Finish = choice.FinishReason
			}
			for _, call := range choice.Delta.ToolCalls {
				calls.add(int(call.Index), call.Function.Name, call.Function.Arguments)
			}
		}
	}
	r.Calls, r.Err = calls.list(), stream.Err()
	return r
}

func hostileAnthropic(ctx context.Context, url string, c *http.Client) (r hostile.Reading) {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("none"), anthropicoption.WithMaxRetries(0),
		anthropicoption.WithHTTPClient(c))
	stream := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Go."))},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "edit_file"}}},
	})
	defer stream.Close()
	var m anthropic.Message
	stopped := false // as Anthropic's other SDKs require it
	for !stopped && stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			r.Err = err
			break
		}
		stopped = stream.Current().Type == "message_stop"
	}
	r.Err = errors.Join(r.Err, stream.Err())
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			r.Text += block.Text
		case "tool_use":
			r.Calls = append(r.Calls, hostile.Call{Name: block.Name, Arguments: string(block.Input)})
		}
	}
	if stopped {
		r.Finish = string(m.StopReason)
	}
	return r
}

func hostileResponses(ctx context.Context, url string, c *http.Client) (r hostile.Reading) {
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithHTTPClient(c))
	stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
		Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Go.")},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "edit_file", Parameters: map[string]any{"type": "object"}}}},
	})
	defer stream.Close()
	for r.Err == nil && stream.Next() {
		switch e := stream.Current(); e.Type {
		case "error": // which the SDK leaves to the program
			r.Err = errors.New(e.Message)
		case "response.output_text.delta":
			r.Text += e.Delta
		case "response.completed", "response.incomplete", "response.failed":
			r.Finish = e.Type
			for _, item := range e.Response.Output {
				if item.Type == "function_call" {
					r.Calls = append(r.Calls, hostile.Call{Name: item.Name, Arguments: item.Arguments.OfString})
				}
			}
		}
	}
	r.Err = errors.Join(r.Err, stream.Err())
	return r
}

func hostileGenAI(ctx context.Context, url string, c *http.Client) (r hostile.Reading) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: c, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		return hostile.Reading{Err: err}
	}
	tools := []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "edit_file"}}}}
	for answer, err := range client.Models.GenerateContentStream(ctx, "gemini-2.5-flash", genai.Text("Go."), &genai.GenerateContentConfig{Tools: tools}) {
		if err != nil {
			r.Err = err
			return r
		}
		if len(answer.Candidates) == 0 {
			continue
		}
		candidate := answer.Candidates[0]
		if candidate.FinishReason != "" {
			r.Finish = string(candidate.FinishReason)
		}
		if candidate.Content == nil {
			continue
		}
		for _, part := range candidate.Content.Parts {
			switch {
			case part.FunctionCall != nil:
				arguments, _ := json.Marshal(part.FunctionCall.Args) // it came as JSON
				r.Calls = append(r.Calls, hostile.Call{Name: part.FunctionCall.Name, Arguments: string(arguments)})
			case !part.Thought:
				r.Text += part.Text
			}
		}
	}
	return r
}

// callsByIndex joins the fragments of tool calls.
type callsByIndex struct {
	order []int
	calls map[int]*hostile.Call
}

func (c *callsByIndex) add(index int, name, arguments string) {
	if c.calls == nil {
		c.calls = map[int]*hostile.Call{}
	}
	if c.calls[index] == nil {
		c.calls[index] = new(hostile.Call)
		c.order = append(c.order, index)
	}
	c.calls[index].Name += name
	c.calls[index].Arguments += arguments
}

func (c *callsByIndex) list() (list []hostile.Call) {
	for _, index := range c.order {
		list = append(list, *c.calls[index])
	}
	return list
}

// A conversation is the same whenever its seed is.
func TestHostileTurnsComeAgain(t *testing.T) {
	t.Parallel()
	for protocol := range hostile.Gemini + 1 {
		first, again := hostile.New(protocol, 7), hostile.New(protocol, 7)
		require.Equal(t, first, again)
		require.NotEqual(t, hostile.New(protocol, 7), hostile.New(protocol, 8))
	}
}
