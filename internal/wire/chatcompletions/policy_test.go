package chatcompletions_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// chats has the methods that programs use of a client, which is go-openai's or carryon's.
type chats interface {
	CreateChatCompletion(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)
}

// typed and onTheWire are the two ways to have go-openai continued.
func typed(config openai.ClientConfig, mw *middleware.Middleware) (chats, opener) {
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), mw)
	return client, func(ctx context.Context, r openai.ChatCompletionRequest) (stream, error) {
		return client.CreateChatCompletionStream(ctx, r)
	}
}

func onTheWire(config openai.ClientConfig, mw *middleware.Middleware) (chats, opener) {
	client := carryopenai.NewClientWithConfig(config, mw)
	return client, func(ctx context.Context, r openai.ChatCompletionRequest) (stream, error) {
		return client.CreateChatCompletionStream(ctx, r)
	}
}

type opener func(context.Context, openai.ChatCompletionRequest) (stream, error)

// stream is the common interface of both clients' streams.
type stream interface {
	Recv() (openai.ChatCompletionStreamResponse, error)
	Close() error
}

// told is the result of a call: the program's reading, and carryon's outcome and events.
type told struct {
	Reading  quirks.Reading
	Events   []string
	Outcome  middleware.Outcome
	Requests []fakellm.Request
	Marks    []bool
}

// parity plays a script to both clients.
type parity struct {
	todos    todo.Provider
	opts     []middleware.Option
	attended bool // a person is there: it matters how a text ends
	disabled bool // continuing is turned off
	ctx      func(context.Context) context.Context
	request  func(*openai.ChatCompletionRequest)
	turns    []fakellm.Turn
	calls    int // number of calls, one after the other; 0 means 1
}

func (p parity) play(t *testing.T, w wiretest.Way, wrap func(openai.ClientConfig, *middleware.Middleware) (chats, opener)) []told {
	t.Helper()
	server := fakellm.NewServer(t, p.turns...)
	events := carryontest.NewRecorder()
	todos := p.todos
	if todos == nil {
		todos = wiretest.TwoTodos
	}
	options := []middleware.Option{wiretest.Unhurried, middleware.WithObserver(events.Observer())}
	if !p.attended {
		options = append(options, wiretest.Unattended)
	}
	mw := middleware.New(todos, slices.Concat(options, p.opts)...)
	require.NoError(t, mw.Settings().SetTodoContinuation(t.Context(), "", !p.disabled))
	wire := &wiretest.Tap{Base: server.Transport()}
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = fakellm.BaseURL, &http.Client{Transport: wire}
	client, open := wrap(config, mw)

	var all []told
	for range max(p.calls, 1) {
		events.Clear()
		ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), "s"))
		if p.ctx != nil {
			ctx = p.ctx(ctx)
		}
		request := openai.ChatCompletionRequest{
			Model: "test-model",
			Messages: []openai.ChatCompletionMessage{
				{Role: openai.ChatMessageRoleSystem, Content: "You write code."},
				{Role: openai.ChatMessageRoleUser, Content: "Write and test the parser."},
			},
			Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: "edit_file", Parameters: map[string]any{"type": "object"},
			}}},
		}
		if p.request != nil {
			p.request(&request)
		}
		got := told{Reading: readTurn(ctx, w, client, open, request)}
		got.Events, got.Outcome = withoutTexts(events.Lines()), outcomes.Last()
		all = append(all, got)
	}
	for i, r := range server.Requests() {
		last := &all[len(all)-1]
		last.Requests, last.Marks = append(last.Requests, r), append(last.Marks, wiretest.IsContinuation(wire.Seen()[i]))
	}
	return all
}

func readTurn(ctx context.Context, w wiretest.Way, client chats, open opener, request openai.ChatCompletionRequest) quirks.Reading {
	if !w.Stream {
		answer, err := client.CreateChatCompletion(ctx, request)
		r := quirks.Reading{Err: quirks.Problem(err), Usage: goOpenAIUsage(answer.Usage)}
		if len(answer.Choices) > 0 {
			choice := answer.Choices[0]
			if f := choice.Message.FunctionCall; f != nil {
				r.Calls = append(r.Calls, quirks.Call{Name: f.Name, Arguments: f.Arguments})
			}
			r.Text, r.Reasoning = r.Text+choice.Message.Content, r.Reasoning+choice.Message.ReasoningContent
			r.Finish += string(choice.FinishReason)
			for _, call := range choice.Message.ToolCalls {
				r.Calls = append(r.Calls, quirks.Call{
					ID: call.ID, Type: string(call.Type), Name: call.Function.Name, Arguments: call.Function.Arguments,
				})
			}
		}
		return r
	}
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := open(ctx, request)
	if err != nil {
		return quirks.Reading{Err: quirks.Problem(err)}
	}
	defer s.Close()
	return readStream(s)
}

