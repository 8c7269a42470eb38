//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, compare(t.Context(), &b))
	assert.Equal(t, `--- without a check ---

agent:   write_file
agent:   todo_write
model:   All done: sum.sh adds its two arguments, and the test passes.
carryon: No active todos found (pending or in_progress)
truth:   2 and 3 make -1

--- with a check ---

agent:   write_file
agent:   todo_write
model:   All done: sum.sh adds its two arguments, and the test passes.
agent:   write_file
model:   It subtracted. Now it adds.
carryon: The program's check passed
carryon: The model was told of failures: 1
truth:   2 and 3 make 5
`, b.String())
}
