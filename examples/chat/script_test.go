package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScriptSignsWhatItWasGivenANameFor(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Write a poem about rain by Ada Lovelace.")
		s.settle()
		assert.NotContains(t, s.written(), "paused")
		assert.Contains(t, s.written(), "\nEverything is done.\n")
		assert.True(t, strings.HasSuffix(s.file("rain/poem.md"), "\nBy Ada Lovelace\n"))
	})
}

func TestScriptWritesTheFilesThatWereNamed(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Write notes.md and docs/plan.md, by Ada.")
		s.settle()
		assert.Contains(t, s.file("notes.md"), "# On notes")
		assert.Contains(t, s.file("docs/plan.md"), "By Ada\n")
	})
}

func TestScriptGoesOnAfterCtrlC(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, time.Second, 1500 * time.Millisecond} {
		inTerminal(t, 80, 24, func(s *scene) {
			s.enter(request)
			s.pass(at)
			s.press("\x03")
			s.settle()
			s.enter("Go on.")
			s.settle()
			if !strings.Contains(s.seen(), "* paused: ") { // it was stopped before it had a plan
				s.enter(request)
				s.settle()
			}
			s.enter("It is Ada.")
			s.settle()
			assert.Contains(t, s.seen(), "-- 4 of 4 done, ready (/help) --", "stopped after %v", at)
			assert.Contains(t, s.file("tea/guide.md"), "By Ada\n")
		})
	}
}

func TestScriptIsTalkedTo(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		s.enter("Hello.")
		s.settle()
		assert.Contains(t, s.written(), "I am a small script and can only write texts.")
		s.enter(request)
		s.settle()
		s.enter("What a lovely day it is in the middle of November!")
		s.settle()
		assert.Contains(t, s.written(), "I see. Next, I will sign tea/guide.md for the author.")
		assert.Equal(t, 2, strings.Count(s.written(), "* paused: "), "and asks for the name again")
		s.enter("Write a song about rain.")
		s.settle()
		assert.NotEmpty(t, s.file("rain/song.md"), "a new request is a new list")
	})
}

func TestScriptPausesIfAToolDoesNotWork(t *testing.T) {
	t.Parallel()
	inPipe(t, func(s *scene) {
		require.NoError(t, os.WriteFile(filepath.Join(s.files.dir, "tea"), nil, 0o600))
		s.enter(request)
		s.settle()
		assert.Contains(t, s.written(), "* paused: A tool does not do its work: Error: tea/outline.md: not a directory.\n")
	})
}
