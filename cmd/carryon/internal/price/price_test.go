package price_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
	"github.com/carryon-go/carryon/middleware"
)

func TestPrice(t *testing.T) {
	t.Parallel()
	tokens := middleware.Tokens{Input: 1e6, Cached: 5e5, Output: 2e6}
	p, err := price.Parse("3, 0.30,15")
	require.NoError(t, err)
	assert.InDelta(t, 3+0.15+30, *p.Of(tokens), 1e-9)

	p, err = price.Parse("")
	require.NoError(t, err)
	assert.Nil(t, p.Of(tokens), "it is not known")

	for _, text := range []string{"3", "3,15", "3,,15", "3,0.3,15,1", "3,-1,15", "3,NaN,15", "3,Inf,15", "1e10,0,0", "cheap", ","} {
		_, err := price.Parse(text)
		require.ErrorContains(t, err, "-price must be three prices of a million tokens", text)
		require.ErrorContains(t, err, text)
	}
}

func TestDollars(t *testing.T) {
	t.Parallel()
	for want, amount := range map[string]float64{"$0.00": 0, "under $0.01": 0.0049, "$0.01": 0.005, "$1234.50": 1234.5} {
		assert.Equal(t, want, price.Dollars(amount))
	}
}
