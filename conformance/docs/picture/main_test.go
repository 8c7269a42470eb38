package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The picture in the README shows what the demo prints today.
func TestPictureIsOfTheDemo(t *testing.T) {
	t.Parallel()
	output, err := os.ReadFile("../../../examples/comparison/testdata/output.txt")
	require.NoError(t, err)
	want, err := os.ReadFile("../../../docs/demo.svg")
	require.NoError(t, err)
	assert.Equal(t, string(want), render(runs(string(output)), demoLabel), "run make picture")
}

// A terminal shows what is left on its screen, without where it ran.
func TestAScreenIsDrawn(t *testing.T) {
	t.Parallel()
	const start, agent, end = "carryon: standard mode\r\n", "\x1b[?1049h\x1b[Hwrong\x1b[2K\rin /tmp/carryon-1/home\x1b[?1049l", "\x1b[32mcarryon: 2 continuations\x1b[0m\r\n\r\n"
	text, err := shown([]byte(start + agent + end))
	require.NoError(t, err)
	assert.Equal(t, "in ~/tea\n\ncarryon: standard mode\ncarryon: 2 continuations", text)
	text, err = shown([]byte(start + end))
	require.NoError(t, err)
	assert.Equal(t, "carryon: standard mode\ncarryon: 2 continuations", text)
	assert.Contains(t, render(text, runLabel), `fill="#7ee787">carryon:&#160;2&#160;continuations</text>`)
}