// worded finds the text of an error in an event. Each client words its errors differently.
var worded = regexp.MustCompile(`(error|failed: \w+): .*$`)

func withoutTexts(lines []string) []string {
	for i := range lines {
		lines[i] = worded.ReplaceAllString(lines[i], "$1")
	}
	return lines
}

// requireParity checks that both clients give the same results.
func (p parity) requireParity(t *testing.T, w wiretest.Way) []told {
	t.Helper()
	want, got := p.play(t, w, typed), p.play(t, w, onTheWire)
	require.Len(t, got, len(want))
	for i := range want {
		a, b := want[i], got[i]
		assert.Equal(t, a.Outcome.Err != nil, b.Outcome.Err != nil)
		if a.Reading.Err != "" {
			assert.NotEmpty(t, b.Reading.Err)
			b.Reading.Err = a.Reading.Err // each client has its own wording
		}
		if a.Outcome.Paused != nil && b.Outcome.Paused != nil {
			b.Outcome.Paused = &pause.Result{
				Reason: b.Outcome.Paused.Reason, Message: b.Outcome.Paused.Message, Time: a.Outcome.Paused.Time,
			}
		}
		a.Outcome.Err, b.Outcome.Err = nil, nil
		assert.Equal(t, a.Reading, b.Reading)
		assert.Equal(t, a.Events, b.Events)
		assert.Equal(t, a.Outcome, b.Outcome)
		assert.Equal(t, a.Marks, b.Marks)
		require.Len(t, b.Requests, len(a.Requests))
		for j := range a.Requests {
			assert.Equal(t, a.Requests[j].Messages, b.Requests[j].Messages)
			assert.Equal(t, a.Requests[j].Tools, b.Requests[j].Tools)
			assert.Equal(t, sentBy(a.Requests[j]), sentBy(b.Requests[j]))
		}
	}
	return got
}

// sentBy returns the content of a request. It treats a store of false as absent.
func sentBy(r fakellm.Request) map[string]any {
	body := r.JSON()
	if body["store"] == false {
		delete(body, "store")
	}
	return body
}

var (
	down = fakellm.Status(http.StatusServiceUnavailable, `{"error":{"message":"x"}}`)
	cut  = fakellm.Text("Two three four.").CutAfter(0)
)

