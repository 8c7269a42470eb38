package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/conformance/anthropic"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The list that the tests work on.
var todos = todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress})

// unhurried has no interval between prompts, so that no test waits.
var unhurried = middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})

// unattended runs have no person, so that it does not matter how a text ends.
var unattended = middleware.WithApprovalMode(continuation.ApprovalYOLO)

// blocked is a reason to pause that is accepted.
const blocked = "The grammar file grammar.ebnf is missing"

type object = map[string]any

// turn is what the provider answers to one request.
type turn struct {
	blocks []object
	stop   string
	cut    bool // the stream ends in the middle of the last block
	status int  // instead of an answer
}

func text(s string) object { return object{"type": "text", "text": s} }

func thought(s string) object {
	return object{"type": "thinking", "thinking": s, "signature": "c2lnbmVk"}
}

func use(name string, input object) object {
	return object{"type": "tool_use", "id": "toolu_" + name, "name": name, "input": input}
}

func pause(reason string) object { return use("todo_pause", object{"reason": reason}) }

func says(blocks ...object) turn { return turn{blocks: blocks, stop: "end_turn"} }

func uses(blocks ...object) turn { return turn{blocks: blocks, stop: "tool_use"} }

// provider answers requests in Anthropic's own format, in order.
type provider struct {
	*httptest.Server

	mu    sync.Mutex
	turns []turn
	asked []object
}

func newProvider(t *testing.T, turns ...turn) *provider {
	t.Helper()
	p := &provider{turns: turns}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var body object
	if r.URL.Path != "/v1/messages" || json.NewDecoder(r.Body).Decode(&body) != nil || len(p.asked) == len(p.turns) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	p.asked = append(p.asked, body)
	n := len(p.asked)
	answer := p.turns[n-1]
	message := object{
		"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": "model-1", "content": answer.blocks,
		"stop_reason": answer.stop, "stop_sequence": nil, "usage": usage(10*n, 5),
	}
	if body["stream"] == true && answer.status == 0 {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events(message, answer))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if answer.status != 0 {
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(answer.status)
		message = object{"type": "error", "error": object{"type": "overloaded_error", "message": "Overloaded"}}
	}
	_, _ = io.WriteString(w, toJSON(message))
}

// requests returns what the provider was asked.
func (p *provider) requests() []object {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func usage(input, output any) object {
	return object{
		"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 3, "output_tokens": output,
	}
}

// at returns the value at a path in decoded JSON, or nil.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			inner, _ := v.(object)
			v = inner[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

func toJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// events renders a message as a stream. Every text and input comes in two deltas.
func events(message object, t turn) string {
	var b strings.Builder
	event := func(kind string, fields object) {
		fields["type"] = kind
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, toJSON(fields))
	}
	end := object{"stop_reason": message["stop_reason"], "stop_sequence": nil}
	begun := maps.Clone(message)
	begun["content"], begun["stop_reason"] = []object{}, nil
	begun["usage"] = usage(at(message, "usage", "input_tokens"), 1)
	event("message_start", object{"message": begun})
	event("ping", object{})
	for i, block := range t.blocks {
		begun, deltas := stream(block)
		event("content_block_start", object{"index": i, "content_block": begun})
		for _, delta := range deltas {
			event("content_block_delta", object{"index": i, "delta": delta})
		}
		if t.cut && i == len(t.blocks)-1 {
			return b.String()
		}
		event("content_block_stop", object{"index": i})
	}
	event("message_delta", object{"delta": end, "usage": object{"output_tokens": at(message, "usage", "output_tokens")}})
	event("message_stop", object{})
	return b.String()
}

// stream returns what a block begins with, and its deltas.
func stream(block object) (begun object, deltas []object) {
	cut := func(kind, key, value string) {
		for _, piece := range []string{value[:len(value)/2], value[len(value)/2:]} {
			deltas = append(deltas, object{"type": kind, key: piece})
		}
	}
	switch block["type"] {
	case "text":
		cut("text_delta", "text", fmt.Sprint(block["text"]))
		return text(""), deltas
	case "thinking":
		cut("thinking_delta", "thinking", fmt.Sprint(block["thinking"]))
		deltas = append(deltas, object{"type": "signature_delta", "signature": block["signature"]})
		return object{"type": "thinking", "thinking": "", "signature": ""}, deltas
	}
	cut("input_json_delta", "partial_json", toJSON(block["input"]))
	return object{"type": block["type"], "id": block["id"], "name": block["name"], "input": object{}}, deltas
}

// client returns the SDK's client for the provider, continued.
func (p *provider) client(options ...middleware.Option) *anthropic.Client {
	return anthropic.Wrap(p.bare(), middleware.New(todos, append([]middleware.Option{unhurried, unattended}, options...)...))
}

// bare returns the SDK's client itself.
func (p *provider) bare() sdk.Client {
	return sdk.NewClient(
		option.WithBaseURL(p.URL), option.WithAPIKey("no key"), option.WithHTTPClient(p.Client()), option.WithMaxRetries(0),
	)
}

// params is the request of the tests.
func params() sdk.MessageNewParams {
	return sdk.MessageNewParams{
		Model: "model-1", MaxTokens: 1000,
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Write the parser."))},
		Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
			Name: "edit_file", InputSchema: sdk.ToolInputSchemaParam{Properties: object{"path": object{"type": "string"}}},
		}}},
	}
}

