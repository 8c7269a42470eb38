package langchaingo

import (
	"context"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/middleware"
)

// EmbeddingModel is a model that can also create embeddings, such as langchaingo's
// clients of openai, ollama and googleai.
type EmbeddingModel interface {
	llms.Model
	CreateEmbedding(ctx context.Context, texts []string) ([][]float32, error)
}

// Embedder is a [Model] that can also create embeddings, so it is an
// embeddings.EmbedderClient. Use [WrapEmbedding]: the zero value is not ready.
type Embedder struct {
	*Model

	embedder EmbeddingModel
}

// WrapEmbedding is [Wrap] for a model that can also create embeddings. It panics as
// Wrap does.
func WrapEmbedding(model EmbeddingModel, mw *middleware.Middleware, opts ...Option) *Embedder {
	return &Embedder{Model: Wrap(model, mw, opts...), embedder: model}
}

// CreateEmbedding calls the wrapped model's method.
func (e *Embedder) CreateEmbedding(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embedder.CreateEmbedding(ctx, texts)
}