// scripts has a call for each way in which calls end.
var scripts = map[string]parity{
	"continued":        {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}},
	"twice":            {turns: append(wiretest.Texts("One.", "Two."), wiretest.Edit().AndText("Three."))},
	"nothing to do":    {todos: todo.Static(), turns: wiretest.Texts(wiretest.Plan)},
	"tool call":        {turns: []fakellm.Turn{wiretest.Edit().AndText("Now.")}},
	"exhausted":        {turns: wiretest.Texts("One.", "Two.", "Three.", "Four.", "Five."), calls: 2},
	"no progress":      {turns: wiretest.Texts("One.", "One.", "One.", "One.")},
	"paused":           {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked)}},
	"paused by text":   {turns: wiretest.Texts(wiretest.Plan, "I can't.\n\ntodo_pause('"+wiretest.Blocked+"')")},
	"pause rejected":   {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause("stuck").ID("p1"), wiretest.Edit()}},
	"pause beside":     {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked).AndCall("edit_file", "{}")}},
	"paused, then no":  {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked), fakellm.Text("And now?")}, calls: 2},
	"refused":          {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Status(400, `{"error":{"message":"x"}}`)}},
	"failed":           {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), down, down, down}},
	"cut":              {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), cut, cut, cut}},
	"sent once more":   {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), down, wiretest.Edit()}},
	"sent twice more":  {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), down, cut, wiretest.Edit()}},
	"asks":             {attended: true, turns: wiretest.Texts("Which one do you want?")},
	"unclear":          {attended: true, turns: wiretest.Texts("One.", "Two.")},
	"turn 1 refused":   {turns: []fakellm.Turn{fakellm.Status(429, `{"error":{"message":"x"}}`)}},
	"turn 1 cut":       {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).Cut()}},
	"length":           {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).Finish("length")}},
	"no finish":        {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).With(fakellm.NoFinish)}},
	"refusal":          {turns: []fakellm.Turn{fakellm.Text("").Refusal("No.")}},
	"no text":          {turns: wiretest.Texts(" \n", " \n", " \n", " \n")},
	"empty turns":      {turns: []fakellm.Turn{fakellm.Text(""), wiretest.Edit()}},
	"legacy call":      {turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Call("edit_file", "{}").With(fakellm.Legacy)}},
	"dry run":          {opts: []middleware.Option{middleware.WithDryRun()}, turns: wiretest.Texts(wiretest.Plan)},
	"suppressed":       {ctx: continuation.Suppress, turns: wiretest.Texts(wiretest.Plan)},
	"disabled":         {attended: true, disabled: true, turns: wiretest.Texts(wiretest.Plan)},
	"vetoed":           {opts: []middleware.Option{middleware.WithGate(func(context.Context, middleware.NextTurn) error { return errors.New("no") })}, turns: wiretest.Texts(wiretest.Plan)},
	"always declared":  {opts: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}},
	"always, paused":   {opts: []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`)}},
	"last usage":       {opts: []middleware.Option{middleware.WithUsage(middleware.UsageLastTurn)}, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).Usage(1, 2), wiretest.Edit().Usage(3, 4)}},
	"own todo_pause":   {request: func(r *openai.ChatCompletionRequest) { r.Tools[0].Function.Name = "todo_pause" }, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked)}},
	"tool choice":      {request: func(r *openai.ChatCompletionRequest) { r.ToolChoice = "none" }, turns: wiretest.Texts(wiretest.Plan)},
	"several answers":  {request: func(r *openai.ChatCompletionRequest) { r.N = 2 }, turns: wiretest.Texts(wiretest.Plan)},
	"stored":           {request: func(r *openai.ChatCompletionRequest) { r.Store = true }, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}},
	"reasoning":        {request: reasoned, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan).Reasoning("Hm, \"so\".\nYes."), wiretest.Edit().Reasoning("\"Aha\", and so on.")}},
	"from the request": {todos: todo.FromConversation(), request: listed, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}},
	"done in it":       {todos: todo.FromConversation(), request: allDone, turns: wiretest.Texts(wiretest.Plan)},
}

// reasoned is a history that carries reasoning.
func reasoned(r *openai.ChatCompletionRequest) {
	r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: "assistant", Content: "So.", ReasoningContent: "Hm."},
		openai.ChatCompletionMessage{Role: "user", Content: "Go on."})
}

// listed is a history in which the todos were written, and allDone one in which they are done.
func listed(r *openai.ChatCompletionRequest) { write(r, "pending") }

func allDone(r *openai.ChatCompletionRequest) { write(r, "completed") }

func write(r *openai.ChatCompletionRequest, status string) {
	r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: "assistant", ToolCalls: []openai.ToolCall{{
		ID: "c1", Type: "function", Function: openai.FunctionCall{
			Name: "todo_write", Arguments: `{"todos":[{"id":"7","content":"Write the \"parser\"","status":"` + status + `"}]}`,
		},
	}}}, openai.ChatCompletionMessage{Role: "tool", ToolCallID: "c1", Content: "ok"})
}

// go-openai reads the same, and carryon reports the same, in the typed client and on the wire.
func TestTransportDoesWhatTheTypedAdapterDoes(t *testing.T) {
	t.Parallel()
	for name, p := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				for _, got := range p.requireParity(t, w) {
					assert.True(t, got.Outcome.Ended)
					assert.NotEqual(t, reasons.None, got.Outcome.Reason)
				}
			})
		})
	}
}

// manners are the ways in which providers differ.
var manners = map[string]func(fakellm.Turn) fakellm.Turn{
	"azure": fakellm.AzureFirst.Apply, "batched": fakellm.Batched.Apply, "CRLF": fakellm.Turn.CRLF,
	"changing ids": fakellm.ChangeID.Apply, "comments": fakellm.Turn.Comments, "empty fragments": fakellm.EmptyFragments.Apply,
	"finish twice": fakellm.FinishTwice.Apply, "finish with text": fakellm.FinishWithText.Apply,
	"interleaved": fakellm.Interleaved.Apply, "no [DONE]": fakellm.Turn.NoDone, "no index": fakellm.NoIndex.Apply,
	"no type": fakellm.NoType.Apply, "no usage": fakellm.Turn.NoUsage, "null finish last": fakellm.NullFinishLast.Apply,
	"one chunk": fakellm.OneChunk.Apply, "ids repeated": fakellm.RepeatID.Apply, "names repeated": fakellm.RepeatName.Apply,
	"types repeated": fakellm.RepeatType.Apply, "role everywhere": fakellm.RoleEveryChunk.Apply, "same index": fakellm.SameIndex.Apply,
	"split names": fakellm.SplitName.Apply, "text last": fakellm.TextLast.Apply, "usage everywhere": fakellm.UsageEveryChunk.Apply,
	"usage on the finish": fakellm.UsageOnFinish.Apply, "usage twice": fakellm.UsageTwice.Apply, "whole calls": fakellm.WholeCalls.Apply,
	"index 1": func(t fakellm.Turn) fakellm.Turn { return t.StartIndex(1) },
}

// The same holds for every manner of answering, in the first turn and in later ones.
func TestTransportDoesWhatTheTypedAdapterDoesInEveryManner(t *testing.T) {
	t.Parallel()
	said := fakellm.Text("One. Two.").Usage(3, 4)
	called := fakellm.Text("Three.").AndCall("edit_file", `{"path":"a"}`).ID("a").AndCall("edit_file", `{"path":"b"}`).ID("b")
	beside := fakellm.Text("Three.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`).ID("p").AndCall("edit_file", `{"path":"b"}`).ID("b")
	for name, manner := range manners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				for _, turns := range [][]fakellm.Turn{
					{manner(said), called},
					{said, manner(called)},
					{said, manner(beside)},
					{said, manner(fakellm.Pause(wiretest.Blocked))},
					{manner(called)},
					{said, manner(fakellm.Text("Four.")), called},
				} {
					parity{turns: turns}.requireParity(t, w)
				}
			})
		})
	}
}

