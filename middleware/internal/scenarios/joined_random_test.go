package scenarios_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
)

// generator makes turns at random, the same ones for the same seed.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

// words are pieces of text that are easy to join wrongly.
var words = []string{
	"I ", "will ", "write ", "the ", "parser. ", "\n\n", "todo", "todo_", "todo_pause", "todo_pause(", "(", "`", "```\n",
	"\u00fc", "\u65e5\u672c", "\u201c", "'", "{\"a\":1}", "data: ", "[DONE]", " ", ".",
}

// text returns the pieces of a text that is not blank and not used twice.
func (g generator) text(name string) []string {
	pieces := []string{name}
	for range g.IntN(6) {
		pieces = append(pieces, words[g.IntN(len(words))])
	}
	return pieces
}

// textShapes are the ways to send a text. Each is applied at random.
var textShapes = []func(fakellm.Turn) fakellm.Turn{
	fakellm.RoleEveryChunk.Apply, fakellm.FinishWithText.Apply, fakellm.FinishTwice.Apply,
	fakellm.NullFinishLast.Apply, fakellm.AzureFirst.Apply, fakellm.ChangeID.Apply,
	fakellm.Turn.NoDone, fakellm.Turn.Comments, fakellm.Turn.CRLF, fakellm.OneChunk.Apply,
	fakellm.UsageOnFinish.Apply, fakellm.UsageTwice.Apply, fakellm.UsageEveryChunk.Apply,
}

// callShapes are the ways to send calls in which indexes tell the calls apart.
var callShapes = []func(fakellm.Turn) fakellm.Turn{
	fakellm.WholeCalls.Apply, fakellm.SplitName.Apply, fakellm.EmptyFragments.Apply,
	fakellm.Interleaved.Apply, fakellm.Batched.Apply, fakellm.RepeatType.Apply, fakellm.RepeatID.Apply,
	fakellm.TextLast.Apply, fakellm.NoType.Apply,
}

func (g generator) inShapes(turn fakellm.Turn, shapes []func(fakellm.Turn) fakellm.Turn) fakellm.Turn {
	for _, shape := range shapes {
		if g.IntN(5) == 0 {
			turn = shape(turn)
		}
	}
	return turn
}

// textTurn returns a turn of text alone.
func (g generator) textTurn(name string) fakellm.Turn {
	turn := fakellm.Pieces(g.text(name)...).Usage(1+g.IntN(1000), 1+g.IntN(1000))
	return g.inShapes(turn, textShapes)
}

// callTurn returns a turn of calls, with or without text.
func (g generator) callTurn(name string) fakellm.Turn {
	arguments := func() string { return fmt.Sprintf(`{"path":"parser-%d.go","line":%d}`, g.IntN(1e9), g.IntN(100)) }
	turn := fakellm.Call("edit_file", arguments()).ID(name+"a").Usage(1+g.IntN(1000), 1+g.IntN(1000))
	for i, tool := range []string{"todo_list", "run_tests", "todo_pause_all"}[:g.IntN(4)] {
		turn = turn.AndCall(tool, arguments()).ID(fmt.Sprint(name, i))
	}
	if g.IntN(2) == 0 {
		turn = turn.AndText(strings.Join(g.text(name), ""))
	}
	return g.inShapes(g.inShapes(turn, textShapes), callShapes)
}

// chain returns turns of which all but the last are continued.
func (g generator) chain() []fakellm.Turn {
	var turns []fakellm.Turn
	for i := range 1 + g.IntN(3) {
		turns = append(turns, g.textTurn(fmt.Sprintf("Turn %d. ", i)))
	}
	name := fmt.Sprintf("Turn %d. ", len(turns))
	if g.IntN(2) == 0 {
		return append(turns, g.textTurn(name))
	}
	return append(turns, g.callTurn(name))
}

// joinBySDK reads each turn with the SDK's own client and joins what it read.
func joinBySDK(t *testing.T, turns []fakellm.Turn) scenario.Answer {
	t.Helper()
	var want scenario.Answer
	for i, turn := range turns {
		chunks, err := readBySDK(t, turn)
		require.NoError(t, err)
		var one scenario.Answer
		for _, c := range chunks {
			one.Add(c)
		}
		want.Text = joinTexts(want.Text, one.Text)
		want.Finish, want.Calls = one.Finish, one.Calls
		if i == 0 {
			want.ID = one.ID
		}
		if one.Usage != nil {
			want.Usage = asOneAnswer(want.Usage, *one.Usage)
		}
	}
	return want
}

