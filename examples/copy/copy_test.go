package copy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// A reader copies one file, sets a key and runs it. Here, the SDK's own variable for the base URL leads it to a model that
// stalls with its list open; the agent still writes every file.
func TestFilesToCopy(t *testing.T) {
	t.Parallel()
	for _, sdk := range []string{"../quickstart", "openai-go", "anthropic-sdk-go"} {
		t.Run(filepath.Base(sdk), func(t *testing.T) {
			t.Parallel()
			server := carryontest.NewServer(t,
				carryontest.Call("todo_write", list("in_progress", "pending")),
				carryontest.Call("write_file", `{"path":"index.html","content":"<h1>Tea</h1>"}`),
				carryontest.Text("The page is there. Next comes style.css."), // without carryon, the agent ends here
				carryontest.Call("write_file", `{"path":"css/style.css","content":"h1 { color: green }"}`),
				carryontest.Call("write_file", `{"path":"../style.css","content":"h1 { color: red }"}`),
				carryontest.Call("todo_write", list("completed", "completed")),
				carryontest.Text("Both files are written."),
			)
			outside := t.TempDir()
			folder := filepath.Join(outside, "agent")
			require.NoError(t, os.Mkdir(folder, 0o700))
			command := exec.CommandContext(t.Context(), build(t, sdk))
			command.Dir = folder
			command.Env = append(os.Environ(),
				"OPENAI_API_KEY=none", "OPENAI_BASE_URL="+server.URL(),
				"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+strings.TrimSuffix(server.URL(), "/v1"))
			said, err := command.CombinedOutput()
			require.NoError(t, err, string(said))
			assert.Contains(t, string(said), "Both files are written.")
			assert.Contains(t, string(said), "carryon: ")
			assert.FileExists(t, filepath.Join(folder, "index.html"))
			style, err := os.ReadFile(filepath.Join(folder, "css", "style.css"))
			require.NoError(t, err)
			assert.Equal(t, "h1 { color: green }", string(style))
			assert.NoFileExists(t, filepath.Join(outside, "style.css"))
			assert.NoFileExists(t, filepath.Join(folder, "style.css"), "each path is a file of its own")
			requests := server.Requests()
			last := string(requests[len(requests)-1].Body)
			assert.Equal(t, 2, strings.Count(last, `"ok"`), "the model is told of each file: %s", last)
			assert.Equal(t, 1, strings.Count(last, "error: "), last)
		})
	}
}

// The files stay short enough to be read before they are copied.
func TestFilesToCopyAreShort(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	assert.Len(t, files, 2)
	for _, file := range append(files, "../quickstart/main.go") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.LessOrEqual(t, strings.Count(string(text), "\n"), 100, file)
	}
}

func list(page, style string) string {
	return `{"todos":[{"content":"Write index.html","status":"` + page + `"},{"content":"Write style.css","status":"` + style + `"}]}`
}

// build builds the program in main.go, and nothing but that file, and returns the path of the binary.
func build(t *testing.T, sdk string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "agent")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-C", sdk, "-o", binary, "main.go")
	command.Env = append(os.Environ(), "CGO_ENABLED=0") // as the other modules that compile these SDKs
	said, err := command.CombinedOutput()
	require.NoError(t, err, string(said))
	return binary
}
