package adapter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
)

func TestKeptReasoningIsJoinedAsTextIs(t *testing.T) {
	t.Parallel()
	var r adapter.KeptReasoning
	for _, turn := range []struct {
		text string
		keep bool
	}{{"One.", true}, {"", true}, {"Two.\n", true}, {"Failed.", false}, {"Three.", true}} {
		r.SetTurn(turn.text)
		r.EndTurn(turn.keep)
	}
	r.EndTurn(true)
	assert.Equal(t, "One.\n\nTwo.\n\nThree.", r.Text())
}

func TestTokensOfAUsage(t *testing.T) {
	t.Parallel()
	for usage, want := range map[adapter.Usage]int{
		{Prompt: 3, Completion: 4}: 7, {Prompt: 3, Completion: 4, Total: 9}: 9, {Prompt: -1, Completion: 4}: 4, {Prompt: math.MaxInt, Completion: 1}: math.MaxInt,
	} {
		assert.Equal(t, want, usage.Tokens(), usage)
	}
}

// A turn without usage adds none.
func TestUsageCountsOnce(t *testing.T) {
	t.Parallel()
	add := func(a, b int) int { return a + b }
	totals := adapter.UsageTotals[int]{Add: add, Extend: add}
	totals.SetTurn(5)
	totals.EndTurn(true)
	totals.EndTurn(true)
	assert.Equal(t, 5, *totals.Shown(adapter.UsageSum, nil))
}

// The envelope is that of the first chunk with an id, or else of the first chunk.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	var e adapter.Envelope[string]
	for _, tt := range []struct {
		taken string
		hasID bool
		want  string
	}{{"one", false, "one"}, {"two", false, "one"}, {"three", true, "three"}, {"four", true, "three"}} {
		e.Take(tt.taken, tt.hasID)
		assert.Equal(t, tt.want, e.First)
		assert.Equal(t, tt.want == "three", e.IsFixed())
	}
}

// A call that was not read is not shown.
func TestCallWithoutAnEdit(t *testing.T) {
	t.Parallel()
	e := adapter.Edit{Calls: make([]adapter.CallEdit, 1)}
	assert.Equal(t, [2]bool{false, true}, [2]bool{e.Call(0).Drop, e.Call(1).Drop})
}
