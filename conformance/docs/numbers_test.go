package docs_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/check"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/pausetool"
	"github.com/carryon-go/carryon/internal/prompt"
)

// number is a part of a page that has digits: either with the value that the code gives it, in the form of the text, or
// with the reason why no code has it.
type number struct {
	page, text string
	value      any
	why        string
}

// numbers are all that stand in the prose and the tables of README and docs/, outside of regions and of code.
func numbers(t *testing.T) []number {
	t.Helper()
	in := func(dir, name string) int64 { return constantIn(t, dir, name) }
	oneContinuation, cached := costOfAContinuation()
	weak := simulated(t, "all of it")
	return []number{
		{page: "README.md", text: "with Go 1.25 and make", why: "oldestGo, without its patch"},
		{page: "README.md", text: "and Go 1.25 or newer", why: "oldestGo, without its patch"},
		{page: "README.md", text: "With Go 1.25 or newer", why: "oldestGo, without its patch"},
		{page: "README.md", text: "`2 turns, 1 continuation: The continuation", why: "TestTheProgramOfTheReadmeRuns compares it"},
		{page: "README.md", text: "In 759 sessions with strong agents, 179 turns", why: "decisions.md has the study"},
		{page: "README.md", text: "without a word from you | %v |", value: fmt.Sprintf("%.0f%% | %.0f%%", weak["yolo"].alone, weak["standard"].alone)},
		{page: "README.md", text: "in the end | %v, with", value: fmt.Sprintf("%.0f%% | %.0f%%", weak["yolo"].finished, weak["standard"].finished)},
		{page: "README.md", text: "your \"go on\" %v times on average", value: fmt.Sprintf("%.1f", weak["standard"].typed/100)},
		{page: "README.md", text: "of at most %v words", value: prompt.MaxWords},
		{page: "README.md", text: "at most %v without a tool call,", value: continuation.DefaultLimits().MaxAttempts},
		{page: "README.md", text: "and %v in all, until the list makes progress.", value: continuation.DefaultLimits().MaxWithoutProgress},
		{page: "README.md", text: "With 50,000 tokens of conversation at $3 per million, one", why: "the example of how-it-decides.md"},
		{page: "README.md", text: "costs about $%.2f, and", value: oneContinuation},
		{page: "README.md", text: "can cost $49 at the very worst", why: "the example of how-it-decides.md"},
		{page: "README.md", text: "ten cost about $%.1f0.", value: float64(continuation.DefaultLimits().MaxWithoutProgress) * oneContinuation},
		{page: "README.md", text: "for %v hours", value: continuation.DefaultLimits().SessionLife.Hours()},
		{page: "README.md", text: "the latest %v requests", value: thousands(in("cmd/carryon/internal/proxy", "maxEntries"))},
		{page: "README.md", text: "before 1.0", why: "a version to come"},
		{page: "docs/adapters.md", text: "of about 650 lines", why: "counted by hand, without comments"},
		{page: "docs/agents.md", text: "has a list for Gemini 2,", why: "a fact about gemini-cli"},
		{page: "docs/agents.md", text: "if step 3 prints", why: "a step of the list above"},
		{page: "docs/agents.md", text: "nanocoder (1.30.0)", why: "the version with which it was tried"},
		{page: "docs/agents.md", text: "speak only HTTP/2", why: "a protocol"},
		{page: "docs/benchmarks.md", text: "the whole 95% interval", why: "how it is measured"},
		{page: "docs/benchmarks.md", text: "10 ms for a chunk, 1% here is 0.001% of the answer", why: "an illustration"},
		{page: "docs/agents.md", text: "%v if the command is not found", value: in("cmd/carryon", "codeNotFound")},
		{page: "docs/agents.md", text: "%v if it cannot be run", value: in("cmd/carryon", "codeNotRun")},
		{page: "docs/agents.md", text: "Claude Code %v |", value: seen(t, "claudeCodeSeen")},
		{page: "docs/agents.md", text: "Codex %v,", value: seen(t, "codexSeen")},
		{page: "docs/agents.md", text: "opencode %v |", value: seen(t, "openCodeSeen")},
		{page: "docs/agents.md", text: "qwen-code %v |", value: seen(t, "qwenCodeSeen")},
		{page: "docs/agents.md", text: "Copilot CLI %v |", value: seen(t, "copilotCLISeen")},
		{page: "docs/agents.md", text: "gemini-cli %v |", value: seen(t, "geminiCLISeen")},
		{page: "docs/compatibility.md", text: "Before 1.0", why: "a version to come"},
		{page: "docs/compatibility.md", text: "From 1.0 on, these hold for all 1.x", why: "a version to come"},
		{page: "docs/compatibility.md", text: "from %v on", value: oldestGo(t)},
		{page: "docs/compatibility.md", text: "amd64 and arm64. CI tests Linux on amd64,", why: "names"},
		{page: "docs/design.md", text: "turn 1", why: "a name"},
		{page: "docs/agents.md", text: "759 sessions, nine tenths of them with Claude Opus 4.5 and 4.6. Of 179 turns", why: "decisions.md has the study"},
		{page: "docs/go.md", text: "up to %v sessions", value: thousands(continuation.DefaultLimits().MaxSessions)},
		{page: "docs/go.md", text: "for %v hours", value: continuation.DefaultLimits().SessionLife.Hours()},
		{page: "docs/go.md", text: "under %v bytes", value: in("internal/pausetool", "minReasonBytes")},
		{page: "docs/go.md", text: "over %v characters", value: pausetool.MaxReason},
		{page: "docs/go.md", text: "Exit code 0 means done", why: "a code of processes"},
		{page: "docs/go.md", text: "for at most %v minutes", value: continuation.DefaultLimits().MaxTaskAge.Minutes()},
		{page: "docs/go.md", text: "%v running functions per manager", value: in("asynctask", "defaultLimit")},
		{page: "docs/go.md", text: "%v running tasks", value: in("asynctask", "defaultSessionLimit")},
		{page: "docs/go.md", text: "%v per result", value: size(in("asynctask", "maxCompletion"))},
		{page: "docs/go.md", text: "%v of results per session", value: size(in("asynctask", "maxOutputs"))},
		{page: "docs/how-it-decides.md", text: "is cut to %v characters, and cannot", value: in("internal/description", "Max")},
		{page: "docs/how-it-decides.md", text: "HTTP 4xx but 408, 409 and 429", why: "statuses of HTTP; tests of the engine have them"},
		{page: "docs/how-it-decides.md", text: "over %v characters, and since", value: in("internal/handback", "maxAnswer")},
		{page: "docs/how-it-decides.md", text: "The build is at 40%", why: "an example"},
		{page: "docs/how-it-decides.md", text: "`2 turns, 1 continuation: No active todos found (pending or in_progress): all 3 are done", why: "an illustration"},
		{page: "docs/how-it-decides.md", text: "announces ends after %v minutes", value: continuation.DefaultLimits().MaxTaskAge.Minutes()},
		{page: "docs/how-it-decides.md", text: "up to %v characters.", value: thousands(in("internal/prompt", "MaxQuote"))},
		{page: "docs/how-it-decides.md", text: "(%v minutes) decides nothing", value: check.DefaultTimeout.Minutes()},
		{page: "docs/how-it-decides.md", text: "a check has %v seconds there", value: time.Duration(in("middleware", "maxSilence")).Seconds()},
		{page: "docs/how-it-decides.md", text: "**Why %v attempts", value: continuation.DefaultLimits().MaxAttempts},
		{page: "docs/how-it-decides.md", text: ", not 3?", why: "what other systems allow"},
		{page: "docs/how-it-decides.md", text: "forms in 16 languages", why: "the languages that the lexicon of internal/handback names, without those that it knows roughly"},
		{page: "docs/how-it-decides.md", text: "for at most %v minutes", value: continuation.DefaultLimits().MaxTaskAge.Minutes()},
		{page: "docs/how-it-decides.md", text: "only the first %v count", value: in("internal/decision", "maxAdded")},
		{page: "docs/how-it-decides.md", text: "at most %v answered continuations if", value: continuation.DefaultLimits().MaxAttempts},
		{page: "docs/how-it-decides.md", text: "at most %v with tool calls or failed tries", value: continuation.DefaultLimits().MaxWithoutProgress},
		{page: "docs/how-it-decides.md", text: "progress 2n + %v times", value: in("internal/decision", "maxAdded")},
		{page: "docs/how-it-decides.md", text: "worst, without a check, is %v requests", value: fmt.Sprintf("%d × (2n + %d)", continuation.DefaultLimits().MaxWithoutProgress, in("internal/decision", "maxAdded")+1)},
		{page: "docs/how-it-decides.md", text: "up to %v added ones count", value: in("internal/decision", "maxAdded")},
		{page: "docs/how-it-decides.md", text: "With 50,000 uncached tokens of conversation at $3 per million", why: "an example"},
		{page: "docs/how-it-decides.md", text: "an answer of 500 tokens at $15", why: "an example"},
		{page: "docs/how-it-decides.md", text: "a continuation costs about $%.2f. A stall", value: oneContinuation},
		{page: "docs/how-it-decides.md", text: "A turn that only talks costs at most $%.2f,", value: float64(continuation.DefaultLimits().MaxAttempts) * oneContinuation},
		{page: "docs/how-it-decides.md", text: "one costs about $%.2f.", value: cached},
		{page: "docs/how-it-decides.md", text: "without progress about $%.1f0.", value: float64(continuation.DefaultLimits().MaxWithoutProgress) * oneContinuation},
		{page: "docs/how-it-decides.md", text: "For 5 todos the very worst is %v requests", value: mostRequests(t, 5)},
		{page: "docs/how-it-decides.md", text: "or $%.0f if the conversation", value: float64(mostRequests(t, 5)) * oneContinuation},
		{page: "docs/how-it-decides.md", text: "with 200,000 tokens the example sends at most %v.", value: math.Ceil(200_000 / 50_500.)},
		{page: "docs/operators.md", text: "about 74 KiB", why: "make load prints it"},
		{page: "docs/operators.md", text: "USR2 switches it on", why: "names"},
		{page: "docs/operators.md", text: "of at least 8 characters", why: "TestSecretOfTheSwitch"},
		{page: "docs/operators.md", text: "is 0.", why: "a metric's value"},
		{page: "docs/operators.md", text: "the unit allows %v.", value: thousands(descriptors(t))},
		{page: "docs/operators.md", text: "answers 200", why: "a status of HTTP"},
		{page: "docs/operators.md", text: "get a 403", why: "a status of HTTP; a test of the proxy has it"},
		{page: "docs/operators.md", text: "from the request on, is %v seconds behind a balancer (HTTP/1.0,", value: in("cmd/carryon/internal/proxy", "balancerWait") / int64(time.Second)},
		{page: "docs/protocols.md", text: "of 0;", why: "a member's value"},
		{page: "docs/protocols.md", text: "a body above %v", value: size(in("adapters/transport", "MaxBody"))},
		{page: "docs/protocols.md", text: "more than %v of text", value: size(in("internal/reading", "maxText"))},
		{page: "docs/protocols.md", text: "an event above %v", value: size(in("internal/wire/sse", "MaxEvent"))},
		{page: "docs/protocols.md", text: "not streamed and above %v", value: size(in("adapters/transport", "MaxBody"))},
		{page: "docs/protocols.md", text: "not a 200 with", why: "a status of HTTP"},
		{page: "docs/protocols.md", text: "the last %v joined answers", value: in("internal/wire/responses", "maxChains")},
		{page: "docs/operators.md", text: "version 5 or newer", why: "what the engine's commands need"},
		{page: "docs/operators.md", text: "version 11 or newer", why: "what the engine's statements need"},
		{page: "docs/operators.md", text: "| %v h since its last use", value: continuation.DefaultLimits().SessionLife.Hours()},
		{page: "docs/operators.md", text: "| %v days since", value: time.Duration(in("todo", "defaultMaxAge")).Hours() / 24},
		{page: "docs/operators.md", text: "the latest %v sessions", value: thousands(in("cmd/carryon/internal/proxy", "maxSessions"))},
		{page: "docs/operators.md", text: "| %v days since the last change", value: in("cmd/carryon/internal/proxy", "keepFor") / int64(24*time.Hour)},
		{page: "docs/operators.md", text: "SHA-256", why: "a name"},
		{page: "docs/operators.md", text: "about 450 bytes in Redis, so a million sessions a day take about 450 MB", why: "measured once, on Redis 7"},
		{page: "docs/operators.md", text: "the status is 0 without", why: "a label"},
		{page: "docs/operators.md", text: "| 1, or 0 while", why: "a metric's value"},
		{page: "docs/operators.md", text: "the latest %v requests", value: thousands(in("cmd/carryon/internal/proxy", "maxEntries"))},
	}
}

