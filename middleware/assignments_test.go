package middleware

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAssignments(t *testing.T) {
	t.Parallel()
	const task = "Look for all callers of parse and list them."
	for name, c := range map[string]struct {
		arguments, message string
		want               bool
	}{
		"the argument":                 {`{"prompt":"` + task + `"}`, task, true},
		"words before it":              {`{"prompt":"` + task + `"}`, "You are a sub-agent.\n\n" + task + "\n", true},
		"elements around it":           {`{"prompt":"` + task + `"}`, "<system-reminder>Today is Sunday.</system-reminder>\n" + task + "\n<system-reminder>Be brief.</system-reminder>", true},
		"nested":                       {`{"tasks":[{"agent":"explore","prompt":"` + task + `"}]}`, task, true},
		"among others":                 {`{"description":"Find all of the callers there are","prompt":"` + task + `","n":3}`, task, true},
		"no JSON":                      {task, task, true},
		"escaped":                      {`{"prompt":"Look for \"parse\" in all files\nand list them."}`, "Look for \"parse\" in all files\nand list them.", true},
		"another end":                  {`{"prompt":"` + task + `"}`, task + " Thanks.", false},
		"another text of the same end": {`{"prompt":"Please. ` + task + `"}`, task, false},
		"a short one":                  {`{"prompt":"Look for the callers."}`, "Look for the callers.", false},
		"nothing":                      {`{"prompt":"` + task + `"}`, "", false},
		"broken":                       {`{"prompt":"` + task, task, false},
	} {
		var h assignments
		h.addArguments([]byte(c.arguments))
		assert.Equal(t, c.want, h.isBeginning(c.message), name)
		assert.Equal(t, c.want, h.isBeginning(c.message), name)
	}
}

// A model may give a tool the user's own words: what was a main conversation stays one.
func TestAssignmentOfTheUsersOwnWords(t *testing.T) {
	t.Parallel()
	const words = "Write a parser for the format in spec.md."
	var h assignments
	assert.False(t, h.isBeginning(words))
	h.addArguments([]byte(`{"prompt":"` + words + `"}`))
	assert.False(t, h.isBeginning(words))
	assert.True(t, h.isBeginning("You are a sub-agent. "+words))
}

func TestAssignmentsAreBounded(t *testing.T) {
	t.Parallel()
	var h assignments
	for i := range 2 * maxAssignments {
		h.add(strings.Repeat("x", leastAssignment) + strconv.Itoa(100_000+i))
		h.add(strconv.Itoa(i) + strings.Repeat("y", leastAssignment))
		h.isBeginning(strconv.Itoa(i))
	}
	assert.Equal(t, maxAssignments, h.given.Len())
	assert.Equal(t, maxBegun, h.begun.Len())
	assert.Len(t, *h.given.Get(strings.Repeat("y", leastAssignment)), sameEnds)
}
