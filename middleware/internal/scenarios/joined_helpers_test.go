package scenarios_test

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

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// callsIn returns the fragments of all calls.
func callsIn(chunks []chunk) []openai.ToolCall {
	var all []openai.ToolCall
	for _, c := range chunks {
		for _, choice := range c.Choices {
			all = append(all, choice.Delta.ToolCalls...)
		}
	}
	return all
}

// event returns the payloads as a stream of events.
func event(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		b.WriteString("data: " + p + "\n\n")
	}
	return b.String()
}

// chunk is a chunk in the SDK's type.
type chunk = openai.ChatCompletionStreamResponse

// pauseArgs are the arguments of a pause that is accepted.
const pauseArgs = scenario.BlockedArguments

// draft is the first turn of most cases.
var draft = fakellm.Text("Plan.")

// draftShown is the chunks that are shown of draft in a continued call.
var draftShown = []string{"role", `"Plan."`}

// deltaChunk returns a chunk with the delta, under another envelope than draft's.
func deltaChunk(delta string) string { return finishChunk(delta, "") }

// finishChunk returns a chunk with the delta and a finish reason; "" is none. More
// are further members of the chunk.
func finishChunk(delta, reason string, more ...string) string {
	finish := "null"
	if reason != "" {
		finish = strconv.Quote(reason)
	}
	return rawChunk(`{"index":0,"delta":`+delta+`,"finish_reason":`+finish+`}`, more...)
}

// rawChunk returns a chunk with the choices. More are further members of it.
func rawChunk(choices string, more ...string) string {
	return `{"id":"chatcmpl-other","object":"chunk-of-another","created":7,"model":"other-model","choices":[` +
		choices + `]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// tokens returns a usage member.
func tokens(prompt, completion int) string {
	return fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`,
		prompt, completion, prompt+completion)
}

// calls returns a delta with fragments of tool calls, each given as "index id type name arguments", with _ for a
// missing part.
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

// show describes a chunk in one line: what it adds, in the order of the SDK's
// fields. Fragments of calls are written as calls takes them, in brackets.
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

// readBySDK reads a turn with the SDK's own client, as the first answer of a
// server.
func readBySDK(t *testing.T, turn fakellm.Turn) ([]chunk, error) {
	t.Helper()
	server := fakellm.Start(turn)
	defer server.Close()
	s, err := scenario.SDKClient(scenario.MemoryConfig(server)).Stream(t.Context(), scenario.RequestWithUsage())
	if err != nil {
		return nil, err
	}
	return scenario.ReadAll(s)
}

// joinOn streams the turns through a client in memory. It allows as many
// continuations as there are turns for.
func joinOn(ctx context.Context, m scenario.Mode, turns []fakellm.Turn) scenario.Answer {
	server := fakellm.Start(turns...)
	defer server.Close()
	mw := middleware.New(scenario.TwoTodos(), scenario.Unattended(), scenario.AtMost(max(len(turns)-1, 1)))
	return scenario.ReadStream(ctx, m.MemoryClient(server, mw), scenario.Request())
}

// readJoined streams the turns as joinOn does and returns the chunks, for streams
// whose calls an answer can't hold.
func readJoined(
	t *testing.T, m scenario.Mode, turns []fakellm.Turn, options ...middleware.Option,
) ([]chunk, middleware.Outcome, error) {
	t.Helper()
	server := fakellm.NewServer(t, turns...)
	mw := middleware.New(scenario.TwoTodos(), append([]middleware.Option{scenario.Unattended(), scenario.AtMost(max(len(turns)-1, 1))}, options...)...)
	s, err := scenario.Open(t.Context(), m.MemoryClient(server, mw), scenario.RequestWithUsage())
	require.NoError(t, err)
	chunks, err := scenario.ReadAll(s)
	return chunks, s.Outcome(), err
}

// joinCase is a list of turns, and the joined stream that they become.
type joinCase struct {
	name    string
	turns   []fakellm.Turn
	options []middleware.Option
	want    []string
}

// pair returns the turns of a call with one continuation.
func pair(first fakellm.Turn, more ...fakellm.Turn) []fakellm.Turn {
	return append([]fakellm.Turn{first}, more...)
}

func (c joinCase) run(t *testing.T, m scenario.Mode) {
	t.Helper()
	server := fakellm.NewServer(t, c.turns...)
	options := append([]middleware.Option{scenario.Unattended(), scenario.AtMost(max(len(c.turns)-1, 1))}, c.options...)
	got := scenario.ReadStream(t.Context(), m.HTTPClient(server, middleware.New(scenario.TwoTodos(), options...)),
		scenario.Request())
	require.NoError(t, got.Err)
	assert.Equal(t, c.want, showAll(got.Chunks))
	assert.Len(t, server.Requests(), len(c.turns), "turns")
	first, err := readBySDK(t, c.turns[0])
	require.NoError(t, err)
	requireOneEnvelope(t, first, got.Chunks)
}

