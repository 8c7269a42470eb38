package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// Chunk is what the SDK calls a chunk.
type chunk = openai.ChatCompletionStreamResponse

// What a good reason for a pause is, as a call gives it and as it is shown.
const (
	goodReason = "The grammar file grammar.ebnf is missing"
	goodArgs   = `{"reason":"The grammar file grammar.ebnf is missing"}`
	goodNotice = "Task paused: " + goodReason
)

// draft is the turn that most cases continue.
var draft = carryontest.Text("Plan.")

// What is shown of it, before whatever follows.
var draftShown = []string{"role", `"Plan."`}

// says returns a chunk of another provider's, that adds the delta.
func says(delta string) string { return ends(delta, "") }

// ends returns a chunk with a finish reason; "" is none. More are further
// members of the chunk.
func ends(delta, reason string, more ...string) string {
	finish := "null"
	if reason != "" {
		finish = strconv.Quote(reason)
	}
	return rawChunk(`{"index":0,"delta":`+delta+`,"finish_reason":`+finish+`}`, more...)
}

// rawChunk returns a chunk with the choices.
func rawChunk(choices string, more ...string) string {
	return `{"id":"chatcmpl-other","object":"chunk-of-another","created":7,"model":"other-model","choices":[` +
		choices + `]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// tokens returns a usage member.
func tokens(prompt, completion int) string {
	return fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`,
		prompt, completion, prompt+completion)
}

// calls returns the delta of fragments of tool calls, each written as
// "index id type name arguments", with _ for what is left out.
func calls(fragments ...string) string {
	list := make([]string, 0, len(fragments))
	for _, f := range fragments {
		list = append(list, fragmentJSON(f))
	}
	return `{"tool_calls":[` + strings.Join(list, ",") + `]}`
}

func fragmentJSON(f string) string {
	part := strings.SplitN(f, " ", 5)
	var call, function []string
	add := func(to *[]string, name, value string, literal bool) {
		if value == "_" {
			return
		}
		if !literal {
			quoted, _ := json.Marshal(value)
			value = string(quoted)
		}
		*to = append(*to, strconv.Quote(name)+":"+value)
	}
	add(&call, "index", part[0], true)
	add(&call, "id", part[1], false)
	add(&call, "type", part[2], false)
	add(&function, "name", part[3], false)
	add(&function, "arguments", part[4], false)
	call = append(call, `"function":{`+strings.Join(function, ",")+`}`)
	return "{" + strings.Join(call, ",") + "}"
}

// show writes a chunk as a golden has it: what it adds, in the order of the
// SDK's fields. Calls are written as for calls, in brackets.
func show(c chunk) string {
	var parts []string
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			parts = append(parts, fmt.Sprintf("choice %d:", choice.Index))
		}
		parts = append(parts, showDelta(choice.Delta)...)
		if choice.FinishReason != "" {
			parts = append(parts, "finish "+string(choice.FinishReason))
		}
	}
	if u := c.Usage; u != nil {
		parts = append(parts, fmt.Sprintf("usage %d/%d/%d", u.PromptTokens, u.CompletionTokens, u.TotalTokens))
		if len(c.Choices) == 0 {
			parts = append(parts, "alone")
		}
	}
	if len(c.Choices) == 0 && c.Usage == nil {
		parts = append(parts, "no choices")
	}
	return strings.Join(parts, " ")
}

func showDelta(d openai.ChatCompletionStreamChoiceDelta) []string {
	var parts []string
	if d.Role != "" {
		parts = append(parts, "role")
	}
	if d.ReasoningContent != "" {
		parts = append(parts, "thinks "+strconv.Quote(d.ReasoningContent))
	}
	if d.Content != "" {
		parts = append(parts, strconv.Quote(d.Content))
	}
	if d.Refusal != "" {
		parts = append(parts, "refuses "+strconv.Quote(d.Refusal))
	}
	if f := d.FunctionCall; f != nil {
		parts = append(parts, "function "+orNone(f.Name)+" "+orNone(f.Arguments))
	}
	for _, call := range d.ToolCalls {
		index := "_"
		if call.Index != nil {
			index = strconv.Itoa(*call.Index)
		}
		parts = append(parts, "["+strings.Join([]string{
			index, orNone(call.ID), orNone(string(call.Type)), orNone(call.Function.Name), orNone(call.Function.Arguments),
		}, " ")+"]")
	}
	return parts
}

func orNone(s string) string {
	if s == "" {
		return "_"
	}
	return s
}

func showAll(chunks []chunk) []string {
	var all []string
	for _, c := range chunks {
		all = append(all, show(c))
	}
	return all
}

// withUsage is the request of the streams.
func withUsage() openai.ChatCompletionRequest {
	request := ask()
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	return request
}

// alone reads a turn with the SDK's own client, as the first answer of a
// server.
func alone(t *testing.T, turn carryontest.Turn) ([]chunk, error) {
	t.Helper()
	server := carryontest.Start(turn)
	defer server.Close()
	s, err := bare(inMemory(server)).stream(t.Context(), withUsage())
	if err != nil {
		return nil, err
	}
	return readAll(s)
}

