package openai

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/firstchoice"
	"github.com/carryon-go/carryon/internal/logprobs"
)

// chunks is the dialect of streams.
type chunks struct {
	usageTotals

	envelope adapter.Envelope[envelope]
	over     bool // the turn has ended: what is read next begins another
	first    firstchoice.Finder
	held     *logprobs.Queue[openai.ChatCompletionTokenLogprob] // of a continuation; nil in the caller's own turn
}

// envelope has the fields that the joined answer takes from the first turn, in
// every chunk.
type envelope struct {
	id, object, model string
	created           int64
	header            http.Header // of whole answers: a stream has its own
}

func newChunks() *chunks { return &chunks{usageTotals: newUsageTotals()} }

// Read implements [adapter.Dialect].
func (d *chunks) Read(c *openai.ChatCompletionStreamResponse, t adapter.TurnReader) {
	if d.over {
		d.over, d.held = false, new(logprobs.Queue[openai.ChatCompletionTokenLogprob])
		d.first.BeginContinuation()
	}
	d.envelope.Take(envelope{c.ID, c.Object, c.Model, c.Created, nil}, c.ID != "")
	t.Response(c.ID, c.Model)
	for i := range c.Choices {
		choice := &c.Choices[i]
		says, ends := func() bool { return saysAnything(&choice.Delta) }, func() bool { return choice.FinishReason != "" }
		readChoice(t, d.first.Read(choice.Index, says, ends), &openai.ChatCompletionMessage{
			Content:          choice.Delta.Content,
			ReasoningContent: choice.Delta.ReasoningContent,
			Refusal:          choice.Delta.Refusal,
			FunctionCall:     choice.Delta.FunctionCall,
			ToolCalls:        choice.Delta.ToolCalls,
		}, choice.FinishReason, callFragment)
	}
	if c.Usage != nil {
		d.SetTurn(*c.Usage)
		t.Usage(counts(c.Usage))
	}
}

// isFirst reports whether a choice that was read is the first one of the answer.
func (d *chunks) isFirst(c *openai.ChatCompletionStreamChoice) bool {
	return d.first.IsFirst(c.Index, func() bool { return saysAnything(&c.Delta) })
}

// saysAnything reports whether a delta has more than a role.
func saysAnything(d *openai.ChatCompletionStreamChoiceDelta) bool {
	return d.Content != "" || d.ReasoningContent != "" || d.Refusal != "" || len(d.ToolCalls) > 0 || d.FunctionCall != nil
}

// callFragment returns the index of the call that a fragment belongs to.
func callFragment(_ int, call *openai.ToolCall) int {
	if call.Index == nil {
		return adapter.NoIndex
	}
	return *call.Index
}

// readChoice reports a choice: its message, or what a chunk adds to it. indexOf
// returns the index of the call that is number at in the message.
func readChoice(
	t adapter.TurnReader, isFirst bool, m *openai.ChatCompletionMessage, finish openai.FinishReason,
	indexOf func(at int, call *openai.ToolCall) int,
) {
	if !isFirst {
		t.OtherChoice()
		if len(m.ToolCalls) > 0 || m.FunctionCall != nil {
			t.OtherCall()
		}
		return
	}
	t.Text(textOf(m))
	t.Reasoning(m.ReasoningContent)
	if m.Refusal != "" {
		t.Refusal()
	}
	if m.FunctionCall != nil {
		t.OtherCall()
	}
	for at := range m.ToolCalls {
		call := &m.ToolCalls[at]
		t.Call(indexOf(at, call), call.ID, call.Function.Name, call.Function.Arguments)
	}
	if finish != openai.FinishReasonNull {
		t.Finish(string(finish))
	}
}

// AppendShown implements [adapter.Dialect].
func (d *chunks) AppendShown(
	dst []openai.ChatCompletionStreamResponse, c *openai.ChatCompletionStreamResponse, e *adapter.Edit,
) []openai.ChatCompletionStreamResponse {
	if e.Part == adapter.AnswerEnd {
		return dst // the SDK reads "[DONE]" itself
	}
	first := &d.envelope.First
	c.ID, c.Object, c.Created, c.Model = first.id, first.object, first.created, first.model
	if e.Continuation {
		c.PromptAnnotations, c.PromptFilterResults = nil, nil
	}
	c.Usage = d.Shown(e.Usage, c.Usage)
	left := c.Usage != nil
	if e.Part == adapter.UsageOnly {
		c.Choices = []openai.ChatCompletionStreamChoice{}
	} else {
		left = d.editChoices(c, e) || left
	}
	if !left {
		return dst
	}
	return append(dst, *c)
}

