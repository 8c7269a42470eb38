package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	sashabaranov "github.com/sashabaranov/go-openai"
	"github.com/tmc/langchaingo/llms"
	langchain "github.com/tmc/langchaingo/llms/openai"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// The clients. Each makes the same request: it offers the tool edit_file and asks for usage.
var (
	openaiGo    = quirks.Client{Name: quirks.OpenAIGo, Read: readOpenAIGo}
	goOpenAI    = quirks.Client{Name: quirks.GoOpenAI, Read: readGoOpenAI}
	langchaingo = quirks.Client{Name: quirks.LangChainGo, Read: readLangChainGo}
)

const (
	model    = "test-model"
	question = "Write the parser."
	editFile = "edit_file"
)

func noParameters() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{}}
}

// official returns a client of the official SDK that never retries, unless an option says so.
func official(rt http.RoundTripper, opts ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithAPIKey("no key"), option.WithBaseURL(fakellm.BaseURL), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: rt}),
	}, opts...)...)
}

func officialRequest() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: editFile, Parameters: noParameters()}),
		},
	}
}

func officialStreamRequest() openai.ChatCompletionNewParams {
	request := officialRequest()
	request.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
	return request
}

func readOpenAIGo(ctx context.Context, rt http.RoundTripper, unary bool) quirks.Reading {
	return askOfficial(ctx, official(rt), unary)
}

func askOfficial(ctx context.Context, client openai.Client, unary bool) quirks.Reading {
	if unary {
		completion, err := client.Chat.Completions.New(ctx, officialRequest())
		if err != nil {
			return quirks.Reading{Err: quirks.Problem(err)}
		}
		return officialReading(*completion)
	}
	accumulator, _, err := accumulate(ctx, client)
	reading := officialReading(accumulator.ChatCompletion)
	reading.Err = quirks.Problem(err)
	return reading
}

// accumulate reads a stream with the SDK's accumulator, and counts the chunks that it refuses.
func accumulate(ctx context.Context, client openai.Client) (
	accumulator *openai.ChatCompletionAccumulator, refused int, err error,
) {
	stream := client.Chat.Completions.NewStreaming(ctx, officialStreamRequest())
	defer stream.Close()
	accumulator = new(openai.ChatCompletionAccumulator)
	for stream.Next() {
		if !accumulator.AddChunk(stream.Current()) {
			refused++
		}
	}
	return accumulator, refused, stream.Err()
}

func officialReading(c openai.ChatCompletion) quirks.Reading {
	r := quirks.Reading{Usage: quirks.Usage{
		Prompt: c.Usage.PromptTokens, Completion: c.Usage.CompletionTokens, Total: c.Usage.TotalTokens,
		Cached: c.Usage.PromptTokensDetails.CachedTokens, Reasoning: c.Usage.CompletionTokensDetails.ReasoningTokens,
	}}
	if len(c.Choices) == 0 {
		return r
	}
	choice := c.Choices[0]
	r.Text, r.Finish = choice.Message.Content, choice.FinishReason
	for _, call := range choice.Message.ToolCalls {
		r.Calls = append(r.Calls, quirks.Call{
			ID: call.ID, Type: call.Type, Name: call.Function.Name, Arguments: call.Function.Arguments,
		})
	}
	if call := choice.Message.FunctionCall; call.Name != "" { //nolint:staticcheck // providers still send it
		r.Calls = append(r.Calls, quirks.Call{Name: call.Name, Arguments: call.Arguments})
	}
	return r
}

func goOpenAIClient(url string, rt http.RoundTripper) *sashabaranov.Client {
	config := sashabaranov.DefaultConfig("no key")
	config.BaseURL = url
	config.HTTPClient = &http.Client{Transport: rt}
	return sashabaranov.NewClientWithConfig(config)
}

func goOpenAIRequest() sashabaranov.ChatCompletionRequest {
	return sashabaranov.ChatCompletionRequest{
		Model:    model,
		Messages: []sashabaranov.ChatCompletionMessage{{Role: sashabaranov.ChatMessageRoleUser, Content: question}},
		Tools: []sashabaranov.Tool{{Type: sashabaranov.ToolTypeFunction, Function: &sashabaranov.FunctionDefinition{
			Name: editFile, Parameters: noParameters(),
		}}},
	}
}

func readGoOpenAI(ctx context.Context, rt http.RoundTripper, unary bool) quirks.Reading {
	client := goOpenAIClient(fakellm.BaseURL, rt)
	if unary {
		return goOpenAIReading(client.CreateChatCompletion(ctx, goOpenAIRequest()))
	}
	stream, err := client.CreateChatCompletionStream(ctx, goOpenAIStreamRequest())
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	defer stream.Close()
	return receive(stream.Recv)
}

