package firstchoice_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/firstchoice"
)

// choice is a choice of a chunk, and whether it is the first one of the answer.
type choice struct {
	index      int
	says, ends bool
	isFirst    bool
}

func TestFinder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		own     bool // it is the caller's own turn
		choices []choice
	}{
		"own turn":                        {true, []choice{{1, true, false, false}, {0, true, false, true}, {1, false, true, false}, {0, false, true, true}}},
		"numbered as asked":               {false, []choice{{0, true, false, true}, {1, true, false, false}, {0, false, true, true}}},
		"numbered otherwise":              {false, []choice{{2, true, false, true}, {2, false, true, true}}},
		"a role says nothing":             {false, []choice{{1, false, false, true}, {2, true, false, true}, {1, true, false, false}, {2, false, true, true}}},
		"only the end numbered otherwise": {false, []choice{{0, true, false, true}, {1, false, true, true}}},
		"the end of another choice":       {false, []choice{{0, true, false, true}, {1, true, false, false}, {1, false, true, false}, {0, false, true, true}}},
		"an end alone":                    {false, []choice{{3, false, true, true}, {1, true, false, false}, {3, true, false, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f firstchoice.Finder
			if !test.own {
				f.Read(7, func() bool { return true }, func() bool { return true }) // a turn before
				f.BeginContinuation()
			}
			for _, c := range test.choices {
				says, ends := func() bool { return c.says }, func() bool { return c.ends }
				assert.Equal(t, c.isFirst, f.Read(c.index, says, ends), c)
				assert.Equal(t, c.isFirst, f.IsFirst(c.index, says), "when it is shown")
			}
		})
	}
}
