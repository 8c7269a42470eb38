package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/carryon-go/carryon/adapters/transport"
)

// responsesPromises are about the Responses API, whose events have types.
func responsesPromises() []promise {
	return []promise{
		{"Responses relayed, per event", "<= 0.12 chunks", func(pairs int) result {
			body := inMemory(responsesTurn(relayedEvents))
			return relay(pairs, body, responsesRelay(body).carried)
		}},
		{"Responses relayed, allocations per event", "0", func(int) result {
			const few, many = chunks, 9 * chunks
			count := func(texts int) float64 {
				p := responsesRelay(inMemory(responsesTurn(texts)))
				return testing.AllocsPerRun(50, p.carried) - testing.AllocsPerRun(50, p.bare)
			}
			per := (count(many) - count(few)) / (many - few)
			return result{fmt.Sprintf("%.3f", per), per < 0.01}
		}},
		{"transport under openai-go on Responses, loopback", "<= 4.5% over bare", func(pairs int) result {
			server := loopback(responsesTurn(chunks))
			defer server.Close()
			base := server.Client().Transport
			ratio, _ := pair{
				readResponses(server.URL, base), readResponses(server.URL, transport.New(base, openTodos())),
			}.compare(pairs)
			return percent(4.5, ratio)
		}},
	}
}

// responsesTurn is a turn with that many text deltas and a call, as OpenAI sends
// it.
func responsesTurn(texts int) []string {
	var events []string
	add := func(kind, members string) {
		events = append(events, fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", kind, kind, len(events), members))
	}
	const response, item = "resp_01830d662ab3856501693c321345c88190b0de00f3b9975691", "msg_01830d662ab3856501693c32138de48190a4b4d7a1b2f7c9e3"
	call := `{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"edit_file","arguments":"{}"}`
	part := `"item_id":"` + item + `","output_index":0,"content_index":0,`
	add("response.created", `"response":{"id":"`+response+`","object":"response","status":"in_progress","output":[],"usage":null}`)
	add("response.output_item.added", `"output_index":0,"item":{"id":"`+item+`","type":"message","status":"in_progress","role":"assistant","content":[]}`)
	add("response.content_part.added", part+`"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}`)
	for range texts {
		add("response.output_text.delta", fmt.Sprintf(`%s"delta":%q,"logprobs":[],"obfuscation":"Pq3kX"`, part, word))
	}
	text := strings.Repeat(word, texts)
	whole := fmt.Sprintf(`{"type":"output_text","text":%q,"annotations":[],"logprobs":[]}`, text)
	message := `{"id":"` + item + `","type":"message","status":"completed","role":"assistant","content":[` + whole + `]}`
	add("response.output_text.done", fmt.Sprintf(`%s"text":%q,"logprobs":[]`, part, text))
	add("response.content_part.done", part+`"part":`+whole)
	add("response.output_item.done", `"output_index":0,"item":`+message)
	add("response.output_item.added", `"output_index":1,"item":`+call)
	add("response.output_item.done", `"output_index":1,"item":`+call)
	add("response.completed", `"response":{"id":"`+response+`","object":"response","status":"completed","output":[`+message+`,`+call+`],`+
		`"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`)
	return events
}

const responsesRequest = `{"model":"m","stream":true,"input":"Go on.","tools":[{"type":"function","name":"edit_file","parameters":{},"strict":null}]}`

// responsesRelay reads a stream bare and through the transport.
func responsesRelay(base memory) pair {
	buffer := make([]byte, 32<<10)
	read := func(through http.RoundTripper) func() {
		return func() {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://bench/v1/responses", strings.NewReader(responsesRequest))
			must(err)
			response, err := through.RoundTrip(r) //nolint:bodyclose // drain closes it
			must(err)
			drain(response.Body, buffer)
		}
	}
	return pair{read(base), read(transport.New(base, openTodos()))}
}

// readResponses returns a function that reads a stream with the official SDK.
func readResponses(url string, through http.RoundTripper) func() {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("no key"), option.WithHTTPClient(&http.Client{Transport: through}))
	asked := responses.ResponseNewParams{
		Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Go on.")},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "edit_file"}}},
	}
	return func() {
		stream := client.Responses.NewStreaming(context.Background(), asked)
		for stream.Next() {
			if stream.Current().Type == "error" {
				must(io.ErrUnexpectedEOF)
			}
		}
		must(stream.Err())
		must(stream.Close())
	}
}
