package langchaingo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ernie"
	"github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/llms/huggingface"
	"github.com/tmc/langchaingo/llms/local"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// anthropicModel is a type of the program's own, in spite of its name.
type anthropicModel struct{ llms.Model }

func TestProvidersAreKnownByTheirClients(t *testing.T) {
	t.Parallel()
	for _, model := range []llms.Model{&ernie.LLM{}, &huggingface.LLM{}, &local.LLM{}} {
		assert.Equal(t, provider{readsOneMessage: true}, providerOf(model), "%T", model)
	}
	assert.Equal(t, provider{readsOnePart: true, givesReasons: true}, providerOf(&anthropic.LLM{}))
	assert.Equal(t, provider{givesReasons: true}, providerOf(&openai.LLM{}))
	for _, model := range []llms.Model{&ollama.LLM{}, &fake.LLM{}, anthropicModel{&anthropic.LLM{}}} {
		assert.Equal(t, provider{}, providerOf(model), "%T", model)
	}
}
