package continuation_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
)

// The texts that people match on, written out so that none changes unseen.
func TestReasonFixedTexts(t *testing.T) {
	t.Parallel()
	for reason, want := range map[continuation.Reason]string{
		continuation.ReasonSatisfied:      "All continuation conditions satisfied",
		continuation.ReasonDisabled:       "Todo continuation is disabled in ephemeral settings",
		continuation.ReasonToolCalls:      "Tool calls were made during stream - no continuation needed",
		continuation.ReasonNoActiveTodos:  "No active todos found (pending or in_progress)",
		continuation.ReasonActive:         "Already in continuation process",
		continuation.ReasonMaxAttempts:    "Maximum continuation attempts exceeded",
		continuation.ReasonNoSuitableTodo: "No suitable active todo found",
		continuation.ReasonTooSoon:        "Too soon since last continuation attempt",
	} {
		assert.Equal(t, want, reason.String())
	}
}

func TestReasonsAllHaveTextsOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]continuation.Reason{}
	for reason := continuation.ReasonNone; reason <= continuation.ReasonFailed; reason++ {
		text := reason.String()
		assert.NotEmpty(t, text, "reason %d", uint8(reason))
		other, taken := seen[text]
		assert.False(t, taken, "%d and %d: %s", uint8(reason), uint8(other), text)
		seen[text] = reason
	}
	assert.Equal(t, "continuation.Reason(200)", continuation.Reason(200).String())
	assert.Equal(t, fmt.Sprintf("continuation.Reason(%d)", len(seen)), (continuation.ReasonFailed + 1).String())
}

func TestReasonIsReadableInJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(map[string]continuation.Reason{"reason": continuation.ReasonTooSoon})
	require.NoError(t, err)
	assert.JSONEq(t, `{"reason":"Too soon since last continuation attempt"}`, string(text))
}

func TestReasonExhausted(t *testing.T) {
	t.Parallel()
	for reason := continuation.ReasonNone; reason <= continuation.ReasonFailed; reason++ {
		want := reason == continuation.ReasonMaxAttempts || reason == continuation.ReasonWithoutProgress ||
			reason == continuation.ReasonTokenBudget
		assert.Equal(t, want, reason.Exhausted(), reason)
	}
}

func TestReasonsAllHaveCodesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]continuation.Reason{}
	for reason := continuation.ReasonNone; reason <= continuation.ReasonFailed; reason++ {
		code := reason.Code()
		assert.Regexp(t, "^[a-z]+(_[a-z]+)*$", code, reason)
		other, taken := seen[code]
		assert.False(t, taken, "%v and %v: %s", reason, other, code)
		seen[code] = reason
	}
	assert.Equal(t, "unknown", (continuation.ReasonFailed + 1).Code())
}

func TestReasonsCostNothing(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for reason := continuation.ReasonNone; reason <= continuation.ReasonFailed; reason++ {
			_, _ = reason.Code(), reason.String()
		}
	}))
}

func TestConditionsAllHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range len(continuation.Conditions{}) {
		name := continuation.Condition(i).String() //nolint:gosec // an index of a small array
		assert.Regexp(t, "^[a-z_]+$", name)
		assert.False(t, seen[name], name)
		seen[name] = true
	}
	assert.Equal(t, "unknown", (continuation.IntervalElapsed + 1).String())
}

func TestConditionsString(t *testing.T) {
	t.Parallel()
	assert.Empty(t, continuation.Conditions{}.String())
	assert.Equal(t, "!enabled", marksNotMet(continuation.Enabled).String())
	assert.Equal(t, "enabled in_scope unbroken !no_tool_calls", marksNotMet(continuation.NoToolCalls).String())
}

func TestMarkString(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "not looked at", continuation.NotLookedAt.String())
	assert.Equal(t, "met", continuation.Met.String())
	assert.Equal(t, "not met", continuation.NotMet.String())
	assert.Equal(t, "not looked at", continuation.Mark(9).String())
}
