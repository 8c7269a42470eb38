package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A text is the answer before again, however it is cut in two.
func TestRepetitionIsTheSameLettersAndDigits(t *testing.T) {
	t.Parallel()
	const before = "Ich prüfe Teil 2 — später."
	for text, want := range map[string]struct{ still, whole bool }{
		before:                             {true, true},
		"**ICH PRÜFE** teil 2, SPÄTER!":    {true, true},
		"ich\n\nprüfe: Teil 2: später 🙂":   {true, true},
		"Ich prüfe Teil 2":                 {true, false},
		"…":                                {true, false},
		"":                                 {true, false},
		"Ich prüfe Teil 2 — später. Jetzt": {false, false},
		"Ich prüfe Teil 3 — später.":       {false, false},
		"Ich prufe Teil 2 — später.":       {false, false},
		"So: ich prüfe Teil 2 — später.":   {false, false},
	} {
		for cut := range text { // before each character
			r := NewRepetition([]byte(before))
			still := r.Add(text[:cut]) && r.Add(text[cut:])
			assert.Equal(t, want.still, still, "%q cut at %d", text, cut)
			assert.Equal(t, want.whole, still && r.IsWhole(), "%q cut at %d", text, cut)
		}
	}
}

func TestNothingRepeatsAnAnswerWithoutWords(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", " \n", "...", "🙂!"} {
		r := NewRepetition([]byte(before))
		assert.Nil(t, r, "%q", before)
		assert.False(t, r.IsWhole())
		assert.Nil(t, r.Clone())
	}
}

// Each piece of a turn is read once, and keeps nothing.
func TestRepetitionAllocatesNothing(t *testing.T) {
	before := []byte(strings.Repeat("Über die Brücke 7. ", 1000))
	r := NewRepetition(before)
	pieces := strings.SplitAfter(string(before), " ")
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		r.rest, r.read = before, false
		for _, piece := range pieces {
			if !r.Add(piece) {
				t.Fatal("the same text differs")
			}
		}
		if !r.IsWhole() {
			t.Fatal("the same text is not whole")
		}
	}))
}
