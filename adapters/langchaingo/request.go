package langchaingo

import (
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/toolchoice"
	"github.com/carryon-go/carryon/pause"
)

// describe returns what the engine must know of a request.
func (m *Model) describe(messages []llms.MessageContent, asked *llms.CallOptions) adapter.Request {
	r := reader{Request: adapter.Request{
		Tools:     len(asked.Tools) + len(asked.Functions),
		Choice:    toolchoice.Of(asked.ToolChoice),
		N:         max(asked.N, asked.CandidateCount),
		JSON:      asked.JSONMode || asked.ResponseMIMEType != "" && asked.ResponseMIMEType != "text/plain",
		Toolless:  m.options.plain,
		NoFinish:  !m.givesReasons.Load(),
		ShortLoop: true,
		Model:     asked.Model,
		Streamed:  asked.StreamingFunc != nil || asked.StreamingReasoningFunc != nil,
	}}
	if r.Choice == adapter.ToolChoiceAuto {
		r.Choice = toolchoice.Of(string(asked.FunctionCallBehavior)) // the older field
	}
	readTools(&r.Request, asked)
	r.ToolNames = (*offering)(asked)
	readMessages(&r, messages)
	if join.AttachesReminders(m.mw) {
		describeMessages(&r.Request, messages)
	}
	if isTextAgent(asked) && m.options.read != nil {
		m.describeAgent(&r.Request)
	}
	if r.Tools == 0 && !r.TextAgent && !m.options.plain {
		r.LeaveAlone = reasons.NoTools // a chain's, even where the middleware continues calls without tools
	}
	return r.Request
}

func readTools(r *adapter.Request, asked *llms.CallOptions) {
	r.StrictTools = r.Tools > 0
	for i := range asked.Tools {
		f := asked.Tools[i].Function
		r.StrictTools = r.StrictTools && f != nil && f.Strict
		r.OwnPause = r.OwnPause || f != nil && pause.Is(f.Name)
	}
	for i := range asked.Functions {
		r.StrictTools = r.StrictTools && asked.Functions[i].Strict
		r.OwnPause = r.OwnPause || pause.Is(asked.Functions[i].Name)
	}
}

// offering is a call's options seen as a list of tools.
type offering llms.CallOptions

// ToolNames implements [adapter.ToolNamer].
func (o *offering) ToolNames(yield func(string) bool) {
	for i := range o.Tools {
		if f := o.Tools[i].Function; f != nil && !yield(f.Name) {
			return
		}
	}
	for i := range o.Functions {
		if !yield(o.Functions[i].Name) {
			return
		}
	}
}

// isTextAgent reports whether a text agent makes the call: such a call offers
// no tools, and stops before the observation that the agent will add.
func isTextAgent(asked *llms.CallOptions) bool {
	return len(asked.Tools)+len(asked.Functions) == 0 && slices.Contains(asked.StopWords, observation)
}
