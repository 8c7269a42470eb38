package scenarios_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// requireSameOnTheWire runs a test of each script, in one piece and streamed.
func requireSameOnTheWire(t *testing.T, scripts map[string]script) {
	t.Helper()
	for name, s := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.sameOnTheWire(t, false)
			s.sameOnTheWire(t, true)
		})
	}
}

// furtherRequests are requests with more than messages that a continuation changes or keeps.
func furtherRequests() []requestCase {
	return []requestCase{
		{name: "every field", change: func(r *openai.ChatCompletionRequest) { *r = scenario.FullRequest() }},
		{name: "stored", change: func(r *openai.ChatCompletionRequest) {
			r.Store, r.Prediction = true, &openai.Prediction{Type: "content", Content: "package parser"}
		}},
		{name: "history", change: func(r *openai.ChatCompletionRequest) { *r = scenario.WithEdit(*r, "call_1") }},
		{name: "history with reasoning", change: func(r *openai.ChatCompletionRequest) {
			*r = scenario.WithEdit(*r, "call_1")
			r.Messages[2].ReasoningContent = "The file must be edited."
		}},
		{name: "content in parts", change: func(r *openai.ChatCompletionRequest) {
			r.Messages[1].Content = ""
			r.Messages[1].MultiContent = []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: "Write it."}}
		}},
		{name: "text agent", change: func(r *openai.ChatCompletionRequest) {
			r.Tools, r.Stop = nil, []string{"\nObservation:"}
		}},
		{name: "strict tools", change: func(r *openai.ChatCompletionRequest) {
			r.Tools = []openai.Tool{scenario.StrictTool("a"), scenario.StrictTool("b")}
		}},
		{name: "a todo_pause of theirs", change: func(r *openai.ChatCompletionRequest) {
			r.Tools = append(r.Tools, scenario.Tool("todo_pause"))
		}},
		{name: "as many tools as can be", change: func(r *openai.ChatCompletionRequest) {
			for len(r.Tools) < 128 {
				r.Tools = append(r.Tools, scenario.Tool(fmt.Sprint("tool_", len(r.Tools))))
			}
		}},
	}
}

func TestWrapAndTheWireAgreeOnRequests(t *testing.T) {
	t.Parallel()
	options := map[string]middleware.Option{
		"by default": scenario.NoInterval(), "pause always": middleware.WithPauseTool(middleware.PauseToolAlways),
		"without tools": middleware.WithToollessCalls(),
	}
	turns := []fakellm.Turn{fakellm.Text(scenario.Plan).Reasoning("First the parser."), fakellm.Pause("stuck"), scenario.Edit()}
	scripts := map[string]script{}
	for _, c := range slices.Concat(outOfScope, inScope, furtherRequests()) {
		for name, option := range options {
			s := scriptOf(turns, option)
			c.change(&s.request)
			scripts[c.name+", "+name] = s
		}
	}
	requireSameOnTheWire(t, scripts)
}

func TestWrapAndTheWireAgreeOnPauses(t *testing.T) {
	t.Parallel()
	turns := map[string]fakellm.Turn{}
	for _, r := range judgedReasons {
		turns["reason: "+r.name] = fakellm.Call("todo_pause", r.arguments).ID("call_p")
	}
	for _, p := range printedPauses {
		turns["printed: "+p.name] = fakellm.Pieces(strings.Split(p.text, "")...)
	}
	for i, text := range notPrinted {
		turns[fmt.Sprint("not printed: ", i)] = fakellm.Pieces(strings.Split(text, "")...)
	}
	for _, p := range pausesBesideCalls {
		turns["beside calls: "+p.name] = p.turn
	}
	scripts := map[string]script{}
	for name, turn := range turns {
		scripts[name] = scriptOf([]fakellm.Turn{draft, turn, scenario.Edit()}, scenario.AtMost(2))
		scripts[name+", twice"] = scriptOf([]fakellm.Turn{draft, turn, turn, scenario.Edit()})
		scripts[name+", no attempt left"] = scriptOf(pair(draft, turn), scenario.AtMost(1))
		scripts[name+", at once"] = scriptOf([]fakellm.Turn{turn, scenario.Edit()}, middleware.WithPauseTool(middleware.PauseToolAlways))
		scripts[name+", unseen"] = scriptOf([]fakellm.Turn{draft, turn, scenario.Edit()},
			middleware.WithPausePolicy(pause.Lenient), middleware.WithNotice(pause.NoNotice))
	}
	requireSameOnTheWire(t, scripts)
}

