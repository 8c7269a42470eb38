package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

var writeRegions = flag.Bool("write", false, "write the regions instead of checking them")

// regions makes the parts of the documents that the code knows better. In a document, a region stands between
// <!-- checked: NAME --> and <!-- end -->, and "make docs" writes it.
var regions = map[string]func(*testing.T) string{
	"tested": testedRegion,
	"limits": limitsRegion,
	"prompt": promptRegion,
	"sdks":   sdksRegion,
}

var region = regexp.MustCompile(`(?s)(<!-- checked: (\w+) -->\n).*?(<!-- end -->\n)`)

// The regions say what the code says.
func TestRegionsAreCurrent(t *testing.T) {
	t.Parallel()
	used := make(map[string]bool)
	for _, p := range pages(t) {
		current := region.ReplaceAllStringFunc(p.text, func(old string) string {
			part := region.FindStringSubmatch(old)
			used[part[2]] = true
			write := regions[part[2]]
			require.NotNil(t, write, "%s: there is no region %q", p.path, part[2])
			now := part[1] + write(t) + part[3]
			assert.True(t, *writeRegions || now == old, "%s is stale: run \"make docs\". It would write:\n%s", p.path, now)
			return now
		})
		require.Len(t, region.FindAllString(p.text, -1), strings.Count(p.text, "<!-- checked: "), "%s: a region has no end", p.path)
		if *writeRegions {
			require.NoError(t, os.WriteFile(filepath.Join(root, p.path), []byte(current), 0o600))
		}
	}
	assert.Len(t, used, len(regions), "a region that no page has: %v", used)
}

// wrapped returns a list item in lines of at most 140 characters.
func wrapped(item string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(item) {
		switch {
		case i == 0:
		case column+1+len([]rune(word)) > 140:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len([]rune(word))
	}
	return b.String() + "\n"
}

// testedRegion lists what tests ran, in which versions.
func testedRegion(t *testing.T) string {
	t.Helper()
	chats, err := httprr.Recorded(t.Context())
	require.NoError(t, err)
	sdks := make([]string, 0, len(sdkModules))
	for _, sdk := range sdkModules {
		sdks = append(sdks, sdk.name)
	}
	var b strings.Builder
	for _, item := range []string{
		fmt.Sprintf("- **%d agents and frameworks**, the real programs, are reached: [what was tried](docs/agents.md#what-was-tried).", len(agentsTried(t))),
		"- **SDKs**, over HTTP: " + strings.Join(sdks, ", ") + ", in [these versions](docs/compatibility.md#go-and-sdks).",
		fmt.Sprintf("- **Chat Completions**: %d quirks of providers, scripted, and %d recorded chats. **Responses**: %d recorded streams. "+
			"**Messages**: %d recorded files. **Gemini**: scripted answers.", len(quirks.All()), len(chats),
			count(t, "internal/wire/responses/testdata/streams/*"), count(t, "conformance/messages/testdata/*")),
		"- **Failures**: answers cut off at every byte, and hostile conversations, with the SDKs' own readers as judges.",
		"- **Servers**: Redis and PostgreSQL, shared by processes, some of which are killed; asynq and River.",
	} {
		b.WriteString(wrapped(item))
	}
	return b.String()
}

// sdkModules are the SDKs that tests use as programs do.
var sdkModules = []struct{ name, module string }{
	{"go-openai", "github.com/sashabaranov/go-openai"},
	{"openai-go", "github.com/openai/openai-go/v3"},
	{"anthropic-sdk-go", "github.com/anthropics/anthropic-sdk-go"},
	{"genai", "google.golang.org/genai"},
	{"langchaingo", "github.com/tmc/langchaingo"},
}

// sdksRegion lists the versions of SDKs that are supported.
func sdksRegion(t *testing.T) string {
	t.Helper()
	lowest, tested := required(t, "go.mod"), required(t, "conformance/go.mod")
	var b strings.Builder
	b.WriteString("| SDK | lowest version | tested with |\n|---|---|---|\n")
	for _, sdk := range sdkModules {
		low := lowest[sdk.module]
		if low == "" {
			low = "any"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", sdk.name, low, tested[sdk.module])
	}
	return b.String()
}

// required returns the versions of modules in a go.mod.
func required(t *testing.T, path string) map[string]string {
	t.Helper()
	versions := make(map[string]string)
	for _, line := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(read(t, path).text, -1) {
		versions[line[1]] = line[2]
	}
	return versions
}

// agentsTried returns the agents in the table that "make agents" wrote, each once, and none that carryon does not reach.
func agentsTried(t *testing.T) (names []string) {
	t.Helper()
	_, table, found := strings.Cut(read(t, "docs/agents.md").text, "<!-- agents: written by make agents -->\n")
	require.True(t, found)
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*?)(?:, [^|]*)? (\d\S*) \|.*\| 3 \| \d+ \|$`).FindAllStringSubmatch(table, -1) {
		if name := row[1] + " " + row[2]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	require.Greater(t, len(names), 5)
	return names
}

// count returns how many files there are.
func count(t *testing.T, pattern string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	return len(files)
}

// shownLimits are the limits that a user may want to change; the documentation of the package has them all.
var shownLimits = []string{"MaxAttempts", "MaxWithoutProgress", "MinInterval", "TokenBudget", "FirstByteTimeout", "ResponseTimeout"}

// limitsRegion lists limits with their defaults, in the words of their comments.
func limitsRegion(t *testing.T) string {
	t.Helper()
	limits, err := continuation.Limits{}.WithDefaults()
	require.NoError(t, err)
	comments := commentsOf(t, "continuation/limits.go", "Limits")
	var b strings.Builder
	b.WriteString("| limit | default | meaning |\n|---|---|---|\n")
	for _, name := range shownLimits {
		text := fmt.Sprint(reflect.ValueOf(limits).FieldByName(name).Interface())
		if text == strconv.Itoa(continuation.Off) {
			text = "off"
		}
		require.NotEmpty(t, comments[name])
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, text, comments[name])
	}
	return b.String()
}

// promptRegion is the first prompt after a turn that announced its next step.
func promptRegion(t *testing.T) string {
	t.Helper()
	p, err := prompt.New(continuation.Templates{})
	require.NoError(t, err)
	return "```text\n" + p.Prompt(prompt.Input{
		Task: "Write style.css", Attempt: 1, End: handback.Announces,
		List: prompt.List{Todos: 3, Open: 2, Next: [prompt.MaxNext]string{"Write README.md"}, Tool: "todo_write"},
	}) + "\n```\n"
}

// commentsOf returns the first sentence of the comment of each field, without the field's name.
func commentsOf(t *testing.T, path, typeName string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments)
	require.NoError(t, err)
	found := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != typeName {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			found[field.Names[0].Name] = firstSentence(field.Doc.Text(), field.Names[0].Name)
		}
		return false
	})
	return found
}

func firstSentence(text, name string) string {
	var links comment.Parser
	parsed := links.Parse(text)
	plain := strings.Join(strings.Fields(string((&comment.Printer{}).Text(&comment.Doc{Content: parsed.Content[:1]}))), " ")
	sentence, _, _ := strings.Cut(plain+" ", ". ")
	sentence = strings.NewReplacer("[", "", "]", "").Replace(strings.TrimSuffix(strings.TrimSpace(sentence), "."))
	for _, verb := range []string{" is ", " are "} {
		sentence = strings.TrimPrefix(sentence, name+verb)
	}
	return sentence
}