// Every number in README and docs/ is one that the code has, or there is a reason.
func TestEveryNumberIsChecked(t *testing.T) {
	t.Parallel()
	all := numbers(t)
	for _, p := range pages(t) {
		if p.path == "docs/decisions.md" {
			continue
		}
		text := numbered(p)
		for _, n := range all {
			if n.page != p.path {
				continue
			}
			require.NotEqual(t, n.value == nil, n.why == "", "%s: %q: a value or a reason", n.page, n.text)
			part := n.text
			if n.value != nil {
				part = fmt.Sprintf(n.text, n.value)
			}
			assert.Contains(t, text, part, "%s is stale", p.path)
			text = strings.ReplaceAll(text, part, "")
		}
		for _, line := range regexp.MustCompile(`[^\n]*\d[^\n]*`).FindAllString(text, -1) {
			assert.Fail(t, "nobody checks this number", "%s: %s", p.path, line)
		}
	}
}

// numbered returns what the numbers of a page are looked for in: paragraphs and rows as lines, without regions, code,
// links, and the numbers of lists.
func numbered(p page) string {
	text := p.prose()
	text = regexp.MustCompile(`(?s)<!-- (?:checked|agents|bench): .*? -->\n.*?<!-- (?:\w+: )?end -->\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile("`[^`\n]*`").ReplaceAllStringFunc(text, func(code string) string {
		if strings.Contains(code, " ") && strings.HasPrefix(code, "`2 turns") {
			return code
		}
		return ""
	})
	text = regexp.MustCompile(`!?\[([^\]]*)\]\([^)\n]*\)`).ReplaceAllStringFunc(text, func(link string) string {
		if strings.HasPrefix(link, "!") { // the words of a picture, which its own test checks
			return ""
		}
		return link[1:strings.LastIndex(link, "](")]
	})
	text = regexp.MustCompile(`<[^>\n]*>`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^\d+\. `).ReplaceAllString(text, "")
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(paragraph, "|") {
			paragraph = strings.Join(strings.Fields(paragraph), " ")
		}
		b.WriteString(paragraph + "\n")
	}
	return b.String()
}

// constantIn returns a constant of the package in a folder. Its value is an expression of literals.
func constantIn(t *testing.T, dir, name string) int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, 0)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				values := spec.(*ast.ValueSpec)
				at := slices.IndexFunc(values.Names, func(id *ast.Ident) bool { return id.Name == name })
				if at >= 0 && at < len(values.Values) {
					return evaluated(t, values.Values[at])
				}
			}
		}
	}
	require.Fail(t, "no such constant", "%s in %s", name, dir)
	return 0
}

func evaluated(t *testing.T, expression ast.Expr) int64 {
	t.Helper()
	text := strings.NewReplacer("time.Hour", "3600000000000", "time.Minute", "60000000000", "time.Second", "1000000000").
		Replace(types.ExprString(expression))
	value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
	require.NoError(t, err)
	n, exact := constant.Int64Val(constant.ToInt(value.Value))
	require.True(t, exact, text)
	return n
}

// thousands writes a number with commas.
func thousands[N int | int64](n N) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// size writes a number of bytes.
func size[N int | int64](n N) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// costOfAContinuation returns what one costs in the example of docs/how-it-decides.md, in dollars: 50,000 tokens of
// conversation at $3 per million, or nine tenths of them at a tenth of that, and 500 tokens of answer at $15.
func costOfAContinuation() (uncached, cached float64) {
	const million, answer = 1e6, 500 * 15 / 1e6
	return 50_000*3/million + answer, 45_000*0.3/million + 5_000*3/million + answer
}

// mostRequests returns how many continuations a user turn can have that begins with n open todos. Each todo may be
// completed, and each may be dropped; of the added ones, the first count.
func mostRequests(t *testing.T, n int) int {
	t.Helper()
	return continuation.DefaultLimits().MaxWithoutProgress * (2*n + int(constantIn(t, "internal/decision", "maxAdded")) + 1)
}

// seen returns the version in which an agent was last looked at.
func seen(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "agents", "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text := read(t, "internal/agents/"+filepath.Base(file)).text
		if found := regexp.MustCompile(`\b` + name + ` += "(.*)"`).FindStringSubmatch(text); found != nil {
			return found[1]
		}
	}
	require.Fail(t, "no such version", name)
	return ""
}

func oldestGo(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(read(t, "go.mod").text)[1]
}

// descriptors returns how many the systemd unit allows.
func descriptors(t *testing.T) int {
	t.Helper()
	n := 0
	_, after, _ := strings.Cut(read(t, "cmd/carryon/carryon.service").text, "LimitNOFILE=")
	_, err := fmt.Sscan(after, &n)
	require.NoError(t, err)
	return n
}

// share is what the simulation of a mode comes to, in per cent of its sessions: those that finish, those that do so
// without a word of a user, and the user's words.
type share struct{ finished, alone, typed float64 }

// simulated returns what a simulation of package middleware prints, by mode.
func simulated(t *testing.T, name string) map[string]share {
	t.Helper()
	command := "go test -count=1 -v -run 'TestWorkIsFinishedInASimulation/" + name + "' ./middleware"
	out, err := shell(t.Context(), root, command, "CGO_ENABLED=0").CombinedOutput()
	require.NoError(t, err, "%s", out)
	shares := make(map[string]share)
	for _, line := range regexp.MustCompile(`go:\d+: (\w+).* ([\d.]+) % finished, +([\d.]+) % without a word.* (\d+) words`).FindAllStringSubmatch(string(out), -1) {
		var s share
		for i, value := range []*float64{&s.finished, &s.alone, &s.typed} {
			*value, err = strconv.ParseFloat(line[i+2], 64)
			require.NoError(t, err)
		}
		shares[line[1]] = s
	}
	require.Len(t, shares, 3, "%s", out)
	assert.Zero(t, shares["without"], "README says so")
	return shares
}