// asOneAnswer returns the usage of turns that are read as one answer.
func asOneAnswer(first *openai.Usage, later openai.Usage) *openai.Usage {
	if first == nil {
		return &later
	}
	return &openai.Usage{
		PromptTokens:     first.PromptTokens,
		CompletionTokens: first.CompletionTokens + later.CompletionTokens,
		TotalTokens:      first.TotalTokens + later.TotalTokens - later.PromptTokens,
	}
}

// withoutIndexes returns the calls as an answer in one piece holds them.
func withoutIndexes(calls []openai.ToolCall) []openai.ToolCall {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Index = nil
	}
	return calls
}

// requireReadAs compares two answers as a caller reads them.
func requireReadAs(t *testing.T, want, got scenario.Answer) {
	t.Helper()
	require.NoError(t, got.Err)
	assert.Equal(t, want.Text, got.Text, "text")
	assert.Equal(t, want.Finish, got.Finish, "finish")
	assert.Equal(t, want.ID, got.ID, "id")
	assert.Equal(t, withoutIndexes(want.Calls), withoutIndexes(got.Calls), "calls")
	assert.Equal(t, want.Usage, got.Usage, "usage")
}

// seeds is how many chains are tried. Each is a subtest, so that its name says
// which one failed.
const seeds = 250

func TestJoinedAnswerIsReadAsItsTurnsAlone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			turns := newGenerator(seed).chain()
			want := joinBySDK(t, turns)
			streamed := scriptOf(turns, scenario.AtMost(len(turns)-1), scenario.Unattended()).sameOnTheWire(t, true).answer
			requireReadAs(t, want, streamed)
			assert.Equal(t, len(turns), streamed.Outcome.Turns)
			whole := scriptOf(turns, scenario.AtMost(len(turns)-1), scenario.Unattended()).sameOnTheWire(t, false).answer
			requireReadAs(t, want, whole)
			assert.Equal(t, whole.Outcome, streamed.Outcome)
		})
	}
}

// pauseTurn returns a turn with calls, one of which pauses, and the other calls in
// order.
func (g generator) pauseTurn(name string) (fakellm.Turn, []openai.ToolCall) {
	var left []openai.ToolCall
	calls := 1 + g.IntN(4)
	pauseAt := g.IntN(calls)
	turn := fakellm.Turn{}
	for i := range calls {
		id := fmt.Sprint(name, i)
		if i == pauseAt {
			turn = turn.AndCall("todo_pause", pauseArgs).ID(id)
			continue
		}
		arguments := fmt.Sprintf(`{"path":"parser-%d.go"}`, g.IntN(1e9))
		turn = turn.AndCall("edit_file", arguments).ID(id)
		left = append(left, openai.ToolCall{
			ID: id, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: "edit_file", Arguments: arguments},
		})
	}
	turn = turn.StartIndex(g.IntN(2)*pauseFirst(pauseAt)).Usage(1+g.IntN(1000), 1+g.IntN(1000))
	return g.inShapes(g.inShapes(turn, textShapes), callShapes), left
}

// pauseFirst is 1 if the pause is the first call: only then do all the others get
// new indexes, from 0.
func pauseFirst(at int) int {
	if at == 0 {
		return 1
	}
	return 0
}

func TestPauseAmongCallsIsRemovedFromAnyShape(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(seed)
			first := g.textTurn("Turn 0. ")
			second, left := g.pauseTurn("Turn 1. ")
			want := joinBySDK(t, []fakellm.Turn{first, second})
			want.Text, want.Calls = joinTexts(joinBySDK(t, []fakellm.Turn{first}).Text, scenario.BlockedNotice), left
			if len(left) == 0 {
				want.Finish = "stop"
			}
			for _, streamed := range []bool{true, false} {
				got := scriptOf(pair(first, second), scenario.AtMost(1), scenario.Unattended()).sameOnTheWire(t, streamed).answer
				for i := range got.Calls {
					got.Calls[i].Type = openai.ToolTypeFunction // some providers leave it out, and it is added only to calls that change
				}
				requireReadAs(t, want, got)
				if streamed {
					requireWellFormedCalls(t, got.Chunks)
				}
			}
		})
	}
}

// requireWellFormedCalls checks that every call begins with a name, and that
// indexes begin at 0 without gaps.
func requireWellFormedCalls(t *testing.T, chunks []chunk) {
	t.Helper()
	next := 0
	for _, call := range callsIn(chunks) {
		require.NotNil(t, call.Index)
		require.LessOrEqual(t, *call.Index, next, "gap before index %d", *call.Index)
		if *call.Index == next {
			assert.NotEmpty(t, call.Function.Name)
			next++
		}
	}
}
