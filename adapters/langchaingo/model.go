package langchaingo

import (
	"context"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// Model is a model of langchaingo whose answers are continued. It is as safe
// for concurrent use as the model that it wraps.
type Model struct {
	model    llms.Model
	mw       *middleware.Middleware
	options  options
	provider provider

	// givesReasons is set if the client's answers all have a stop reason, and
	// else once the model has given one. A model that never does can't be blamed
	// for an answer without.
	givesReasons atomic.Bool
}

var _ llms.ReasoningModel = (*Model)(nil)

// Wrap returns model with its answers continued by mw. It panics if either is
// nil or an option is used wrongly. The model is not changed and may be used beside the result.
func Wrap(model llms.Model, mw *middleware.Middleware, opts ...Option) *Model {
	if model == nil {
		panic("carryon/adapters/langchaingo: nil model")
	}
	if mw == nil {
		panic("carryon/adapters/langchaingo: nil middleware")
	}
	m := &Model{model: model, mw: mw, provider: providerOf(model)}
	if apply(&m.options, opts); m.options.wrong != "" {
		panic("carryon/adapters/langchaingo: " + m.options.wrong)
	}
	m.givesReasons.Store(m.provider.givesReasons)
	return m
}

// GenerateContent is the model's, continued. The messages and the options are
// not changed. An answer that was not continued is the very one that the model
// gave.
//
// A continuation that fails does not fail the call. If ctx ends during one, or
// a streaming function fails, the answer so far comes with the error, also
// where the model itself would have kept the error to itself.
func (m *Model) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	t := &turns{model: m, messages: messages, options: options}
	apply(&t.asked, options) // to look at: a provider may have defaults that only it knows
	request := m.describe(messages, &t.asked)
	if t.call, _ = m.mw.Begin(m.scope(ctx, &t.asked), request); t.call == nil {
		return m.model.GenerateContent(ctx, messages, options...)
	}
	t.streams = newStreams(ctx, &t.asked)
	return t.run(ctx, request)
}

// scope returns the ctx that says whether the call may be continued.
func (m *Model) scope(ctx context.Context, asked *llms.CallOptions) context.Context {
	switch {
	case ctx == nil: // Begin panics
	case m.provider.readsOneMessage && !m.options.fold:
		return continuation.Suppress(ctx) // a continuation would be the same request again
	case isTextAgent(asked) && m.options.read == nil:
		return continuation.Suppress(ctx) // joined like any text, its answers could not be read any more
	}
	return ctx
}

// Call asks the model with a single message of the user and returns the text
// of the answer.
//
// Deprecated: langchaingo keeps it for old programs. Use GenerateContent or
// llms.GenerateFromSinglePrompt.
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// SupportsReasoning reports what the model reports, and false for a model that
// does not say.
func (m *Model) SupportsReasoning() bool {
	return llms.SupportsReasoningModel(m.model)
}

// Unwrap returns the model that was given to [Wrap].
func (m *Model) Unwrap() llms.Model { return m.model }
