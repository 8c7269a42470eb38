package langchaingo

import (
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/middleware"
)

// errNoChoices is what a continuation fails with that was answered by nothing.
var errNoChoices = errors.New("langchaingo: the model gave no choices")

// answers is the dialect of whole answers. Some providers make a choice of each
// block of an answer, and others of each alternative; with a single alternative
// asked for, choices are blocks.
type answers struct {
	ledger

	model     *Model
	first     map[string]any // the GenerationInfo of the first turn
	later     bool           // the first turn has ended
	reasoning []string
	pending   string
}

// Read implements [middleware.Dialect].
func (d *answers) Read(a **llms.ContentResponse, s *middleware.Sink) {
	texts := 0
	for choice := range choicesOf(*a) {
		if choice.Content == "" {
			continue
		}
		if texts++; texts > 1 {
			s.OtherChoice() // blocks of text have no seam to be joined at
		}
		s.Text(choice.Content)
	}
	d.readCalls(*a, s)
	d.readRest(*a, s)
}

// readCalls reports the tool calls. Some clients make an element of each
// fragment of a streamed call; these are told as parts of one call.
func (d *answers) readCalls(a *llms.ContentResponse, s *middleware.Sink) {
	at, last := -1, call{}
	for choice, tool := range callsOf(a) {
		next := callIn(choice, tool)
		if at < 0 || !next.continues(last) {
			at, last = at+1, next
		} else {
			next.id, next.name = "", ""
		}
		s.Call(at, next.id, next.name, next.arguments)
	}
	if at >= 0 {
		return
	}
	switch stopReason(a) {
	case "tool_calls", "tool_use", "function_call":
		s.OtherCall() // some clients drop the calls of a streamed answer
	}
}

// readRest reports everything but text and calls. It returns false for a
// continuation that failed although the model's client does not say so.
func (d *answers) readRest(a *llms.ContentResponse, s *middleware.Sink) (whole bool) {
	reason := stopReason(a)
	if reason != "" && !d.model.givesReasons.Load() {
		d.model.givesReasons.Store(true)
	}
	whole = true
	switch {
	case d.later && isEmpty(a):
		whole = false
		s.Fail(errNoChoices)
	case d.later && reason == "" && d.model.givesReasons.Load():
		whole = false
		s.Fail(middleware.ErrIncomplete)
	}
	s.Finish(reason)
	d.pending = reasoningOf(a)
	s.Reasoning(d.pending)
	if info := infoOf(a); info != nil {
		d.note(info)
		s.Usage(counts(info))
	}
	return whole
}

// note keeps the turn's info: that of the first turn aside, as most calls have
// no other and show it as it is.
func (d *answers) note(info map[string]any) {
	if !d.later {
		d.first = info
		return
	}
	d.keepFirst()
	d.Note(info)
}

// keepFirst enters the first turn's info into the ledger.
func (d *answers) keepFirst() {
	if d.first != nil {
		d.Note(d.first)
		d.ledger.EndTurn(true)
		d.first = nil
	}
}

// Write implements [middleware.Dialect]. Answers may be shared, as by a cache:
// a new one is made.
func (d *answers) Write(a **llms.ContentResponse, e *middleware.Edit) bool {
	joined := &llms.ContentChoice{
		Content: e.Text, StopReason: e.Finish, ReasoningContent: strings.Join(d.reasoning, middleware.Seam),
	}
	d.keepFirst()
	own := infoOf(*a)
	if info := d.Show(e.Usage, &own); info != nil {
		joined.GenerationInfo = *info
	}
	keepCalls(joined, *a, e)
	*a = &llms.ContentResponse{Choices: []*llms.ContentChoice{joined}}
	return true
}

// keepCalls puts the calls that are to be shown into the choice, and the first
// of them into FuncCall, if the provider uses that field.
func keepCalls(to *llms.ContentChoice, from *llms.ContentResponse, e *middleware.Edit) {
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

// Clone implements [middleware.Dialect]. Write changes nothing in place.
func (d *answers) Clone(a **llms.ContentResponse) *llms.ContentResponse { return *a }

// EndTurn implements [middleware.Dialect]. The first turn is always kept.
func (d *answers) EndTurn(keep bool) {
	d.ledger.EndTurn(keep)
	if keep && d.pending != "" {
		d.reasoning = append(d.reasoning, d.pending)
	}
	d.pending, d.later = "", true
}