// askTyped asks through carryon's wrapper of go-openai.
func askTyped(ctx context.Context, client *carryopenai.Client, unary bool) quirks.Reading {
	if unary {
		return goOpenAIReading(client.CreateChatCompletion(ctx, goOpenAIRequest()))
	}
	stream, err := client.CreateChatCompletionStream(ctx, goOpenAIStreamRequest())
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	defer stream.Close()
	return receive(stream.Recv)
}

func goOpenAIStreamRequest() sashabaranov.ChatCompletionRequest {
	request := goOpenAIRequest()
	request.StreamOptions = &sashabaranov.StreamOptions{IncludeUsage: true}
	return request
}

func goOpenAIReading(response sashabaranov.ChatCompletionResponse, err error) quirks.Reading {
	r := quirks.Reading{Err: quirks.Problem(err)}
	addUsage(&r, &response.Usage)
	if len(response.Choices) > 0 {
		choice := response.Choices[0]
		r.Text, r.Finish = choice.Message.Content, string(choice.FinishReason)
		addFragments(&r, choice.Message.ToolCalls, true)
	}
	return r
}

// receive reads a stream of go-openai or of carryon's wrapper.
func receive(recv func() (sashabaranov.ChatCompletionStreamResponse, error)) quirks.Reading {
	var r quirks.Reading
	for {
		chunk, err := recv()
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			r.Err = quirks.Problem(err)
			return r
		}
		addUsage(&r, chunk.Usage)
		for _, choice := range chunk.Choices {
			r.Text += choice.Delta.Content
			if choice.FinishReason != "" {
				r.Finish = string(choice.FinishReason)
			}
			addFragments(&r, choice.Delta.ToolCalls, false)
		}
	}
}

func addUsage(r *quirks.Reading, usage *sashabaranov.Usage) {
	if usage == nil {
		return
	}
	r.Usage = quirks.Usage{
		Prompt: int64(usage.PromptTokens), Completion: int64(usage.CompletionTokens), Total: int64(usage.TotalTokens),
	}
	if details := usage.PromptTokensDetails; details != nil {
		r.Usage.Cached = int64(details.CachedTokens)
	}
	if details := usage.CompletionTokensDetails; details != nil {
		r.Usage.Reasoning = int64(details.ReasoningTokens)
	}
}

// addFragments puts calls together by their indexes, as programs do; whole calls have none.
func addFragments(r *quirks.Reading, fragments []sashabaranov.ToolCall, whole bool) {
	for i, fragment := range fragments {
		at := 0
		switch {
		case whole:
			at = i
		case fragment.Index != nil:
			at = *fragment.Index
		}
		for len(r.Calls) <= at {
			r.Calls = append(r.Calls, quirks.Call{})
		}
		call := &r.Calls[at]
		if fragment.ID != "" {
			call.ID = fragment.ID
		}
		if fragment.Type != "" {
			call.Type = string(fragment.Type)
		}
		call.Name += fragment.Function.Name
		call.Arguments += fragment.Function.Arguments
	}
}

func readLangChainGo(ctx context.Context, rt http.RoundTripper, unary bool) (r quirks.Reading) {
	defer func() {
		if value := recover(); value != nil {
			r = quirks.Reading{Err: fmt.Sprint("panic: ", value)}
		}
	}()
	llm, err := langchain.New(
		langchain.WithToken("no key"), langchain.WithModel(model), langchain.WithBaseURL(fakellm.BaseURL),
		langchain.WithHTTPClient(&http.Client{Transport: rt}),
	)
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	options := []llms.CallOption{llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: editFile, Parameters: noParameters(),
	}}})}
	if !unary {
		options = append(options, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	response, err := llm.GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, question)}, options...)
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	choice := response.Choices[0]
	r = quirks.Reading{Text: choice.Content, Finish: choice.StopReason, Usage: quirks.Usage{
		Prompt: count(choice, "PromptTokens"), Completion: count(choice, "CompletionTokens"),
		Total: count(choice, "TotalTokens"), Cached: count(choice, "PromptCachedTokens"),
		Reasoning: count(choice, "ReasoningTokens"),
	}}
	for _, call := range choice.ToolCalls {
		r.Calls = append(r.Calls, quirks.Call{
			ID: call.ID, Type: call.Type, Name: call.FunctionCall.Name, Arguments: call.FunctionCall.Arguments,
		})
	}
	return r
}

func count(choice *llms.ContentChoice, name string) int64 {
	n, _ := choice.GenerationInfo[name].(int)
	return int64(n)
}
