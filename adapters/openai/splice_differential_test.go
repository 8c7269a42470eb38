package openai_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// generator makes turns at random, the same ones for the same seed.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

// words are pieces of text that a splice may stumble over.
var words = []string{
	"I ", "will ", "write ", "the ", "parser. ", "\n\n", "todo", "todo_", "todo_pause", "todo_pause(", "(", "`", "```\n",
	"\u00fc", "\u65e5\u672c", "\u201c", "'", "{\"a\":1}", "data: ", "[DONE]", " ", ".",
}

// text returns the pieces of a text that is not blank and that no other has.
func (g generator) text(name string) []string {
	pieces := []string{name}
	for range g.IntN(6) {
		pieces = append(pieces, words[g.IntN(len(words))])
	}
	return pieces
}

// manners are the ways to send a text; each is applied or not.
var manners = []func(carryontest.Turn) carryontest.Turn{
	carryontest.Turn.RoleEveryChunk, carryontest.Turn.FinishWithText, carryontest.Turn.FinishTwice,
	carryontest.Turn.NullFinishLast, carryontest.Turn.AzureFirst, carryontest.Turn.ChangeID,
	carryontest.Turn.NoDone, carryontest.Turn.Comments, carryontest.Turn.CRLF, carryontest.Turn.OneChunk,
	carryontest.Turn.UsageOnFinish, carryontest.Turn.UsageTwice, carryontest.Turn.UsageEveryChunk,
}

// callManners are the ways to send calls that a reader understands by their
// indexes.
var callManners = []func(carryontest.Turn) carryontest.Turn{
	carryontest.Turn.WholeCalls, carryontest.Turn.SplitName, carryontest.Turn.EmptyFragments,
	carryontest.Turn.Interleaved, carryontest.Turn.Batched, carryontest.Turn.RepeatType, carryontest.Turn.RepeatID,
	carryontest.Turn.TextLast, carryontest.Turn.NoType,
}

func (g generator) shaped(turn carryontest.Turn, manners []func(carryontest.Turn) carryontest.Turn) carryontest.Turn {
	for _, manner := range manners {
		if g.IntN(5) == 0 {
			turn = manner(turn)
		}
	}
	return turn
}

// said returns a turn of text alone.
func (g generator) said(name string) carryontest.Turn {
	turn := carryontest.Pieces(g.text(name)...).Usage(1+g.IntN(1000), 1+g.IntN(1000))
	return g.shaped(turn, manners)
}

// called returns a turn of calls, and of text or not.
func (g generator) called(name string) carryontest.Turn {
	arguments := func() string { return fmt.Sprintf(`{"path":"parser-%d.go","line":%d}`, g.IntN(1e9), g.IntN(100)) }
	turn := carryontest.Call("edit_file", arguments()).ID(name+"a").Usage(1+g.IntN(1000), 1+g.IntN(1000))
	for i, tool := range []string{"todo_list", "run_tests", "todo_pause_all"}[:g.IntN(4)] {
		turn = turn.AndCall(tool, arguments()).ID(fmt.Sprint(name, i))
	}
	if g.IntN(2) == 0 {
		turn = turn.AndText(strings.Join(g.text(name), ""))
	}
	return g.shaped(g.shaped(turn, manners), callManners)
}

// chain returns turns of which all but the last are continued.
func (g generator) chain() []carryontest.Turn {
	var turns []carryontest.Turn
	for i := range 1 + g.IntN(3) {
		turns = append(turns, g.said(fmt.Sprintf("Turn %d. ", i)))
	}
	name := fmt.Sprintf("Turn %d. ", len(turns))
	if g.IntN(2) == 0 {
		return append(turns, g.said(name))
	}
	return append(turns, g.called(name))
}