// editChoices applies the edit and reports whether anything is left to show. The
// edit's text and finish reason go into the first of the chunk's choices that belong
// to the answer: some providers send several of them in a chunk.
func (d *chunks) editChoices(c *openai.ChatCompletionStreamResponse, e *adapter.Edit) bool {
	edit, calls, left, shown := *e, 0, false, false
	if e.Part == adapter.Synthetic {
		c.Choices = slices.DeleteFunc(c.Choices, func(choice openai.ChatCompletionStreamChoice) bool { return !d.isFirst(&choice) })
	}
	for i := range c.Choices {
		if !d.isFirst(&c.Choices[i]) {
			left = true
			continue
		}
		if d.editChoice(&c.Choices[i], &edit, &calls) {
			left = true
		}
		edit.Text, edit.Finish, edit.PlainStop, shown = "", "", false, true
	}
	if !shown && (e.Text != "" || e.FinishOr(stop) != "") {
		c.Choices = append(c.Choices, openai.ChatCompletionStreamChoice{})
		return d.editChoice(&c.Choices[len(c.Choices)-1], e, &calls)
	}
	return left
}

// stop is the finish reason of a turn that simply stopped.
const stop = string(openai.FinishReasonStop)

// editChoice applies the edit to one choice and reports whether anything is
// left to show. calls counts the calls of the chunk, over all its choices.
func (d *chunks) editChoice(choice *openai.ChatCompletionStreamChoice, e *adapter.Edit, calls *int) bool {
	finish := e.FinishOr(stop)
	choice.FinishReason = openai.FinishReason(finish)
	if e.Continuation {
		choice.Index = 0
	}
	d.editLogprobs(choice, e)
	if e.Part == adapter.Synthetic {
		choice.Delta = openai.ChatCompletionStreamChoiceDelta{Content: e.Text}
		return e.Text != "" || finish != ""
	}
	delta := &choice.Delta
	delta.Content = e.Text
	if delta.ReasoningContent != "" {
		delta.ReasoningContent = e.ReasoningSeparator + delta.ReasoningContent
	}
	if e.Continuation {
		delta.Role = ""
	}
	delta.ToolCalls = editCalls(delta.ToolCalls, e, calls)
	return e.Text != "" || finish != "" || len(delta.ToolCalls) > 0 || delta.Role != "" || choice.Logprobs != nil && len(choice.Logprobs.Content) > 0 ||
		delta.ReasoningContent != "" || delta.Refusal != "" || delta.FunctionCall != nil
}

// editCalls returns the calls of a chunk as they are shown.
func editCalls(all []openai.ToolCall, e *adapter.Edit, calls *int) (kept []openai.ToolCall) {
	for _, call := range all {
		if edit := e.Call(*calls); !edit.Drop {
			kept = append(kept, editCall(call, edit))
		}
		*calls++
	}
	return kept
}

// editLogprobs gives a choice the log probabilities of the text that it shows.
func (d *chunks) editLogprobs(choice *openai.ChatCompletionStreamChoice, e *adapter.Edit) {
	own, text := choice.Logprobs, choice.Delta.Content
	if e.Part == adapter.Synthetic {
		own, text, choice.Logprobs = nil, "", nil
	}
	if d.held == nil || d.held.IsEmpty() && text == e.Text && e.Part == adapter.Whole {
		return
	}
	if e.Part == adapter.Whole {
		var tokens []openai.ChatCompletionTokenLogprob
		if own != nil {
			tokens = own.Content
		}
		d.held.Add(text, tokens, func(t *openai.ChatCompletionTokenLogprob) int { return len(t.Token) })
	}
	switch shown := d.held.Take(e.Text); {
	case own != nil:
		choice.Logprobs = &openai.ChatCompletionStreamChoiceLogprobs{Content: shown, Refusal: own.Refusal}
	case len(shown) > 0:
		choice.Logprobs = &openai.ChatCompletionStreamChoiceLogprobs{Content: shown}
	}
}

