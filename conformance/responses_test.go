package conformance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// responsesParams is a request with one tool.
func responsesParams(input responses.ResponseNewParamsInputUnion) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "any-model", Input: input,
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: editFile, Parameters: noParameters()}}},
	}
}

// askResponses returns the response, and the texts of its messages as the events of a stream had them.
func askResponses(t *testing.T, client openai.Client, unary bool, p responses.ResponseNewParams) (responses.Response, []string) {
	t.Helper()
	if unary {
		response, err := client.Responses.New(t.Context(), p)
		require.NoError(t, err)
		return *response, textsOf(*response)
	}
	stream := client.Responses.NewStreaming(t.Context(), p)
	defer stream.Close()
	var last responses.Response
	var texts []string
	at := map[int64]int{}
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseOutputItemAddedEvent:
			if e.Item.Type == "message" {
				at[e.OutputIndex] = len(texts)
				texts = append(texts, "")
			}
		case responses.ResponseTextDeltaEvent:
			texts[at[e.OutputIndex]] += e.Delta
		case responses.ResponseCompletedEvent:
			last = e.Response
		}
	}
	require.NoError(t, stream.Err())
	return last, texts
}

func textsOf(response responses.Response) []string {
	var texts []string
	for _, item := range response.Output {
		if message, ok := item.AsAny().(responses.ResponseOutputMessage); ok {
			var text strings.Builder
			for _, part := range message.Content {
				text.WriteString(part.Text)
			}
			texts = append(texts, text.String())
		}
	}
	return texts
}

// The official SDK reads the same from the events and from the response object, and a server that checks like the API
// accepts what the SDK sends back.
func TestOfficialSDKOnResponses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		turns []fakellm.Turn
		texts []string
		calls int
	}{
		"a call":             {[]fakellm.Turn{fakellm.Text(plan).Reasoning("First."), fakellm.Call(editFile, path).Reasoning("Now.")}, []string{plan}, 1},
		"several turns":      {[]fakellm.Turn{fakellm.Text(plan), fakellm.Text("Now I write it."), fakellm.Call(editFile, path)}, []string{plan, "Now I write it."}, 1},
		"a pause":            {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocker).Reasoning("Hm.")}, []string{plan + "\n\nTask paused: " + blocker}, 0},
		"a pause and a call": {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause(blocker).AndCall(editFile, path).Reasoning("Hm.")}, []string{plan}, 1},
		"a pause rejected":   {[]fakellm.Turn{fakellm.Text(plan), fakellm.Pause("stuck").Reasoning("Hm."), fakellm.Call(editFile, path)}, []string{plan}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothModes(t, func(t *testing.T, unary bool) {
				server := fakellm.NewServer(t, append(tt.turns, fakellm.Call(editFile, "{}"))...)
				client := served(server, middleware.New(todos(), unhurried()))
				input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("Write a parser.", responses.EasyInputMessageRoleUser)}
				response, events := askResponses(t, client, unary, responsesParams(responses.ResponseNewParamsInputUnion{OfInputItemList: input}))
				assert.Equal(t, tt.texts, textsOf(response))
				assert.Equal(t, textsOf(response), events)
				assert.Equal(t, "resp_1", response.ID)

				calls := 0
				var results responses.ResponseInputParam
				for _, item := range response.Output {
					input = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
					if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
						calls++
						result := responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(call.CallID)}
						result.Output.OfString = openai.String("done")
						results = append(results, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &result})
					}
				}
				assert.Equal(t, tt.calls, calls)
				if calls == 0 {
					results = append(results, responses.ResponseInputItemParamOfMessage("Go on.", responses.EasyInputMessageRoleUser))
				}
				next, _ := askResponses(t, client, unary, responsesParams(responses.ResponseNewParamsInputUnion{OfInputItemList: append(input, results...)}))
				assert.NotEmpty(t, next.ID, "the server takes back what was shown")
			})
		})
	}
}

// A request that is chained to a joined answer finds all turns of that answer on the server.
func TestOfficialSDKChainsToAJoinedResponse(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Call(editFile, path), fakellm.Text("Done."))
		client := served(server, middleware.New(todos(), unhurried()))
		response, _ := askResponses(t, client, unary, responsesParams(responses.ResponseNewParamsInputUnion{OfString: openai.String("Write a parser.")}))
		result := responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(response.Output[len(response.Output)-1].AsFunctionCall().CallID)}
		result.Output.OfString = openai.String("done")
		p := responsesParams(responses.ResponseNewParamsInputUnion{
			OfInputItemList: responses.ResponseInputParam{{OfFunctionCallOutput: &result}},
		})
		p.PreviousResponseID = openai.String(response.ID)
		next, texts := askResponses(t, client, unary, p)
		assert.Equal(t, []string{"Done."}, texts)
		assert.Equal(t, "resp_3", next.ID)
		requests := server.Requests()
		require.Len(t, requests, 3)
		assert.Equal(t, "resp_2", requests[2].JSON()["previous_response_id"])
	})
}

func todos() todo.Provider {
	return todo.Static(todo.Todo{Content: "Write the parser", Status: todo.InProgress})
}

func unhurried() middleware.Option {
	return middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})
}
