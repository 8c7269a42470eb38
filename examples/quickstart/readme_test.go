package main

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
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

const root = "../.."

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	return string(text)
}

// fences returns the code blocks of a language in the README.
func fences(t *testing.T, language string) []string {
	t.Helper()
	var blocks []string
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(readme(t), -1) {
		blocks = append(blocks, match[1])
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// tableUnder returns the first two cells of the rows of the table under a
// heading.
func tableUnder(t *testing.T, heading string) [][2]string {
	t.Helper()
	_, section, found := strings.Cut(readme(t), "\n## "+heading+"\n")
	require.True(t, found, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][2]string
	for _, match := range regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) \|`).FindAllStringSubmatch(section, -1)[1:] {
		rows = append(rows, [2]string{match[1], match[2]})
	}
	require.NotEmpty(t, rows)
	return rows
}

// prelude declares what the README's snippets assume.
const prelude = `
var (
	ctx context.Context
	t *testing.T
	key, session string
	request openai.ChatCompletionRequest
	openaiClient *openai.Client
	client *carryopenai.Client
	call openai.ToolCall
	llm llms.Model
	toolbox []tools.Tool
	todos *todo.Memory
	mw *middleware.Middleware
	loadTodos func(context.Context, string) ([]todo.Todo, error)
	runTests func(context.Context) (string, error)
	yourTools func(context.Context, openai.ToolCall) string
	show func(openai.ChatCompletionStreamResponse)
	alert func(session, text string)
)
`

var snippetImports = []string{
	"context", "fmt", "log/slog", "net/http", "testing",
	"github.com/sashabaranov/go-openai",
	"github.com/stretchr/testify/require",
	"github.com/tmc/langchaingo/agents",
	"github.com/tmc/langchaingo/chains",
	"github.com/tmc/langchaingo/llms",
	"github.com/tmc/langchaingo/llms/openai",
	"github.com/tmc/langchaingo/tools",
	"github.com/carryon-go/carryon/adapters/langchaingo",
	"github.com/carryon-go/carryon/adapters/langchaingo/agents",
	"github.com/carryon-go/carryon/adapters/openai",
	"github.com/carryon-go/carryon/adapters/transport",
	"github.com/carryon-go/carryon/asynctask",
	"github.com/carryon-go/carryon/carryontest",
	"github.com/carryon-go/carryon/continuation",
	"github.com/carryon-go/carryon/middleware",
	"github.com/carryon-go/carryon/pause",
	"github.com/carryon-go/carryon/todo",
}

// aliases are the names by which the snippets import packages of the same name.
var aliases = map[string]string{
	"github.com/carryon-go/carryon/adapters/langchaingo":        "carrylangchain ",
	"github.com/carryon-go/carryon/adapters/langchaingo/agents": "carryagents ",
	"github.com/carryon-go/carryon/adapters/openai":             "carryopenai ",
	"github.com/tmc/langchaingo/llms/openai":                    "langopenai ",
}

// snippetFile returns a Go file with a snippet: imports and declarations
// unchanged, statements inside a function.
func snippetFile(snippet string) string {
	var b strings.Builder
	b.WriteString("package snippet\n")
	if strings.HasPrefix(snippet, "import ") {
		return b.String() + snippet
	}
	for _, path := range snippetImports {
		fmt.Fprintf(&b, "import %s%q\n", aliases[path], path)
	}
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
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, snippetImports...)
	list := exec.CommandContext(t.Context(), "go", args...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	exports := make(map[string]string)
	for _, line := range lines(string(out)) {
		path, file, _ := strings.Cut(line, "\t")
		exports[path] = file
	}
	return importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

func TestSnippetsOfTheReadmeCompile(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	imports := compiled(t, files)
	for i, snippet := range fences(t, "go") {
		if strings.Contains(snippet, "openaigo.") {
			continue // the conformance module compiles it, which has that SDK
		}
		file, err := parser.ParseFile(files, fmt.Sprintf("snippet%d.go", i+1), snippetFile(snippet), 0)
		require.NoError(t, err, "%s", snippet)
		config := types.Config{Importer: imports, Error: func(err error) {
			// A snippet may leave a variable unused.
			if e, ok := err.(types.Error); !ok || !e.Soft { //nolint:errorlint // as documented
				t.Errorf("%v in:\n%s", err, snippet)
			}
		}}
		_, _ = config.Check("snippet", files, []*ast.File{file}, nil) // the handler above reports it
	}
}

func TestNamesInTheReadmeExist(t *testing.T) {
	t.Parallel()
	imports := compiled(t, token.NewFileSet())
	names := regexp.MustCompile("`(continuation|middleware|pause|carryontest|todo|transport)\\.([A-Z]\\w*)").
		FindAllStringSubmatch(readme(t), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		pkg, err := imports.Import("github.com/carryon-go/carryon/" + name[1])
		require.NoError(t, err)
		assert.NotNil(t, pkg.Scope().Lookup(name[2]), "%s.%s", name[1], name[2])
	}
}

func TestSnippetsOfTheReadmeAreFormatted(t *testing.T) {
	t.Parallel()
	for _, snippet := range fences(t, "go") {
		assert.NotRegexp(t, `(?m)^ +|[ \t]+$`, snippet, "indented by tabs, nothing at the end of lines")
	}
}

func TestReadmeQuotesTheDemo(t *testing.T) {
	t.Parallel()
	output, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(output), fences(t, "text")[0])
}

