package goon_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/goon"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"continue": true, " Continue. ": true, "Please, go on!": true, "继续": true, "続けてください。": true, "Продолжай!": true, "ok, continue...": true,
		"": false, "continue with the parser": false, "Should we go on?  With what?": false, "weiterhin": false, strings.Repeat("continue ", 50): false,
	} {
		assert.Equal(t, want, goon.Is(message), message)
	}
}
