package middleware

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
		var text transcript
		want := ""
		for range r.IntN(60) {
			switch r.IntN(12) {
			case 0:
				before := text.bytes()
				copied := string(before)
				text.add("more")
				want += "more"
				require.Equal(t, copied, string(before), "bytes that were read do not change")
			case 1:
				n := r.IntN(len(want) + 1)
				text.cut(n)
				want = want[:n]
			default:
				more := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(1<<r.IntN(13)))
				text.add(more)
				want += more
			}
			require.Equal(t, len(want), text.len())
		}
		require.Equal(t, want, string(text.bytes()))
	}
}

func TestTranscriptWastesLittle(t *testing.T) {
	t.Parallel()
	var text transcript
	for text.len() < 1<<20 {
		text.add(" some words")
		room := cap(text.last)
		for _, block := range text.blocks {
			room += cap(block)
		}
		require.LessOrEqual(t, room, text.len()+max(text.len()/4, minBlock)+maxBlock/64)
	}
	assert.Less(t, len(text.blocks), 64)
}

func TestTranscriptKeepsReasoningOnlyIfItIsWanted(t *testing.T) {
	t.Parallel()
	var text transcript
	text.addReasoning("Hm.")
	assert.Empty(t, text.reasoningText())
	text.reasoning = new([]byte)
	text.addReasoning("Hm. ")
	text.addReasoning("Yes.")
	assert.Equal(t, "Hm. Yes.", text.reasoningText())
}