// joinAlone joins what the SDK's own client reads of each turn, by the rules.
func joinAlone(t *testing.T, turns []carryontest.Turn) answer {
	t.Helper()
	var want answer
	for i, turn := range turns {
		chunks, err := alone(t, turn)
		require.NoError(t, err)
		var one answer
		for _, c := range chunks {
			one.add(c)
		}
		want.Text = joinTexts(want.Text, one.Text)
		want.Finish, want.Calls = one.Finish, one.Calls
		if i == 0 {
			want.ID = one.ID
		}
		if one.Usage != nil {
			want.Usage = sum(want.Usage, *one.Usage)
		}
	}
	return want
}

func sum(a *openai.Usage, b openai.Usage) *openai.Usage {
	if a == nil {
		return &b
	}
	return &openai.Usage{
		PromptTokens:     a.PromptTokens + b.PromptTokens,
		CompletionTokens: a.CompletionTokens + b.CompletionTokens,
		TotalTokens:      a.TotalTokens + b.TotalTokens,
	}
}

// withoutIndexes returns calls as an answer in one piece has them.
func withoutIndexes(calls []openai.ToolCall) []openai.ToolCall {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Index = nil
	}
	return calls
}

// requireReadAs compares what a caller reads from two answers.
func requireReadAs(t *testing.T, want, got answer) {
	t.Helper()
	require.NoError(t, got.Err)
	assert.Equal(t, want.Text, got.Text, "text")
	assert.Equal(t, want.Finish, got.Finish, "finish")
	assert.Equal(t, want.ID, got.ID, "id")
	assert.Equal(t, withoutIndexes(want.Calls), withoutIndexes(got.Calls), "calls")
	assert.Equal(t, want.Usage, got.Usage, "usage")
}

// seeds is how many chains are tried; each is a test of its own, so that one
// that fails names itself.
const seeds = 250

func TestJoinedAnswerIsReadAsItsTurnsAlone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			turns := newGenerator(seed).chain()
			want := joinAlone(t, turns)
			streamed := scriptOf(turns, atMost(len(turns)-1)).sameOnTheWire(t, true).answer
			requireReadAs(t, want, streamed)
			assert.Equal(t, len(turns), streamed.Outcome.Turns)
			whole := scriptOf(turns, atMost(len(turns)-1)).sameOnTheWire(t, false).answer
			requireReadAs(t, want, whole)
			assert.Equal(t, whole.Outcome, streamed.Outcome)
		})
	}
}

// paused returns a turn with calls, one of which pauses, and the calls that are
// left, in order.
func (g generator) paused(name string) (carryontest.Turn, []openai.ToolCall) {
	var left []openai.ToolCall
	calls := 1 + g.IntN(4)
	pauseAt := g.IntN(calls)
	turn := carryontest.Turn{}
	for i := range calls {
		id := fmt.Sprint(name, i)
		if i == pauseAt {
			turn = turn.AndCall("todo_pause", goodArgs).ID(id)
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
	return g.shaped(g.shaped(turn, manners), callManners), left
}

// pauseFirst is 1 if the pause is the first of its calls: only then are all the
// others indexed anew, from 0.
func pauseFirst(at int) int {
	if at == 0 {
		return 1
	}
	return 0
}

func TestPauseAmongCallsIsStrippedFromAnyManner(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(seed)
			first := g.said("Turn 0. ")
			second, left := g.paused("Turn 1. ")
			want := joinAlone(t, []carryontest.Turn{first, second})
			want.Text, want.Calls = joinTexts(joinAlone(t, []carryontest.Turn{first}).Text, goodNotice), left
			if len(left) == 0 {
				want.Finish = "stop"
			}
			for _, streamed := range []bool{true, false} {
				got := scriptOf(pair(first, second), atMost(1)).sameOnTheWire(t, streamed).answer
				for i := range got.Calls {
					got.Calls[i].Type = openai.ToolTypeFunction // left out by some, in what is not rewritten
				}
				requireReadAs(t, want, got)
				if streamed {
					requireWellFormedCalls(t, got.Chunks)
				}
			}
		})
	}
}

// requireWellFormedCalls checks that every fragment belongs to a call that was
// begun with a name, and that indexes begin at 0 and leave none out.
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
