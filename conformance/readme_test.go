package conformance_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// snippetHead is what the README's snippets for openai-go take for granted.
const snippetHead = `package snippet

import (
	"net/http"

	openaigo "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
)

var mw *middleware.Middleware

func _() {
`

// The README's other snippets are compiled where their SDKs are.
func TestSnippetsForOpenAIGoCompile(t *testing.T) {
	t.Parallel()
	exports := exportsOf(t, "net/http", "github.com/openai/openai-go/v3", "github.com/openai/openai-go/v3/option",
		"github.com/carryon-go/carryon/adapters/transport", "github.com/carryon-go/carryon/middleware")
	compiled := 0
	for _, snippet := range fencesOf(t, "go") {
		if !strings.Contains(snippet, "openaigo.") {
			continue
		}
		compiled++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "snippet.go", snippetHead+snippet+"\n_ = client\n}\n", 0)
		require.NoError(t, err)
		config := types.Config{Importer: importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
			return os.Open(exports[path])
		})}
		_, err = config.Check("snippet", files, []*ast.File{file}, nil)
		require.NoError(t, err, "%s", snippet)
	}
	require.Positive(t, compiled)
}

// exportsOf returns the files with what the go command has compiled.
func exportsOf(t *testing.T, packages ...string) map[string]string {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, packages...)
	list := exec.CommandContext(t.Context(), "go", args...)
	out, err := list.Output()
	require.NoError(t, err)
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		exports[path] = file
	}
	return exports
}
