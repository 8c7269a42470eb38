package anthropic_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The code in docs/adapters.md is code of this folder, so that it stays correct.
func TestCodeOfTheDocumentIsTheCodeHere(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/adapters.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		code.Write(source)
	}
	fences := regexp.MustCompile("(?ms)^( *)```go\n(.*?)^ *```$").FindAllStringSubmatch(string(document), -1)
	assert.Len(t, fences, strings.Count(string(document), "```go"))
	assert.GreaterOrEqual(t, len(fences), 2)
	for _, fence := range fences {
		indent, snippet := fence[1], fence[2]
		snippet = strings.TrimPrefix(strings.ReplaceAll("\n"+snippet, "\n"+indent, "\n"), "\n")
		assert.Contains(t, code.String(), snippet)
	}
}
