package docs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// notRun gives the reason why TestEveryBlockIsRun accepts a block, by page and the block's beginning.
var notRun = map[string]map[string]string{
	"README.md": {"carryon run -- opencode": "run by TestTheCommandRunsAnAgent"},
	"docs/agents.md": {
		"carryon run -list -- claude": "run by TestTheCommandRunsAnAgent",
		"carryon: 8 requests":         "output; make agents wrote the same line",
		"carryon proxy -upstream":     "run by TestTheProxyStarts",
		"carryon: resumed":            "output; the tests of cmd/carryon compare the sentence",
		"carryon: worth":              "output; the tests of cmd/carryon compare the sentence",
	},
	"docs/how-it-decides.md": {
		"(Automatic message": "a region that is made from the code",
		"carryon run -until": "the tests of the command run it",
	},
	"docs/operators.md": {
		"upstream carryon {": "the tests of the command run it with nginx",
		"defaults":           "the tests of the command run it with HAProxy",
		"max-attempts = 3":   "the tests of the command read such a file",

		"engine, err := redis.Open": "the Example of stores/redis is the same line",
		"make demo DEMO=replicas":   "needs a Redis: the tests of examples/replicas run it",
	},
}

// Each block of README and docs/ is run or compiled, or is in notRun with a reason.
func TestEveryBlockIsRun(t *testing.T) {
	t.Parallel()
	all := regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	for _, p := range append(pages(t), read(t, "CONTRIBUTING.md")) {
		for _, match := range all.FindAllStringSubmatch(p.text, -1) {
			language, block := match[1], match[2]
			reason := ""
			for beginning, why := range notRun[p.path] {
				if strings.HasPrefix(strings.TrimSpace(block), beginning) {
					reason = why
				}
			}
			switch {
			case reason != "":
			case language == "go", language == "mermaid": // TestSnippetsCompile; GitHub draws the others
			case language == "python", language == "js": // TestOtherLanguagesReachTheProxy
				assert.Equal(t, "docs/agents.md", p.path)
			case language == "sh" && strings.HasPrefix(block, "make "):
				makeKnows(t, p.path, block)
			case language == "sh" && p.path == "README.md": // TestTheReadmeInstalls
			default:
				assert.Fail(t, "nobody runs this", "%s:\n%s", p.path, block)
			}
		}
	}
}

// makeKnows checks that make has the targets of a block. It does not run them: they take minutes.
func makeKnows(t *testing.T, path, block string) {
	t.Helper()
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, "#")
		out, err := shell(t.Context(), root, command, "MAKEFLAGS=n").CombinedOutput()
		assert.NoError(t, err, "%s: %s\n%s", path, line, out)
	}
}

// carryonCommand returns the folder of the command, which is built once.
func carryonCommand(t *testing.T) (bin string) {
	t.Helper()
	bin, err := buildCommand()
	require.NoError(t, err)
	return bin
}

// commandFolder is the folder that buildCommand has made, or "".
var commandFolder string

var buildCommand = sync.OnceValues(func() (bin string, err error) {
	bin, err = os.MkdirTemp("", "carryon")
	if err != nil {
		return "", err
	}
	commandFolder = bin
	if out, err := shell(context.Background(), filepath.Join(root, "cmd/carryon"), "go install .", "GOBIN="+bin).CombinedOutput(); err != nil {
		return bin, fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// The "carryon run" blocks of README and docs/agents.md work, with a program in place of the agent.
func TestTheCommandRunsAnAgent(t *testing.T) {
	t.Parallel()
	bin := carryonCommand(t)
	agents, err := filepath.Abs("testdata/agents")
	require.NoError(t, err)
	for _, path := range []string{"README.md", "docs/agents.md"} {
		ran := 0
		for _, block := range read(t, path).fences("(?:text|sh)") {
			if !strings.HasPrefix(block, "carryon run ") {
				continue
			}
			out, err := shell(t.Context(), t.TempDir(), "PATH="+bin+":"+agents+":$PATH\n"+block).Output()
			require.NoError(t, err)
			assert.Regexp(t, `^http://carryon:\w+@127\.0\.0\.1:\d+\n`, string(out))
			ran++
		}
		assert.Positive(t, ran, path)
	}
}

// The "carryon proxy" blocks of docs/agents.md work, at a free address.
func TestTheProxyStarts(t *testing.T) {
	t.Parallel()
	bin := carryonCommand(t)
	started := 0
	for _, block := range read(t, "docs/agents.md").fences("text") {
		if command, ok := strings.CutPrefix(block, "carryon proxy "); ok {
			assert.NotEmpty(t, listens(t, bin, strings.TrimSpace(command)+" -listen 127.0.0.1:0"), block)
			started++
		}
	}
	assert.Positive(t, started)
}

// client is a program in another language, around the line of docs/agents.md that creates a client of OpenAI's SDK.
type client struct {
	language string
	command  []string
	before   string // a class in place of the SDK's client, with the SDK's option names
	after    string // asks, and prints the answer
}

var clients = []client{
	{
		"python",
		[]string{"python3", "-"},
		`
import os, urllib.request

try:
    from openai import OpenAI
except ImportError:
    class OpenAI:
        def __init__(self, *, base_url, default_headers, api_key=None):
            self.base_url, self.default_headers = base_url, default_headers
`,
		`
request = urllib.request.Request(
    str(client.base_url).rstrip("/") + "/chat/completions", os.environ["REQUEST"].encode(),
    {"Content-Type": "application/json", "X-Carryon-Session": client.default_headers["X-Carryon-Session"]})
print(urllib.request.urlopen(request).read().decode())
`,
	},
	{
		"js",
		[]string{"node", "--input-type=module", "-"},
		`
class OpenAI {
  constructor({ baseURL, defaultHeaders }) { Object.assign(this, { baseURL, defaultHeaders }) }
}
`,
		`
const answer = await fetch(client.baseURL + "/chat/completions", {
  method: "POST", headers: { "Content-Type": "application/json", ...client.defaultHeaders }, body: process.env.REQUEST,
})
console.log(await answer.text())
`,
	},
}

// The proxy continues requests from the clients that the Python and JavaScript lines of docs/agents.md create.
func TestOtherLanguagesReachTheProxy(t *testing.T) {
	t.Parallel()
	bin := carryonCommand(t)
	for _, c := range clients {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.command[0]); err != nil {
				t.Skipf("there is no %s here", c.command[0])
			}
			upstream := fakellm.NewServer(t, fakellm.Text("Next, I will write style.css."), fakellm.Call("write_file", `{"path":"style.css"}`))
			base := listens(t, bin, "-upstream "+upstream.URL()+" -listen 127.0.0.1:0")
			blocks := read(t, "docs/agents.md").fences(c.language)
			require.Len(t, blocks, 1)
			require.Contains(t, blocks[0], "http://127.0.0.1:8787/v1")
			source := c.before + strings.Replace(blocks[0], "http://127.0.0.1:8787/v1", base, 1) + c.after
			command := exec.CommandContext(t.Context(), c.command[0], c.command[1:]...) //nolint:gosec // one of two
			command.Stdin = strings.NewReader(source)
			command.Env = append(command.Environ(), "OPENAI_API_KEY=no-key", "NO_PROXY=*", "REQUEST="+stalledRequest)
			answer, err := command.CombinedOutput()
			require.NoError(t, err, "%s", answer)
			assert.Contains(t, string(answer), "Next, I will write style.css.")
			assert.Contains(t, string(answer), `{\"path\":\"style.css\"}`)
			require.Len(t, upstream.Requests(), 2, "the proxy added one")
		})
	}
}
