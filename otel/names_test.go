package otel

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionsOfTheConventions(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "gen_ai.client.operation.duration", V141.durationMetric())
	assert.Equal(t, "gen_ai.client.operation.time_to_first_chunk", V141.firstChunkMetric())
	assert.Equal(t, "gen_ai.client.inference.duration", GenAI142.durationMetric())
	assert.Equal(t, "gen_ai.client.inference.time_to_first_chunk", GenAI142.firstChunkMetric())
}
