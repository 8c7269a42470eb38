package pause_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/pause"
)

func TestPrintedRelease(t *testing.T) {
	t.Parallel()
	var p pause.Printed
	assert.Empty(t, p.Release())
	assert.Equal(t, "So: ", p.Write("So: todo_pause('no key')"))
	assert.Equal(t, "todo_pause('no key')", p.Release())
	assert.False(t, p.Held())
	_, ok, rest := p.End()
	assert.False(t, ok)
	assert.Empty(t, rest)
}