func editCall(call openai.ToolCall, edit adapter.CallEdit) openai.ToolCall {
	if !edit.Rewrite {
		return call
	}
	kind := cmp.Or(call.Type, openai.ToolTypeFunction)
	call.Index, call.Type = &edit.Index, ""
	if edit.First {
		call.Type = kind
	}
	return call
}

// Clone implements [adapter.Dialect].
func (d *chunks) Clone(c *openai.ChatCompletionStreamResponse) openai.ChatCompletionStreamResponse {
	clone := *c
	clone.Choices = slices.Clone(c.Choices)
	for i := range clone.Choices {
		clone.Choices[i].Delta.ToolCalls = slices.Clone(clone.Choices[i].Delta.ToolCalls)
	}
	return clone
}

// EndTurn implements [adapter.Dialect].
func (d *chunks) EndTurn(keep bool) {
	d.envelope.Fix()
	d.over = true
	d.usageTotals.EndTurn(keep)
}

// usageTotals sums the usage of a call's turns.
type usageTotals = adapter.UsageTotals[openai.Usage]

func newUsageTotals() usageTotals { return usageTotals{Add: add, Extend: addTurn} }

// counts converts a usage to the engine's type.
func counts(u *openai.Usage) adapter.Usage {
	counted := adapter.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens}
	if d := u.PromptTokensDetails; d != nil {
		counted.Cached = d.CachedTokens
	}
	if d := u.CompletionTokensDetails; d != nil {
		counted.Reasoning = d.ReasoningTokens
	}
	return counted
}

// add returns the sum of two usages. Details that only one of them has are kept
// as they are.
func add(a, b openai.Usage) openai.Usage {
	a.TotalTokens, b.TotalTokens = totalOf(&a), totalOf(&b)
	return openai.Usage{
		PromptTokens:            a.PromptTokens + b.PromptTokens,
		CompletionTokens:        a.CompletionTokens + b.CompletionTokens,
		TotalTokens:             a.TotalTokens + b.TotalTokens,
		PromptTokensDetails:     addPrompt(a.PromptTokensDetails, b.PromptTokensDetails),
		CompletionTokensDetails: addCompletion(a.CompletionTokensDetails, b.CompletionTokensDetails),
	}
}

// totalOf returns the total of a usage: of one that does not report it, the sum of its
// parts.
func totalOf(u *openai.Usage) int {
	if u.TotalTokens > 0 {
		return u.TotalTokens
	}
	return u.PromptTokens + u.CompletionTokens
}

// addTurn returns the usage of an answer after a turn was added to it. A prompt
// counts once: the turn adds only its output.
func addTurn(answer, turn openai.Usage) openai.Usage {
	if answer.PromptTokens > 0 {
		turn.TotalTokens = max(0, totalOf(&turn)-turn.PromptTokens)
		turn.PromptTokens, turn.PromptTokensDetails = 0, nil
	}
	return add(answer, turn)
}

func addPrompt(a, b *openai.PromptTokensDetails) *openai.PromptTokensDetails {
	if a == nil || b == nil {
		return cmp.Or(a, b) // the one that there is
	}
	return &openai.PromptTokensDetails{
		AudioTokens:  a.AudioTokens + b.AudioTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens,
	}
}

func addCompletion(a, b *openai.CompletionTokensDetails) *openai.CompletionTokensDetails {
	if a == nil || b == nil {
		return cmp.Or(a, b) // the one that there is
	}
	return &openai.CompletionTokensDetails{
		AudioTokens:              a.AudioTokens + b.AudioTokens,
		ReasoningTokens:          a.ReasoningTokens + b.ReasoningTokens,
		AcceptedPredictionTokens: a.AcceptedPredictionTokens + b.AcceptedPredictionTokens,
		RejectedPredictionTokens: a.RejectedPredictionTokens + b.RejectedPredictionTokens,
	}
}