// service is Messages, the SDK's or carryon's.
type service interface {
	New(context.Context, sdk.MessageNewParams, ...option.RequestOption) (*sdk.Message, error)
	NewStreaming(context.Context, sdk.MessageNewParams, ...option.RequestOption) *ssestream.Stream[sdk.MessageStreamEventUnion]
}

// inBothWays runs a test with a whole answer and with a stream.
func inBothWays(t *testing.T, test func(t *testing.T, ask asker)) {
	t.Helper()
	t.Run("whole", func(t *testing.T) { t.Parallel(); test(t, askWhole) })
	t.Run("stream", func(t *testing.T) { t.Parallel(); test(t, askStream) })
}

type asker func(*testing.T, service, sdk.MessageNewParams) (*sdk.Message, error)

func askWhole(t *testing.T, messages service, p sdk.MessageNewParams) (*sdk.Message, error) {
	t.Helper()
	return messages.New(t.Context(), p)
}

// askStream accumulates the stream with the SDK, and checks that it is well formed.
func askStream(t *testing.T, messages service, p sdk.MessageNewParams) (*sdk.Message, error) {
	t.Helper()
	stream := messages.NewStreaming(t.Context(), p)
	defer stream.Close()
	var message sdk.Message
	var f form
	for stream.Next() {
		event := stream.Current()
		require.NoError(t, message.Accumulate(event))
		f.read(t, event)
	}
	if stream.Err() == nil {
		require.Equal(t, [3]int{1, 1, 1}, [3]int{f.starts, f.deltas, f.stops}, "starts, deltas and stops of the message")
	}
	return &message, stream.Err()
}

// form checks the form of a stream.
type form struct {
	starts, deltas, stops int // of the message
	blocks                int64
	open                  map[int64]bool
}

func (f *form) read(t *testing.T, event sdk.MessageStreamEventUnion) {
	t.Helper()
	require.Equal(t, event.Type != "message_start", f.starts == 1, "it begins with message_start")
	require.Zero(t, f.stops, "it ends with message_stop")
	switch event.Type {
	case "message_start":
		f.starts++
		f.open = map[int64]bool{}
	case "content_block_start":
		require.Equal(t, f.blocks, event.Index, "indexes are dense and rise")
		require.Empty(t, f.open, "blocks come one after the other")
		f.blocks++
		f.open[event.Index] = true
	case "content_block_delta":
		require.True(t, f.open[event.Index], "deltas belong to a block")
	case "content_block_stop":
		require.True(t, f.open[event.Index], "a block ends once")
		delete(f.open, event.Index)
	case "message_delta":
		require.Empty(t, f.open, "all blocks have ended")
		require.NotEmpty(t, event.Delta.StopReason)
		f.deltas++
	case "message_stop":
		f.stops++
	}
}

// textOf returns the text of a message.
func textOf(m *sdk.Message) string {
	var text strings.Builder
	for _, block := range m.Content {
		text.WriteString(block.Text)
	}
	return text.String()
}

// callsOf returns the names of the tools that a message calls.
func callsOf(m *sdk.Message) (names []string) {
	for _, block := range m.Content {
		if block.Type == "tool_use" {
			names = append(names, block.Name)
		}
	}
	return names
}