func TestCommandsOfTheReadmeAreInTheMakefile(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	commands := regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)").FindAllStringSubmatch(readme(t), -1)
	require.GreaterOrEqual(t, len(commands), 2)
	for _, command := range commands {
		assert.Regexp(t, `(?m)^`+command[1]+`:`, string(makefile))
	}
}

func TestLinksOfTheReadmeLeadSomewhere(t *testing.T) {
	t.Parallel()
	text := readme(t)
	anchors := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors["#"+strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	for _, match := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		switch target := match[1]; {
		case strings.HasPrefix(target, "https://"):
		case strings.HasPrefix(target, "#"):
			assert.True(t, anchors[target], target)
		default:
			_, err := os.Stat(filepath.Join(root, target))
			assert.NoError(t, err)
		}
	}
}

func TestReasonsInTheReadmeAreReal(t *testing.T) {
	t.Parallel()
	reasons := make(map[string]bool)
	for r := continuation.ReasonNone; !strings.HasPrefix(r.String(), "continuation.Reason("); r++ {
		reasons[r.String()] = true
	}
	for _, row := range tableUnder(t, "Nothing happened?") {
		assert.True(t, reasons[row[0]], "no such reason: %s", row[0])
	}
}

func TestLimitsInTheReadmeAreTheDefaults(t *testing.T) {
	t.Parallel()
	limits, err := continuation.Limits{}.WithDefaults()
	require.NoError(t, err)
	want := [][2]string{
		{"`MaxAttempts`", strconv.Itoa(limits.MaxAttempts)},
		{"`MaxWithoutProgress`", strconv.Itoa(limits.MaxWithoutProgress)},
		{"`MinInterval`", limits.MinInterval.String()},
		{"`ResponseTimeout`", limits.ResponseTimeout.String()},
		{"`FirstByteTimeout`", limits.FirstByteTimeout.String()},
		{"`TokenBudget`", "off"},
	}
	assert.Equal(t, want, tableUnder(t, "Limits"))
	assert.Equal(t, continuation.Off, limits.TokenBudget)
	assert.Contains(t, readme(t), "up to 100,000 sessions and 24 hours")
	assert.Equal(t, 100_000, continuation.DefaultMaxSessions)
	assert.Equal(t, 24*time.Hour, continuation.DefaultMaxAge)
}

func TestOutcomeInTheReadmeIsReal(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t, carryontest.Text("Hello."))
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), middleware.New(todo.NewMemory()))
	ctx, outcomes := middleware.Capture(t.Context())
	_, err := client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "some-model"})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(strings.Fields(readme(t)), " "), "`"+outcomes.Last().String()+"`")
}

// The README shows a conversation that the chat agent really has.
func TestChatOfTheReadmeIsReal(t *testing.T) {
	t.Parallel()
	said, err := os.ReadFile(filepath.Join(root, "examples", "chat", "testdata", "pipe.txt"))
	require.NoError(t, err)
	shown := 0
	for _, block := range fences(t, "text") {
		if strings.HasPrefix(block, "> ") {
			assert.Contains(t, string(said), block)
			shown++
		}
	}
	assert.Equal(t, 1, shown)
}