// atMost allows n continuations in a row.
func atMost(n int) middleware.Option {
	return middleware.WithLimits(continuation.Limits{MaxAttempts: n, MinInterval: continuation.Off})
}

// joinOn streams the turns through a client in memory. Only the turns given are
// sent.
func joinOn(ctx context.Context, m mode, turns []carryontest.Turn) answer {
	server := carryontest.Start(turns...)
	defer server.Close()
	mw := middleware.New(twoTodos, atMost(max(len(turns)-1, 1)))
	return stream(ctx, m.clientIn(server, mw), ask())
}

// readJoined streams the turns as joinOn does, for streams whose calls have no
// place in an answer.
func readJoined(
	t *testing.T, m mode, turns []carryontest.Turn, options ...middleware.Option,
) ([]chunk, middleware.Outcome, error) {
	t.Helper()
	server := carryontest.NewServer(t, turns...)
	mw := middleware.New(twoTodos, append([]middleware.Option{atMost(max(len(turns)-1, 1))}, options...)...)
	s, err := open(t.Context(), m.clientIn(server, mw), withUsage())
	require.NoError(t, err)
	chunks, err := readAll(s)
	return chunks, s.Outcome(), err
}

// spliceCase is a manner of turns, and what the joined stream is to be.
type spliceCase struct {
	name    string
	turns   []carryontest.Turn
	options []middleware.Option
	want    []string
}

// pair returns the turns of a case with one continuation.
func pair(first, second carryontest.Turn) []carryontest.Turn {
	return []carryontest.Turn{first, second}
}

func (c spliceCase) run(t *testing.T, m mode) {
	t.Helper()
	server := carryontest.NewServer(t, c.turns...)
	options := append([]middleware.Option{atMost(max(len(c.turns)-1, 1))}, c.options...)
	got := stream(t.Context(), m.clientOn(server, middleware.New(twoTodos, options...)), ask())
	require.NoError(t, got.Err)
	assert.Equal(t, c.want, showAll(got.Chunks))
	assert.Len(t, server.Requests(), len(c.turns), "turns")
	first, err := alone(t, c.turns[0])
	require.NoError(t, err)
	requireOneEnvelope(t, first, got.Chunks)
}

func runSpliceCases(t *testing.T, cases []spliceCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, streamModes, c.run)
		})
	}
}

// envelope is what all chunks of a stream have in common.
type envelope struct {
	ID, Object, Model string
	Created           int64
}

func envelopeOf(c chunk) envelope { return envelope{c.ID, c.Object, c.Model, c.Created} }

// requireOneEnvelope checks that a joined stream begins with turn 1 as it came
// up to its finish, and that everything after that is under the envelope of
// turn 1's first chunk with an id.
func requireOneEnvelope(t *testing.T, first, joined []chunk) {
	t.Helper()
	relayed := 0
	for relayed < len(first) && !hasFinish(first[relayed]) {
		relayed++
	}
	require.GreaterOrEqual(t, len(joined), relayed)
	for i := range relayed {
		require.Equal(t, first[i], joined[i], "chunk %d of turn 1", i)
	}
	want := envelopeOf(first[0])
	for _, c := range first {
		if c.ID != "" {
			want = envelopeOf(c)
			break
		}
	}
	for i, c := range joined[relayed:] {
		assert.Equal(t, want, envelopeOf(c), "envelope of chunk %d: %s", relayed+i, show(c))
	}
}

func hasFinish(c chunk) bool {
	for _, choice := range c.Choices {
		if choice.Index == 0 && choice.FinishReason != "" {
			return true
		}
	}
	return false
}

// textOf returns the text of the first choice.
func textOf(chunks []chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		for _, choice := range c.Choices {
			if choice.Index == 0 {
				b.WriteString(choice.Delta.Content)
			}
		}
	}
	return b.String()
}

// lines returns all the lists as one.
func lines(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// requireRelayed checks that the chunks are those of a turn that was not
// continued, of which the finish may have been held back.
func requireRelayed(t *testing.T, want, got []chunk) {
	t.Helper()
	if !assert.ObjectsAreEqual(want, got) {
		require.Equal(t, showAll(split(want)), showAll(got))
	}
}

// split returns the chunks with the text of the first finish in a chunk of its
// own, which is how it is shown if what follows is waited for.
func split(chunks []chunk) []chunk {
	at := slices.IndexFunc(chunks, hasFinish)
	if at < 0 {
		return chunks
	}
	text, finish := chunks[at], chunks[at]
	text.Usage = nil
	text.Choices, finish.Choices = slices.Clone(text.Choices), slices.Clone(finish.Choices)
	for i := range text.Choices {
		text.Choices[i].FinishReason = ""
		finish.Choices[i].Delta = openai.ChatCompletionStreamChoiceDelta{}
	}
	return slices.Concat(chunks[:at], []chunk{text, finish}, chunks[at+1:])
}
