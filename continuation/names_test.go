package continuation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
)

func TestHandbackRulesHaveNames(t *testing.T) {
	t.Parallel()
	for rule, name := range map[continuation.HandbackRule]string{
		continuation.ByMode: "mode", continuation.Wait: "wait", continuation.GoOn: "continue",
	} {
		assert.Equal(t, name, rule.String())
		got, err := continuation.ParseHandbackRule(name)
		require.NoError(t, err)
		assert.Equal(t, rule, got)
	}
	_, err := continuation.ParseHandbackRule("maybe")
	require.EqualError(t, err, `continuation: unknown rule "maybe": it is one of mode, wait and continue`)
	require.NoError(t, continuation.Handback{Questions: continuation.Wait}.Check())
	require.Error(t, continuation.Handback{Untouched: 7}.Check())
}

func TestCheckResultIsText(t *testing.T) {
	t.Parallel()
	for result := continuation.NoCheck; result <= continuation.CheckUnknown; result++ {
		text, err := result.MarshalText()
		require.NoError(t, err)
		var read continuation.CheckResult
		require.NoError(t, read.UnmarshalText(text))
		assert.Equal(t, result, read)
	}
	require.Error(t, new(continuation.CheckResult).UnmarshalText([]byte("perhaps")))
	assert.Equal(t, "continuation.CheckResult(9)", continuation.CheckResult(9).String())
}
