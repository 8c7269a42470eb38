package docs_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/carryon-go/carryon/otel" // so that snippets can use it
)

// compiledElsewhere has the pages whose Go code other tests check, with the reason.
var compiledElsewhere = map[string]string{
	"docs/adapters.md": "its code is that of conformance/anthropic",
}

// prelude declares what the snippets assume.
const prelude = `
var (
	ctx context.Context
	t *testing.T
	key, session, messageID string
	request openai.ChatCompletionRequest
	client *carryopenai.Client
	call openai.ToolCall
	llm llms.Model
	toolbox []tools.Tool
	todos *todo.Memory
	mw *middleware.Middleware
	engine records.Records
	loadTodos func(context.Context, string) ([]todo.Todo, error)
	runTests func(context.Context) (string, error)
	yourTools func(context.Context, openai.ToolCall) string
)
`

const carryon = "github.com/carryon-go/carryon/"

// imports are the packages that snippets may use, by the names that they use.
var imports = map[string]string{
	"context": "context", "fmt": "fmt", "slog": "log/slog", "http": "net/http", "testing": "testing", "time": "time",
	"openai":         "github.com/sashabaranov/go-openai",
	"openaigo":       "github.com/openai/openai-go/v3",
	"anthropic":      "github.com/anthropics/anthropic-sdk-go",
	"genai":          "google.golang.org/genai",
	"require":        "github.com/stretchr/testify/require",
	"agents":         "github.com/tmc/langchaingo/agents",
	"chains":         "github.com/tmc/langchaingo/chains",
	"llms":           "github.com/tmc/langchaingo/llms",
	"langopenai":     "github.com/tmc/langchaingo/llms/openai",
	"tools":          "github.com/tmc/langchaingo/tools",
	"carrylangchain": carryon + "adapters/langchaingo",
	"carryagents":    carryon + "adapters/langchaingo/agents",
	"carryopenai":    carryon + "adapters/openai",
	"transport":      carryon + "adapters/transport",
	"asynctask":      carryon + "asynctask",
	"autotrigger":    carryon + "asynctask/autotrigger",
	"carryontest":    carryon + "carryontest",
	"check":          carryon + "check",
	"continuation":   carryon + "continuation",
	"join":           carryon + "adapter/join",
	"middleware":     carryon + "middleware",
	"pause":          carryon + "pause",
	"records":        carryon + "records",
	"todo":           carryon + "todo",
	"carryonotel":    carryon + "otel",
}

// Both official SDKs have a package option; a snippet uses its SDK's.
const (
	openaiOption    = "github.com/openai/openai-go/v3/option"
	anthropicOption = "github.com/anthropics/anthropic-sdk-go/option"
)

// snippetFile returns a Go file with a snippet: imports and declarations
// unchanged, statements inside a function.
func snippetFile(snippet string) string {
	var b strings.Builder
	b.WriteString("package snippet\n")
	if strings.HasPrefix(snippet, "import ") {
		return b.String() + snippet
	}
	if strings.HasPrefix(snippet, "package ") {
		return snippet
	}
	for name, path := range imports {
		fmt.Fprintf(&b, "import %s %q\n", name, path)
	}
	option := openaiOption
	if strings.Contains(snippet, "anthropic.") {
		option = anthropicOption
	}
	fmt.Fprintf(&b, "import option %q\n", option)
	b.WriteString(prelude)
	if strings.HasPrefix(snippet, "func ") {
		b.WriteString(snippet)
	} else {
		fmt.Fprintf(&b, "func _() error {\nctx := ctx\n{\n%s\n}\nreturn nil\n}\n", snippet)
	}
	return b.String()
}

// compiled returns an importer for packages that the go command compiled.
func compiled(t *testing.T, files *token.FileSet) types.Importer {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", openaiOption, anthropicOption}
	for _, path := range imports {
		args = append(args, path)
	}
	list := exec.CommandContext(t.Context(), "go", args...)
	list.Env = append(list.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	require.NoError(t, err)
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		exports[path] = file
	}
	return importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

func TestSnippetsCompile(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	packages := compiled(t, files)
	count := 0
	for _, p := range pages(t) {
		if compiledElsewhere[p.path] != "" {
			continue
		}
		for i, snippet := range p.fences("go") {
			count++
			assert.NotRegexp(t, `(?m)^ +|[ \t]+$`, snippet, "%s: indented by tabs, nothing at the end of lines", p.path)
			file, err := parser.ParseFile(files, fmt.Sprintf("%s-%d.go", p.path, i+1), snippetFile(snippet), 0)
			require.NoError(t, err, "%s", snippet)
			config := types.Config{Importer: packages, Error: func(err error) {
				// Unused variables and imports are fine in a snippet.
				if e, ok := err.(types.Error); !ok || !e.Soft { //nolint:errorlint // as documented
					t.Errorf("%v in:\n%s", err, snippet)
				}
			}}
			_, _ = config.Check("snippet", files, []*ast.File{file}, nil) // the handler above reports it
		}
	}
	assert.Greater(t, count, 20)
}

// Names in the prose, such as `todo.NewMemory`, exist.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	packages := compiled(t, token.NewFileSet())
	pattern := regexp.MustCompile("`(\\w+)\\.([A-Z]\\w*)(?:\\.[A-Z]\\w*)?(?:\\(\\w*\\))?`")
	found := 0
	for _, p := range pages(t) {
		for _, name := range pattern.FindAllStringSubmatch(p.prose(), -1) {
			if !strings.HasPrefix(imports[name[1]], carryon) {
				continue
			}
			pkg, err := packages.Import(imports[name[1]])
			require.NoError(t, err)
			assert.NotNil(t, pkg.Scope().Lookup(name[2]), "%s names %s.%s", p.path, name[1], name[2])
			found++
		}
	}
	assert.Greater(t, found, 30)
}
