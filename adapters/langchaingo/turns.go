package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
)

// turns sends the turns of a call.
type turns struct {
	model    *Model
	call     *join.Call
	messages []llms.MessageContent
	options  []llms.CallOption
	asked    llms.CallOptions // the options, applied
	streams  streams
	answers  answers
	sent     int
}

func (t *turns) run(ctx context.Context, request adapter.Request) (*llms.ContentResponse, error) {
	t.answers = answers{usageTotals: newUsageTotals(), model: t.model}
	var d adapter.Dialect[*llms.ContentResponse] = &t.answers
	if request.TextAgent {
		d = newAgentAnswers(&t.answers, t.streams, request.OwnPause)
	}
	answer, err := join.Unary(t.call, d, t.send, t.streams.filters()...)
	if err == nil {
		err = t.unreported(ctx, answer)
	}
	return answer, err
}

// send sends a turn: the caller's own if k is nil.
func (t *turns) send(ctx context.Context, k *adapter.Continuation) (*llms.ContentResponse, error) {
	t.sent++
	t.streams.begin(t.sent)
	additions, messages := t.call.Additions(), t.messages
	if k != nil {
		additions = &k.Additions
	}
	messages = attach(messages, additions)
	if k != nil {
		messages = t.model.extend(messages, k)
	}
	answer, err := t.model.model.GenerateContent(ctx, messages, t.withOptions(additions.PauseTool)...)
	if k != nil {
		err = withStatus(err)
	}
	return answer, err
}

// unreported returns an error that the provider's client did not return: an
// error of a streaming function, or the end of ctx, after which some clients
// return what has arrived as an answer.
func (t *turns) unreported(ctx context.Context, answer *llms.ContentResponse) error {
	if err := t.streams.err(); err != nil {
		return err
	}
	err := ctx.Err()
	if err == nil || t.sent > 1 || stopReason(answer) != "" {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// withOptions returns the caller's options, and one more if there is anything
// to change. The provider applies that one last, on top of its own defaults, so
// that everything else stays the same.
func (t *turns) withOptions(tool *adapter.PauseTool) []llms.CallOption {
	if tool == nil && t.streams == (streams{}) {
		return t.options
	}
	turn := t.sent
	return append(slices.Clip(t.options), func(o *llms.CallOptions) {
		t.streams.install(o, turn)
		if tool != nil {
			declare(o, tool)
		}
	})
}
