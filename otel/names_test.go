package otel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// The names are those of OpenTelemetry's own package for the version.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	t.Parallel()
	for ours, theirs := range map[attribute.Key]attribute.Key{
		operationName: semconv.GenAIOperationNameKey, providerName: semconv.GenAIProviderNameKey,
		requestModel: semconv.GenAIRequestModelKey, requestStream: semconv.GenAIRequestStreamKey,
		conversationID: semconv.GenAIConversationIDKey, finishReasons: semconv.GenAIResponseFinishReasonsKey,
		timeToFirst: semconv.GenAIResponseTimeToFirstChunkKey,
		inputTokens: semconv.GenAIUsageInputTokensKey, outputTokens: semconv.GenAIUsageOutputTokensKey,
		cachedTokens: semconv.GenAIUsageCacheReadInputTokensKey, reasoningTokens: semconv.GenAIUsageReasoningOutputTokensKey,
		tokenType: semconv.GenAITokenTypeKey, errorType: semconv.ErrorTypeKey, exceptionMessage: semconv.ExceptionMessageKey,
	} {
		assert.Equal(t, theirs, ours)
	}
	assert.Equal(t, semconv.GenAIOperationNameChat, operationName.String(chat))
	assert.Equal(t, semconv.GenAITokenTypeInput, tokenType.String("input"))
	assert.Equal(t, semconv.GenAITokenTypeOutput, tokenType.String("output"))
	assert.Equal(t, semconv.GenAIProviderNameOpenAI, providerName.String("openai"))
	assert.Equal(t, semconv.GenAIProviderNameAnthropic, providerName.String("anthropic"))
	assert.Equal(t, genaiconv.ClientOperationDuration{}.Name(), V141.durationMetric())
	assert.Equal(t, genaiconv.ClientOperationTimeToFirstChunk{}.Name(), V141.firstChunkMetric())
	assert.Equal(t, semconv.ErrorTypeOther, errorType.String("_OTHER"))
}

func TestVersionsOfTheConventions(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "gen_ai.client.inference.duration", GenAI142.durationMetric())
	assert.Equal(t, "gen_ai.client.inference.time_to_first_chunk", GenAI142.firstChunkMetric())
}
