package langchaingo

import (
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/middleware"
)

// errNoChoices is the error of a continuation whose answer has no choices.
var errNoChoices = errors.New("langchaingo: the model gave no choices")

// answers is the dialect of whole answers. Some providers return each block of
// an answer as a choice, others each alternative. carryon continues only
// requests for one alternative, so choices are blocks.
type answers struct {
	usageTotals

	model     *Model
	first     map[string]any // the GenerationInfo of the first turn
	later     bool           // the first turn has ended
	reasoning adapter.KeptReasoning
}

// Read implements [adapter.Dialect].
func (d *answers) Read(a **llms.ContentResponse, t adapter.TurnReader) {
	texts := 0
	for _, choice := range choicesOf(*a) {
		if choice.Content == "" {
			continue
		}
		texts++
		if texts > 1 {
			t.OtherChoice() // blocks of text cannot be joined
		}
		t.Text(choice.Content)
	}
	d.readCalls(*a, t)
	d.readRest(*a, t)
}

// readCalls reports the tool calls. Some clients return each fragment of a
// streamed call as a call of its own: readCalls reports these as parts of one
// call.
func (d *answers) readCalls(a *llms.ContentResponse, t adapter.TurnReader) {
	at, last := -1, call{}
	for choice, tool := range callsOf(a) {
		next := callIn(choice, tool)
		if at < 0 || !next.continues(last) {
			at, last = at+1, next
		} else {
			next.id, next.name = "", ""
		}
		t.Call(at, next.id, next.name, next.arguments)
	}
	if at >= 0 {
		return
	}
	switch stopReason(a) {
	case "tool_calls", "tool_use", "function_call":
		t.OtherCall() // some clients drop the calls of a streamed answer
	}
}

// readRest reports everything but text and calls. It returns false if a
// continuation failed without an error from the model's client.
func (d *answers) readRest(a *llms.ContentResponse, t adapter.TurnReader) (whole bool) {
	reason := stopReason(a)
	if reason != "" && !d.model.givesReasons.Load() {
		d.model.givesReasons.Store(true)
	}
	var failure error
	switch {
	case d.later && len(choicesOf(a)) == 0:
		failure = errNoChoices
	case d.later && reason == "" && d.model.givesReasons.Load():
		failure = middleware.ErrIncomplete
	}
	if failure != nil {
		t.Fail(failure)
	}
	t.Finish(reason)
	reasoning := reasoningOf(a)
	d.reasoning.SetTurn(reasoning)
	t.Reasoning(reasoning)
	if info := infoOf(a); info != nil {
		d.setTurn(info)
		t.Response(textIn(info, "id"), textIn(info, "model"))
		t.Usage(counts(info))
	}
	return failure == nil
}

// setTurn sets the turn's info. It sets the first turn's aside: most calls have
// no other turn, and show it unchanged.
func (d *answers) setTurn(info map[string]any) {
	if !d.later {
		d.first = info
		return
	}
	d.keepFirst()
	d.SetTurn(info)
}

// keepFirst adds the first turn's info to the totals.
func (d *answers) keepFirst() {
	if d.first != nil {
		d.SetTurn(d.first)
		d.usageTotals.EndTurn(true)
		d.first = nil
	}
}

// AppendShown implements [adapter.Dialect]. It makes a new answer, because a
// cache may share the old one.
func (d *answers) AppendShown(
	dst []*llms.ContentResponse, a **llms.ContentResponse, e *adapter.Edit,
) []*llms.ContentResponse {
	joined := &llms.ContentChoice{
		Content: e.Text, StopReason: e.FinishOr("stop"), ReasoningContent: d.reasoning.Text(),
	}
	d.keepFirst()
	own := infoOf(*a)
	if info := d.Shown(e.Usage, &own); info != nil {
		joined.GenerationInfo = *info
	}
	keepCalls(joined, *a, e)
	return append(dst, &llms.ContentResponse{Choices: []*llms.ContentChoice{joined}})
}

// keepCalls copies the calls that are shown into the choice, and the first of
// them into FuncCall if the provider uses that field.
func keepCalls(to *llms.ContentChoice, from *llms.ContentResponse, e *adapter.Edit) {
	at, first := 0, false
	for choice, tool := range callsOf(from) {
		first = first || choice.FuncCall != nil
		drop := e.Call(at).Drop
		at++
		switch {
		case drop:
		case tool == nil:
			to.FuncCall = choice.FuncCall
		default:
			to.ToolCalls = append(to.ToolCalls, *tool)
		}
	}
	if first && len(to.ToolCalls) > 0 {
		to.FuncCall = to.ToolCalls[0].FunctionCall
	}
}

// Clone implements [adapter.Dialect]. AppendShown changes nothing in place.
func (d *answers) Clone(a **llms.ContentResponse) *llms.ContentResponse { return *a }

// EndTurn implements [adapter.Dialect]. The first turn is always kept.
func (d *answers) EndTurn(keep bool) {
	d.usageTotals.EndTurn(keep)
	d.reasoning.EndTurn(keep)
	d.later = true
}
