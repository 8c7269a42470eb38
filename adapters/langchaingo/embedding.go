package langchaingo

import (
	"context"

	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/middleware"
)

// EmbeddingModel is a model that makes embeddings as well, as those of openai,
// ollama, googleai and others do.
type EmbeddingModel interface {
	llms.Model
	CreateEmbedding(ctx context.Context, texts []string) ([][]float32, error)
}

// Embedder is a [Model] that makes embeddings as well: an
// embeddings.EmbedderClient.
type Embedder struct {
	*Model

	embedder EmbeddingModel
}

// WrapEmbedding is [Wrap] for a model that makes embeddings as well. It panics
// as Wrap does.
func WrapEmbedding(model EmbeddingModel, mw *middleware.Middleware, opts ...Option) *Embedder {
	return &Embedder{Model: Wrap(model, mw, opts...), embedder: model}
}

// CreateEmbedding is the model's.
func (e *Embedder) CreateEmbedding(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embedder.CreateEmbedding(ctx, texts)
}