func runJoinCases(t *testing.T, cases []joinCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.StreamModes(), c.run)
		})
	}
}

// envelope holds the fields that are the same in all chunks of a stream.
type envelope struct {
	ID, Object, Model string
	Created           int64
}

func envelopeOf(c chunk) envelope { return envelope{c.ID, c.Object, c.Model, c.Created} }

// requireOneEnvelope checks that a joined stream begins with the chunks of turn 1
// up to its finish, unchanged, and that all later chunks have the envelope of the
// first chunk of turn 1 with an id.
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

// concat returns the lists as one.
func concat(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// requireRelayed checks that the chunks are those of a turn that was not
// continued. Its finish may come in a chunk of its own.
func requireRelayed(t *testing.T, want, got []chunk) {
	t.Helper()
	if !assert.ObjectsAreEqual(want, got) {
		require.Equal(t, showAll(splitFinish(want)), showAll(got))
	}
}

// splitFinish returns the chunks with the first finish in a chunk of its own. That
// is how the engine shows a finish with text while it waits for what follows.
func splitFinish(chunks []chunk) []chunk {
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

// doneShown is the chunks that are shown of done after draft, in the simplest shape.
var doneShown = []string{`"\n\nDone."`, "finish stop", "usage 10/10/20 alone"}

func done() fakellm.Turn { return fakellm.Text("Done.") }

// answerShapes are the shapes in which providers send answers.
var answerShapes = map[string]func(fakellm.Turn) fakellm.Turn{
	"plain":           func(t fakellm.Turn) fakellm.Turn { return t },
	"OneChunk":        fakellm.OneChunk.Apply,
	"RoleEveryChunk":  fakellm.RoleEveryChunk.Apply,
	"TextLast":        fakellm.TextLast.Apply,
	"Legacy":          fakellm.Legacy.Apply,
	"WholeCalls":      fakellm.WholeCalls.Apply,
	"SplitName":       fakellm.SplitName.Apply,
	"RepeatName":      fakellm.RepeatName.Apply,
	"EmptyFragments":  fakellm.EmptyFragments.Apply,
	"Interleaved":     fakellm.Interleaved.Apply,
	"Batched":         fakellm.Batched.Apply,
	"NoIndex":         fakellm.NoIndex.Apply,
	"SameIndex":       fakellm.SameIndex.Apply,
	"StartIndex 5":    func(t fakellm.Turn) fakellm.Turn { return t.StartIndex(5) },
	"StartIndex -1":   func(t fakellm.Turn) fakellm.Turn { return t.StartIndex(-1) },
	"NoType":          fakellm.NoType.Apply,
	"RepeatType":      fakellm.RepeatType.Apply,
	"RepeatID":        fakellm.RepeatID.Apply,
	"NoFinish":        fakellm.NoFinish.Apply,
	"FinishWithText":  fakellm.FinishWithText.Apply,
	"FinishTwice":     fakellm.FinishTwice.Apply,
	"NullFinishLast":  fakellm.NullFinishLast.Apply,
	"UsageOnFinish":   fakellm.UsageOnFinish.Apply,
	"UsageEveryChunk": fakellm.UsageEveryChunk.Apply,
	"UsageTwice":      fakellm.UsageTwice.Apply,
	"NoUsage":         fakellm.Turn.NoUsage,
	"AzureFirst":      fakellm.AzureFirst.Apply,
	"ChangeID":        fakellm.ChangeID.Apply,
	"NoDone":          fakellm.Turn.NoDone,
	"Comments":        fakellm.Turn.Comments,
	"CRLF":            fakellm.Turn.CRLF,
	"many oddities": func(t fakellm.Turn) fakellm.Turn {
		return t.Comments().With(
			fakellm.SplitName, fakellm.RepeatID, fakellm.RepeatType, fakellm.EmptyFragments, fakellm.FinishTwice,
			fakellm.NullFinishLast, fakellm.UsageTwice, fakellm.AzureFirst, fakellm.ChangeID, fakellm.RoleEveryChunk,
		)
	},
}

// joinTexts returns the text of two joined turns: a blank line stands between them.
func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	switch {
	case strings.HasSuffix(a, "\n\n"):
		return a + b
	case strings.HasSuffix(a, "\n"):
		return a + "\n" + b
	}
	return a + "\n\n" + b
}

// requireWellFormedEnd checks that a stream has one finish, in its last chunk with
// choices, and at most one usage, which a client that adds them up counts once.
func requireWellFormedEnd(t *testing.T, chunks []chunk) {
	t.Helper()
	finishes, usages := 0, 0
	for i, c := range chunks {
		if len(c.Choices) > 0 {
			assert.Zero(t, finishes, "choice after the finish in chunk %d", i)
		}
		if hasFinish(c) {
			finishes++
		}
		if c.Usage != nil {
			usages++
		}
	}
	assert.Equal(t, 1, finishes, "finishes")
	assert.LessOrEqual(t, usages, 1, "usages")
}
