package continuation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
)

func withDefaults(tb testing.TB, l continuation.Limits) continuation.Limits {
	tb.Helper()
	l, err := l.WithDefaults()
	require.NoError(tb, err)
	return l
}
