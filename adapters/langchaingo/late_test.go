package langchaingo_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// heard is a streaming function that records its chunks.
type heard struct {
	mu    sync.Mutex
	words []string
}

func (h *heard) hear(_ context.Context, text []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.words = append(h.words, string(text))
	return nil
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.words, "")
}

// Some providers stream from a goroutine of their own, which may go on after the answer. If carryon has nothing to do,
// such chunks pass, as without carryon.
func TestLateStreamOfTheOnlyTurnPasses(t *testing.T) {
	t.Parallel()
	var stream func(context.Context, []byte) error
	model := carrylangchain.Wrap(spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		stream = o.StreamingFunc
		return says("One. Two:", "stop"), stream(ctx, []byte("One. "))
	}), middleware.New(todo.Static(), unhurried))
	var h heard
	_, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Go on.")},
		withTools("search"), llms.WithStreamingFunc(h.hear))
	require.NoError(t, err)
	require.NoError(t, stream(t.Context(), []byte("Two:")))
	assert.Equal(t, "One. Two:", h.text())
}

// Chunks that a turn streams during the next turn belong to neither.
func TestLateStreamOfAnEarlierTurnIsLeftOut(t *testing.T) {
	t.Parallel()
	var first func(context.Context, []byte) error
	asked := 0
	model := carrylangchain.Wrap(spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		if asked == 1 {
			first = o.StreamingFunc
			return says("One:", "stop"), first(ctx, []byte("One:"))
		}
		if err := o.StreamingFunc(ctx, []byte("Two")); err != nil {
			return nil, err
		}
		require.Error(t, first(ctx, []byte("late")))
		return says("Two:", "stop"), o.StreamingFunc(ctx, []byte(":"))
	}), middleware.New(twoTodos, unhurried))
	var h heard
	answer, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Go on.")},
		withTools("search"), llms.WithStreamingFunc(h.hear))
	require.NoError(t, err)
	require.Error(t, first(t.Context(), []byte("late")))
	assert.Equal(t, "One:\n\nTwo:", h.text())
	assert.Equal(t, "One:\n\nTwo:", answer.Choices[0].Content)
}

// While a streaming function still runs after the end of its turn, no other goroutine calls it, and nobody waits for
// it.
func TestStreamingFunctionThatStillRunsIsLeftAlone(t *testing.T) {
	t.Parallel()
	running, release := make(chan struct{}), make(chan struct{})
	var others sync.WaitGroup
	asked, calls := 0, 0
	model := carrylangchain.Wrap(spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		if asked == 1 {
			others.Go(func() { _ = o.StreamingFunc(ctx, []byte("One:")) })
			<-running
			return says("One:", "stop"), nil
		}
		_ = o.StreamingFunc(ctx, []byte("Two:"))
		return says("Two:", "stop"), nil
	}), middleware.New(twoTodos, unhurried))
	answer, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Go on.")},
		withTools("search"), llms.WithStreamingFunc(func(context.Context, []byte) error {
			calls++ // the race detector would see two at once
			close(running)
			<-release
			return nil
		}))
	close(release)
	others.Wait()
	require.NoError(t, err)
	assert.Equal(t, "One:\n\nTwo:", answer.Choices[0].Content)
	assert.Equal(t, 1, calls)
}

// Late chunks do not race with the end of their turn.
func TestStreamsThatRaceWithTheEndOfTheirTurn(t *testing.T) {
	t.Parallel()
	for range 50 {
		var others sync.WaitGroup
		model := carrylangchain.Wrap(spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
			others.Go(func() {
				for _, word := range strings.SplitAfter("All of these words are said in some turn or other.", " ") {
					_ = o.StreamingFunc(ctx, []byte(word))
					_ = o.StreamingReasoningFunc(ctx, []byte("r"), nil)
				}
			})
			return says("Done.", "stop"), nil
		}), middleware.New(twoTodos, unhurried))
		var h heard
		_, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Go on.")},
			withTools("search"), llms.WithStreamingFunc(h.hear),
			llms.WithStreamingReasoningFunc(func(ctx context.Context, reasoning, _ []byte) error { return h.hear(ctx, reasoning) }))
		require.NoError(t, err)
		others.Wait()
	}
}
