package handback

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// A phrase that can never be found is a mistake: it is shorter than its key, or written
// with capitals that a plain text has not.
func TestEveryPhraseOfTheLexiconIsFound(t *testing.T) {
	t.Parallel()
	for _, p := range phrasebook().phrases {
		if utf8.ValidString(p.text) {
			assert.Equal(t, strings.ToLower(p.text), p.text)
		}
		assert.GreaterOrEqual(t, len(p.text), minKey, "%q", p.text)
		found := false
		for _, end := range []string{"", " ", " x", "."} {
			r := paragraph{text: []byte(p.text + end), book: phrasebook()}
			var s sentence
			r.find(&s, 0)
			found = found || s.kinds&p.kinds == p.kinds
		}
		assert.True(t, found, "%q", p.text)
	}
}
