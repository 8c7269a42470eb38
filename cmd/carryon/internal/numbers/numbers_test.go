package numbers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/cmd/carryon/internal/numbers"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 turns":                   numbers.Of(0, "turn"),
		"1 turn":                    numbers.Of(1, "turn"),
		"999 turns":                 numbers.Of(999, "turn"),
		"1,000 turns":               numbers.Of(1000, "turn"),
		"1 body":                    numbers.Of(1, "body", "bodies"),
		"2 bodies":                  numbers.Of(2, "body", "bodies"),
		"9,223,372,036,854,775,807": numbers.Grouped(math.MaxInt),
	} {
		assert.Equal(t, want, got)
	}
}
