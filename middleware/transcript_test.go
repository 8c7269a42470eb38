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
		var said transcript
		want := ""
		for range r.IntN(60) {
			switch r.IntN(12) {
			case 0:
				before := said.bytes()
				copied := string(before)
				said.add("more")
				want += "more"
				require.Equal(t, copied, string(before), "what was read stays as it is")
			case 1:
				n := r.IntN(len(want) + 1)
				said.cut(n)
				want = want[:n]
			default:
				text := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(1<<r.IntN(13)))
				said.add(text)
				want += text
			}
			require.Equal(t, len(want), said.len())
		}
		require.Equal(t, want, string(said.bytes()))
	}
}

func TestTranscriptWastesLittle(t *testing.T) {
	t.Parallel()
	var said transcript
	for said.len() < 1<<20 {
		said.add(" some words")
		room := cap(said.tail)
		for _, block := range said.blocks {
			room += cap(block)
		}
		require.LessOrEqual(t, room, said.len()+max(said.len()/4, minBlock)+maxBlock/64)
	}
	assert.Less(t, len(said.blocks), 64)
}

func TestTranscriptKeepsReasoningOnlyIfItIsWanted(t *testing.T) {
	t.Parallel()
	var said transcript
	said.think("Hm.")
	assert.Empty(t, said.thoughts())
	said.reasoning = new([]byte)
	said.think("Hm. ")
	said.think("Yes.")
	assert.Equal(t, "Hm. Yes.", said.thoughts())
}
