package page

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The screenshots in the documentation are small, used there, and as large as new ones.
func TestPictures(t *testing.T) {
	storyOf(t).look(t, desk(), "") // skips the test without a browser
	taken := t.TempDir()
	require.NoError(t, TakeAll(taken))
	docs, err := os.ReadFile("../../docs/operators.md")
	require.NoError(t, err)
	for _, p := range pictures {
		kept, err := os.ReadFile(filepath.Join("../../docs", p.name+".png"))
		require.NoError(t, err)
		assert.Less(t, len(kept), 150<<10, p.name)
		assert.Contains(t, string(docs), "]("+p.name+".png)")
		now, err := os.ReadFile(filepath.Join(taken, p.name+".png"))
		require.NoError(t, err)
		was, err := png.DecodeConfig(bytes.NewReader(kept))
		require.NoError(t, err)
		is, err := png.DecodeConfig(bytes.NewReader(now))
		require.NoError(t, err)
		assert.Equal(t, was.Width, is.Width, p.name)
		assert.InDelta(t, was.Height, is.Height, 60, "%s: fonts differ, but not by that much: run make screenshots", p.name)
	}
}
