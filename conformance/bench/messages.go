package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/carryon-go/carryon/adapters/transport"
)

// messagesPromises are about the transport with Anthropic's Messages.
func messagesPromises() []promise {
	return []promise{
		{"Messages under anthropic-sdk-go, loopback", "<= 4.5% over bare", func(pairs int) result {
			server := loopback(messagesTurn(chunks, "tool_use"))
			defer server.Close()
			ratio, _ := anthropicPair(server.URL, server.Client().Transport).compare(pairs)
			return percent(4.5, ratio)
		}},
		{"Messages under anthropic-sdk-go, in memory", "<= 4.5% over bare", func(pairs int) result {
			ratio, _ := anthropicPair("http://bench", inMemory(messagesTurn(manyChunks, "tool_use"))).compare(pairs)
			return percent(4.5, ratio)
		}},
		{"Messages: relay with nothing to do, per event", "<= 0.12 chunks", func(pairs int) result {
			body := inMemory(messagesTurn(relayedEvents, "tool_use"))
			return relay(pairs, body, messagesPair(body).carried)
		}},
		{"Messages: relay, allocations per event", "0", func(int) result {
			return allocatedPerChunk(func(events []string) pair { return messagesPair(inMemory(messagesTurn(len(events), "tool_use"))) })
		}},
		{"Messages: event of a later turn", "<= 1.8 chunks", func(pairs int) result { return laterMessagesTurn(pairs) }},
	}
}

// messagesEvent is an event with its name.
func messagesEvent(kind, members string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + members + "}\n\n"
}

// messagesTurn is a stream of that many pieces of text, in the form that Anthropic sends: with padding after each
// piece.
func messagesTurn(texts int, reason string) []string {
	block := func(index int, content string) []string {
		return []string{
			messagesEvent("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, index, content)),
			messagesEvent("content_block_stop", fmt.Sprintf(`,"index":%d`, index)),
		}
	}
	text := block(0, `{"type":"text","text":""}`)
	events := []string{messagesEvent("message_start", `,"message":{"id":"msg_01QC4g3HwBThD4BaNtBckFDJ","type":"message","role":"assistant",`+
		`"model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":1}}`), text[0]}
	for i := range texts {
		events = append(events, messagesEvent("content_block_delta",
			fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}%s`, word, strings.Repeat(" ", i*7%16))))
	}
	events = append(events, text[1])
	if reason == "tool_use" {
		events = append(events, block(1, `{"type":"tool_use","id":"toolu_01","name":"edit_file","input":{}}`)...)
	}
	return append(events, messagesEvent("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":30}`, reason)),
		messagesEvent("message_stop", ""))
}

// anthropicPair reads a stream of the official SDK bare and over the transport.
func anthropicPair(url string, base http.RoundTripper) pair {
	reader := func(through http.RoundTripper) func() {
		client := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("no key"), option.WithHTTPClient(&http.Client{Transport: through}))
		params := sdk.MessageNewParams{
			Model: "m", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Go on."))},
			Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{Name: "edit_file"}}},
		}
		return func() {
			stream := client.Messages.NewStreaming(context.Background(), params)
			var message sdk.Message
			for stream.Next() {
				must(message.Accumulate(stream.Current()))
			}
			must(stream.Err())
			must(stream.Close())
		}
	}
	return pair{reader(base), reader(transport.New(base, openTodos()))}
}

// messagesPair reads a stream bare and through the transport.
func messagesPair(base memory) pair {
	carried, buffer, request := transport.New(base, openTodos()), make([]byte, 32<<10), wireRequest(0)
	return pair{
		func() { drain(postTo(base, "/messages", request), buffer) },
		func() { drain(postTo(carried, "/messages", request), buffer) },
	}
}

// laterMessagesTurn measures how long an event of the second turn takes to come
// through.
func laterMessagesTurn(pairs int) result {
	base := &turns{first: string(inMemory(messagesTurn(1, "end_turn"))), second: string(inMemory(messagesTurn(chunks, "end_turn")))}
	carried, buffer := transport.New(base, openTodos()), make([]byte, 32<<10)
	took := repeated(pairs, func() time.Duration {
		drain(postTo(carried, "/messages", wireRequest(0)), buffer)
		return time.Since(base.continued)
	})
	return atMost(1.8, took.over(chunks))
}