// It also holds for every answer of the quirk table that both clients can read.
func TestQuirksAreReadAsTheTypedAdapterReadsThem(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, q := range quirks.All() {
		if _, odd := q.ReadsAs[quirks.GoOpenAI]; odd || q.Misreads[quirks.GoOpenAI] != "" || strings.Contains(q.Name, "audio") {
			continue // what the SDK misreads or leaves out, carryon cannot read above it
		}
		compared++
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			typed, onWire := q.Upstream(), q.Upstream()
			want := readTyped(t.Context(), typed, q.Unary)
			got := readGoOpenAI(t.Context(), carriedOn(onWire), q.Unary)
			if want.Err != "" && got.Err != "" {
				got.Err = want.Err // each client has its own wording
			}
			assert.Equal(t, want.String(), got.String())
			assert.Len(t, onWire.Asked(), len(typed.Asked()))
		})
	}
	assert.Greater(t, compared, 100)
}

// readTyped is readGoOpenAI with the typed adapter.
func readTyped(ctx context.Context, rt http.RoundTripper, unary bool) quirks.Reading {
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = "http://upstream.test/v1", &http.Client{Transport: rt}
	client, open := typed(config, onceMore())
	return readTurn(ctx, wiretest.Way{Stream: !unary}, client, open, parserRequest())
}

// A client that the program makes with the transport behaves like the one that NewClientWithConfig returns.
func TestTransportInAnHTTPClientIsTheSame(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		p := parity{turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), wiretest.Edit()}}
		want := p.play(t, w, onTheWire)
		got := p.play(t, w, func(config openai.ClientConfig, mw *middleware.Middleware) (chats, opener) {
			base, ok := config.HTTPClient.(*http.Client)
			require.True(t, ok)
			config.HTTPClient = &http.Client{Transport: transport.New(base.Transport, mw)}
			client := openai.NewClientWithConfig(config)
			return client, func(ctx context.Context, r openai.ChatCompletionRequest) (stream, error) {
				return client.CreateChatCompletionStream(ctx, r)
			}
		})
		for i := range want {
			assert.Equal(t, want[i].Reading, got[i].Reading)
			assert.Equal(t, want[i].Events, got[i].Events)
			assert.Equal(t, want[i].Outcome, got[i].Outcome)
		}
	})
}
