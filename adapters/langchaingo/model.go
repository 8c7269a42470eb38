package langchaingo

import (
	"context"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// Model is a langchaingo model whose answers carryon continues. It is safe for
// concurrent use if the wrapped model is. Use [Wrap]: the zero value is not ready.
type Model struct {
	model    llms.Model
	mw       *middleware.Middleware
	options  options
	provider provider

	// givesReasons is set from the start if all answers of the client have a
	// stop reason, and otherwise once the model has given one. Until then, an
	// answer without a stop reason is not taken for a broken one.
	givesReasons atomic.Bool
}

var _ llms.ReasoningModel = (*Model)(nil)

// Wrap returns a model whose answers mw continues. It does not modify model, which can
// still be used on its own. It panics if model or mw is nil, or if an option is
// invalid.
func Wrap(model llms.Model, mw *middleware.Middleware, opts ...Option) *Model {
	if model == nil {
		panic("carryon/adapters/langchaingo: nil model")
	}
	if mw == nil {
		panic("carryon/adapters/langchaingo: nil middleware")
	}
	m := &Model{model: model, mw: mw, provider: providerOf(model)}
	apply(&m.options, opts)
	if m.options.wrong != "" {
		panic("carryon/adapters/langchaingo: " + m.options.wrong)
	}
	m.givesReasons.Store(m.provider.givesReasons)
	return m
}

// GenerateContent calls the wrapped model and continues its answer. If nothing is
// continued, it returns the model's own answer. It modifies neither messages nor
// options.
//
// The call does not fail because a continuation fails. If ctx ends during a
// continuation, or if a streaming function fails, the answer so far is returned
// together with the error, even if the wrapped model would not have returned the error.
func (m *Model) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	t := &turns{model: m, messages: messages, options: options}
	apply(&t.asked, options) // only to read: the provider may start from other defaults
	request := m.describe(messages, &t.asked)
	t.call, _ = join.Begin(m.scope(ctx, &t.asked), m.mw, request)
	if t.call == nil {
		return m.model.GenerateContent(ctx, messages, options...)
	}
	t.streams = newStreams(ctx, &t.asked)
	return t.run(ctx, request)
}

// scope returns ctx, or a ctx that suppresses continuations if the call can't
// be continued.
func (m *Model) scope(ctx context.Context, asked *llms.CallOptions) context.Context {
	switch {
	case ctx == nil: // Begin panics
	case m.provider.readsOneMessage && !m.options.fold:
		return continuation.Suppress(ctx) // a continuation would be the same request again
	case isTextAgent(asked) && m.options.read == nil:
		return continuation.Suppress(ctx) // the agent could not read answers that are joined like plain text
	}
	return ctx
}

// Call sends the prompt as a single message of the user and returns the text of
// the answer.
//
// Deprecated: langchaingo keeps it for old programs. Use GenerateContent or
// llms.GenerateFromSinglePrompt.
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// SupportsReasoning reports what the wrapped model reports, and false if it has
// no such method.
func (m *Model) SupportsReasoning() bool {
	return llms.SupportsReasoningModel(m.model)
}

// Unwrap returns the model that was passed to [Wrap].
func (m *Model) Unwrap() llms.Model { return m.model }
