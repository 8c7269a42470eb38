package finish_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/finish"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

func TestIsPlainStop(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"stop", "STOP", "Stop", "end_turn", "END_TURN", "end-turn", "endTurn", "eos", "eos_token", "stop_sequence",
		"COMPLETE", "complete", "FINISH_REASON_STOP", "FinishReasonStop", " stop ", "\"stop\"",
	} {
		assert.True(t, finish.IsPlainStop(reason), reason)
	}
	for _, reason := range []string{
		"", " ", "length", "MAX_TOKENS", "max_tokens", "tool_calls", "function_call", "tool_use", "content_filter",
		"SAFETY", "RECITATION", "error", "ERROR_TOXIC", "insufficient_system_resource", "refusal", "pause_turn",
		"FINISH_REASON_UNSPECIFIED", "FINISH_REASON_", "FINISH_REASON_MAX_TOKENS", "null", "stopped", "nonstop", "incomplete",
		"stop_content_filter", "STOP_FINISH_REASON", "malformed_function_call", "model_context_window_exceeded",
	} {
		assert.False(t, finish.IsPlainStop(reason), reason)
	}
}

func TestIsPlainStopCostsNothingInTheCommonCase(t *testing.T) {
	reason := "stop"
	assert.Zero(t, measure.Allocations(func() { _ = finish.IsPlainStop(reason) }))
}
