package langchaingo_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
)

// allocations returns how many allocations the wrapper adds to a call that
// streams that many chunks.
func allocations(ctx context.Context, t *testing.T, chunks int, options ...llms.CallOption) float64 {
	t.Helper()
	bare := canned{answer: acts(), chunks: chunks}
	messages := question()
	count := func(model llms.Model) float64 {
		return measure.Allocations(func() {
			_, _ = model.GenerateContent(ctx, messages, options...)
		})
	}
	return count(carrylangchain.Wrap(bare, middleware.New(twoTodos))) - count(bare)
}

func TestACallWithNothingToDoCostsLittle(t *testing.T) {
	assert.LessOrEqual(t, allocations(t.Context(), t, 0), 3.0, "out of scope")
	assert.LessOrEqual(t, allocations(t.Context(), t, 0, withTools("search")), 9.0, "in scope")
	ctx := continuation.WithSession(t.Context(), "s")
	assert.LessOrEqual(t, allocations(ctx, t, 0, withTools("search")), 9.0, "in scope, with a session")
}

func TestAStreamedTextCostsNothing(t *testing.T) {
	options := []llms.CallOption{
		withTools("search"), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }),
		llms.WithStreamingReasoningFunc(func(context.Context, []byte, []byte) error { return nil }),
	}
	assert.InDelta(t, allocations(t.Context(), t, 1, options...), allocations(t.Context(), t, 1001, options...), 0)
}
