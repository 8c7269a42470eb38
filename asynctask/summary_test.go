package asynctask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	assert.Empty(t, s.Summary("a"))
	for _, task := range []struct{ id, name string }{
		{"12345678-90ab", "run the tests"},
		{"abcdefgh-1", `write <docs> & "notes"`},
		{"failing-12345", "lint"},
		{"stopped-12345", "deploy"},
	} {
		err := s.Begin(in(t, "a"), task.id, task.name)
		require.NoError(t, err)
	}
	require.NoError(t, s.Finish("abcdefgh-1", nil))
	require.NoError(t, s.Fail("failing-12345", nil))
	require.NoError(t, s.Cancel("stopped-12345"))
	golden(t, "summary", s.Summary("a"))
}

func TestSummaryShowsAsMuchOfAnIDAsTellsItApart(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	s.begins("a", "t1", "12345678", "123456789", "research-1", "research-22", "research-2", "build-the-index")
	s.begins("b", "build-the-docs")
	for i, want := range []string{"t1", "12345678", "123456789", "research-1", "research-22", "research-2", "build-th..."} {
		line := strings.Split(s.Summary("a"), "\n")[i+1]
		assert.True(t, strings.HasSuffix(line, "("+want+")"), line)
		result, _, err := s.Handle(in(t, "a"), asynctask.CheckTool().Name, want)
		require.NoError(t, err)
		assert.Contains(t, result, "("+s.kept("a")[i]+")", "the shown part of the id finds the task")
	}
}

func TestLongSummaryLeavesTheOldestOut(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(asynctask.Off))
	for i := range 1000 {
		s.begins("a", fmt.Sprintf("%04d-task", i))
	}
	summary := s.Summary("a")
	assert.LessOrEqual(t, len(summary), asynctask.MaxSummary)
	assert.Greater(t, len(summary), asynctask.MaxSummary-200)
	lines := strings.Split(summary, "\n")
	assert.Equal(t, "[ASYNC TASKS: 1000 total]", lines[0])
	left := 1000 - len(lines) + 2
	assert.Equal(t, fmt.Sprintf("(%d older ones not shown)", left), lines[1])
	assert.Equal(t, fmt.Sprintf("[%d] %04d-task - [RUNNING] (%04d-tas...)", left+1, left, left), lines[2])
	assert.Equal(t, "[1000] 0999-task - [RUNNING] (0999-tas...)", lines[len(lines)-1])
}
