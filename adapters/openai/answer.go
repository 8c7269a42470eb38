package openai

import (
	"slices"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/logprobs"
)

// answers is the dialect of whole answers.
type answers struct {
	usageTotals

	envelope  adapter.Envelope[envelope]
	reasoning adapter.KeptReasoning
	turn      tokens   // of the current turn
	kept      []tokens // of each turn that was kept
}

// tokens are the log probabilities of a turn's text.
type tokens = logprobs.Queue[openai.LogProb]

func newAnswers() *answers { return &answers{usageTotals: newUsageTotals()} }

// Read implements [adapter.Dialect].
func (d *answers) Read(a *openai.ChatCompletionResponse, t adapter.TurnReader) {
	d.envelope.Take(envelope{a.ID, a.Object, a.Model, a.Created, a.Header()}, true)
	t.Response(a.ID, a.Model)
	for i := range a.Choices {
		m := &a.Choices[i].Message
		if i == 0 {
			d.reasoning.SetTurn(m.ReasoningContent)
			d.readLogprobs(&a.Choices[i])
		}
		readChoice(t, i == 0, m, a.Choices[i].FinishReason, wholeCall)
	}
	if a.Usage != (openai.Usage{}) {
		d.SetTurn(a.Usage)
		t.Usage(counts(&a.Usage))
	}
}

// wholeCall returns the index of an answer's call: every one is a whole call,
// whatever its id.
func wholeCall(at int, _ *openai.ToolCall) int { return at }

// AppendShown implements [adapter.Dialect].
func (d *answers) AppendShown(
	dst []openai.ChatCompletionResponse, a *openai.ChatCompletionResponse, e *adapter.Edit,
) []openai.ChatCompletionResponse {
	first := &d.envelope.First
	a.ID, a.Object, a.Created, a.Model = first.id, first.object, first.created, first.model
	a.SetHeader(first.header)
	if usage := d.Shown(e.Usage, &a.Usage); usage != nil {
		a.Usage = *usage
	}
	if len(a.Choices) == 0 {
		a.Choices = []openai.ChatCompletionChoice{{
			Message: openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant},
		}}
	}
	choice := &a.Choices[0]
	choice.FinishReason = openai.FinishReason(e.FinishOr(stop))
	choice.Message.Content, choice.Message.MultiContent = e.Text, nil
	choice.Message.ToolCalls = keptCalls(choice.Message.ToolCalls, e)
	choice.Message.ReasoningContent = d.reasoning.Text()
	d.editLogprobs(choice, e)
	if e.Continuation {
		choice.Index = 0
	}
	return append(dst, *a)
}

// readLogprobs takes the log probabilities of a choice's text.
func (d *answers) readLogprobs(choice *openai.ChatCompletionChoice) {
	d.turn = tokens{}
	if choice.LogProbs != nil {
		d.turn.Add(textOf(&choice.Message), choice.LogProbs.Content, func(t *openai.LogProb) int { return len(t.Token) })
	}
}

// editLogprobs gives a choice the log probabilities of the text of all turns.
func (d *answers) editLogprobs(choice *openai.ChatCompletionChoice, e *adapter.Edit) {
	var all []openai.LogProb //nolint:prealloc // how many there are is not known
	from := 0
	for i := range min(len(d.kept), len(e.TurnEnds)) {
		all = append(all, d.kept[i].Take(e.Text[from:e.TurnEnds[i]])...)
		from = e.TurnEnds[i]
	}
	if len(all) > 0 || choice.LogProbs != nil {
		choice.LogProbs = &openai.LogProbs{Content: all}
	}
}

// keptCalls returns the calls that are shown. Whole answers have no indexes to
// rewrite.
func keptCalls(calls []openai.ToolCall, e *adapter.Edit) []openai.ToolCall {
	var kept []openai.ToolCall
	for i, call := range calls {
		if !e.Call(i).Drop {
			kept = append(kept, call)
		}
	}
	return kept
}

// Clone implements [adapter.Dialect].
func (d *answers) Clone(a *openai.ChatCompletionResponse) openai.ChatCompletionResponse {
	clone := *a
	clone.Choices = slices.Clone(a.Choices)
	for i := range clone.Choices {
		clone.Choices[i].Message.ToolCalls = slices.Clone(clone.Choices[i].Message.ToolCalls)
	}
	return clone
}

// EndTurn implements [adapter.Dialect].
func (d *answers) EndTurn(keep bool) {
	d.usageTotals.EndTurn(keep)
	d.reasoning.EndTurn(keep)
	if keep {
		d.kept = append(d.kept, d.turn)
	}
}
