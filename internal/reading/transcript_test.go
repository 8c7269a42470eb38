package reading

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTranscriptHoldsWhatWasAdded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable is what it has to be
		var text Transcript
		want := ""
		for range r.IntN(60) {
			switch r.IntN(12) {
			case 0:
				before := text.Bytes()
				copied := string(before)
				text.Add("more")
				want += "more"
				require.Equal(t, copied, string(before), "bytes that were read do not change")
			case 1:
				n := r.IntN(len(want) + 1)
				text.Cut(n)
				want = want[:n]
			default:
				more := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(1<<r.IntN(13)))
				text.Add(more)
				want += more
			}
			require.Equal(t, len(want), text.Len())
		}
		require.Equal(t, want, string(text.Bytes()))
	}
}

func TestTranscriptWastesLittle(t *testing.T) {
	t.Parallel()
	var text Transcript
	for text.Len() < 1<<20 {
		text.Add(" some words")
		room := cap(text.last)
		for _, block := range text.blocks {
			room += cap(block)
		}
		require.LessOrEqual(t, room, text.Len()+max(text.Len()/4, minBlock)+maxBlock/64)
	}
	assert.Less(t, len(text.blocks), 64)
}

func TestTranscriptKeepsReasoningOnlyIfItIsWanted(t *testing.T) {
	t.Parallel()
	var text Transcript
	text.AddReasoning("Hm.")
	assert.Empty(t, text.ReasoningText())
	text.Reasoning = new([]byte)
	text.AddReasoning("Hm. ")
	text.AddReasoning("Yes.")
	assert.Equal(t, "Hm. Yes.", text.ReasoningText())
}
