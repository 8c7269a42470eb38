package openai_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/quirks"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// requireSameOnTheWire runs tests of scripts, each of them whole and streamed.
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

// furtherRequests are requests of which a continuation changes, or keeps, more
// than the messages.
func furtherRequests() []requestCase {
	return []requestCase{
		{name: "every field", change: func(r *openai.ChatCompletionRequest) { *r = full() }},
		{name: "stored", change: func(r *openai.ChatCompletionRequest) {
			r.Store, r.Prediction = true, &openai.Prediction{Type: "content", Content: "package parser"}
		}},
		{name: "history", change: func(r *openai.ChatCompletionRequest) { *r = withHistory(*r, "call_1") }},
		{name: "history with reasoning", change: func(r *openai.ChatCompletionRequest) {
			*r = withHistory(*r, "call_1")
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
			r.Tools = []openai.Tool{strictTool("a"), strictTool("b")}
		}},
		{name: "a todo_pause of theirs", change: func(r *openai.ChatCompletionRequest) {
			r.Tools = append(r.Tools, tool("todo_pause"))
		}},
		{name: "as many tools as can be", change: func(r *openai.ChatCompletionRequest) {
			for len(r.Tools) < 128 {
				r.Tools = append(r.Tools, tool(fmt.Sprint("tool_", len(r.Tools))))
			}
		}},
	}
}

func TestWrapAndTheWireGiveTheSameOfRequests(t *testing.T) {
	t.Parallel()
	options := map[string]middleware.Option{
		"by default": unhurried, "pause always": middleware.WithPauseTool(middleware.Always),
		"without tools": middleware.WithToollessCalls(),
	}
	turns := []carryontest.Turn{carryontest.Text(plan).Reasoning("First the parser."), carryontest.Pause("stuck"), edit()}
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

func TestWrapAndTheWireGiveTheSameOfPauses(t *testing.T) {
	t.Parallel()
	turns := map[string]carryontest.Turn{}
	for _, r := range judgedReasons {
		turns["reason: "+r.name] = carryontest.Call("todo_pause", r.arguments).ID("call_p")
	}
	for _, p := range printedPauses {
		turns["printed: "+p.name] = carryontest.Pieces(strings.Split(p.text, "")...)
	}
	for i, text := range notPrinted {
		turns[fmt.Sprint("not printed: ", i)] = carryontest.Pieces(strings.Split(text, "")...)
	}
	for _, p := range pausesBesideCalls {
		turns["beside calls: "+p.name] = p.turn
	}
	scripts := map[string]script{}
	for name, turn := range turns {
		scripts[name] = scriptOf([]carryontest.Turn{draft, turn, edit()}, atMost(2))
		scripts[name+", twice"] = scriptOf([]carryontest.Turn{draft, turn, turn, edit()})
		scripts[name+", no attempt left"] = scriptOf(pair(draft, turn), atMost(1))
		scripts[name+", at once"] = scriptOf([]carryontest.Turn{turn, edit()}, middleware.WithPauseTool(middleware.Always))
		scripts[name+", unseen"] = scriptOf([]carryontest.Turn{draft, turn, edit()},
			middleware.WithPausePolicy(pause.Lenient), middleware.WithNotice(pause.NoNotice))
	}
	requireSameOnTheWire(t, scripts)
}

func TestWrapAndTheWireGiveTheSameOfFailures(t *testing.T) {
	t.Parallel()
	scripts := map[string]script{}
	for _, f := range slices.Concat(failingTurns, failingStreams) {
		scripts[f.name] = scriptOf([]carryontest.Turn{draft, f.turn, edit()})
		scripts[f.name+", at once"] = scriptOf([]carryontest.Turn{f.turn, edit()})
		scripts[f.name+", late"] = scriptOf([]carryontest.Turn{draft, done(), f.turn, edit()})
	}
	for name, turn := range secondTurns {
		for _, f := range spliceFaults {
			if f.name == "hang" {
				continue // the SDK's own client would wait for ever
			}
			for n := range 8 {
				at := fmt.Sprintf("%s, %s after %d, at once", name, f.name, n)
				turns := []carryontest.Turn{f.in(turn, n), edit()}
				scripts[at] = scriptOf(turns)
				scripts[at+", with the tool"] = scriptOf(turns, middleware.WithPauseTool(middleware.Always))
			}
		}
	}
	requireSameOnTheWire(t, scripts)
}

func TestWrapAndTheWireGiveTheSameOfUnusableAnswers(t *testing.T) {
	t.Parallel()
	for name, turn := range unusableTurns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scriptOf(pair(draft, turn)).sameOnTheWire(t, false)
			scriptOf([]carryontest.Turn{turn}).sameOnTheWire(t, false)
		})
	}
}

// randomOptions returns some of the options that tell on what a caller sees.
func randomOptions(r *rand.Rand) []middleware.Option {
	options := []middleware.Option{
		middleware.WithPauseTool(middleware.Always), middleware.WithUsage(middleware.LastTurn), middleware.WithEmptyTurns(),
		middleware.WithNotice(pause.NoNotice), middleware.WithApprovalMode(continuation.ApprovalYOLO), middleware.WithDryRun(),
	}
	return slices.DeleteFunc(options, func(middleware.Option) bool { return r.IntN(3) > 0 })
}

// scriptSeeds is how many scripts are tried.
const scriptSeeds = 150

func TestWrapAndTheWireGiveTheSameOfAnyScript(t *testing.T) {
	t.Parallel()
	scripts := map[string]script{}
	for seed := range uint64(scriptSeeds) {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // repeatable is what it has to be
		turns, _ := randomScript(r)
		scripts[fmt.Sprint("seed ", seed)] = scriptOf(turns, randomOptions(r)...)
	}
	requireSameOnTheWire(t, scripts)
}

// sdkMisreads are the beginnings of the names of rows that the wire reads as
// they are meant, and the SDK does not, with what it makes of them: Wrap, which
// sees no more than the SDK, gives another answer.
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

func TestWrapAndTheWireGiveTheSameOfQuirks(t *testing.T) {
	t.Parallel()
	for _, q := range quirks.All() {
		t.Run(q.Slug(), func(t *testing.T) {
			t.Parallel()
			s := script{ask(), func(*testing.T) (http.RoundTripper, func() []string) {
				up := q.Upstream()
				return up, up.Asked
			}, []middleware.Option{atMost(1)}}
			if !isMisread(q) {
				s.sameOnTheWire(t, !q.Unary)
				return
			}
			typed, wire := s.traces(t, !q.Unary)
			assert.NotEqual(t, typed.plain(), wire.plain(), "what is the same need not be in the list")
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