func TestWrapAndTheWireAgreeOnFailures(t *testing.T) {
	t.Parallel()
	scripts := map[string]script{}
	for _, f := range slices.Concat(failingTurns, failingStreams) {
		scripts[f.name] = scriptOf([]fakellm.Turn{draft, f.turn, scenario.Edit()})
		scripts[f.name+", at once"] = scriptOf([]fakellm.Turn{f.turn, scenario.Edit()})
		scripts[f.name+", late"] = scriptOf([]fakellm.Turn{draft, done(), f.turn, scenario.Edit()})
	}
	for name, turn := range secondTurns {
		for _, f := range faults {
			if f.name == "hang" {
				continue // the SDK's own client would wait forever
			}
			for n := range 8 {
				at := fmt.Sprintf("%s, %s after %d, at once", name, f.name, n)
				turns := []fakellm.Turn{f.in(turn, n), scenario.Edit()}
				scripts[at] = scriptOf(turns)
				scripts[at+", with the tool"] = scriptOf(turns, middleware.WithPauseTool(middleware.PauseToolAlways))
			}
		}
	}
	requireSameOnTheWire(t, scripts)
}

func TestWrapAndTheWireAgreeOnUnusableAnswers(t *testing.T) {
	t.Parallel()
	for name, turn := range unusableTurns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scriptOf(pair(draft, turn, turn, turn)).sameOnTheWire(t, false)
			scriptOf([]fakellm.Turn{turn}).sameOnTheWire(t, false)
		})
	}
}

// randomOptions returns some of the options that change what a caller sees.
func randomOptions(r *rand.Rand) []middleware.Option {
	options := []middleware.Option{
		middleware.WithPauseTool(middleware.PauseToolAlways), middleware.WithUsage(middleware.UsageLastTurn),
		middleware.WithNotice(pause.NoNotice), middleware.WithApprovalMode(continuation.ApprovalYOLO), middleware.WithDryRun(),
	}
	return slices.DeleteFunc(options, func(middleware.Option) bool { return r.IntN(3) > 0 })
}

// scriptSeeds is how many scripts are tried.
const scriptSeeds = 150

func TestWrapAndTheWireAgreeOnAnyScript(t *testing.T) {
	t.Parallel()
	scripts := map[string]script{}
	for seed := range uint64(scriptSeeds) {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // repeatable is what it has to be
		turns, _ := randomScript(r)
		scripts[fmt.Sprint("seed ", seed)] = scriptOf(turns, randomOptions(r)...)
	}
	requireSameOnTheWire(t, scripts)
}

// sdkMisreads returns the prefixes of the names of quirks that the SDK misreads and the wire does not, by reason. Wrap
// sees only what the SDK reads, so it returns another answer.
func sdkMisreads() map[string][]string {
	return map[string][]string{
		"it fails on a type that it does not expect": {
			"Q20 arguments as an object", "Q20 pause with arguments that are an object", "Q44 usage with counts as fractions",
			"Q52 id a number", "Q53 created a fraction", "Q53 created as a power of ten", "Q57 content as a list, turn",
		},
		"it fails on data that is no JSON": {
			"Q70 one chunk on several lines", "Q75 empty data", "Q75 data that is no JSON",
		},
		"it reads no line that does not end in LF": {
			"Q67 lines end in CR, turn", "Q71 one CR between events", "Q73 no newline after the",
		},
		"it gives up after 300 lines without data":       {"Q66 comments without end"},
		"it takes the mark for a part of the first line": {"Q76 byte order mark"},
		"it knows nothing of audio":                      {"Q60 audio"},
		"it does not look at the header": {
			"Q78 stream called JSON", "Q80 said to be gzip", "Q80 gzip, turn",
		},
		"it takes an error for the answer, or does not see it": {
			"Q77 error event without an error", "Q77 error as vLLM words it", "Q77 error beside choices",
			"Q77 error on a line without data, then a finish", "Q78 error with status 200, unary", "Q78 page, turn",
			"Q78 completion in JSON", "Q79 truncated within an event",
		},
	}
}

func TestWrapAndTheWireAgreeOnQuirks(t *testing.T) {
	t.Parallel()
	for _, q := range quirks.All() {
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			s := script{scenario.Request(), func(*testing.T) (http.RoundTripper, func() []string) {
				up := q.Upstream()
				return up, up.Asked
			}, []middleware.Option{scenario.AtMost(1)}}
			if !isMisread(q) {
				s.sameOnTheWire(t, !q.Unary)
				return
			}
			typed, wire := s.traces(t, !q.Unary)
			assert.NotEqual(t, typed.plain(), wire.plain(), "traces that are the same need no row in the list")
		})
	}
}

func isMisread(q quirks.Quirk) bool {
	for _, rows := range sdkMisreads() {
		if slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(q.Name, row) }) {
			return true
		}
	}
	return false
}
