package terminal

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shown collects the output of plain lines.
type shown struct {
	mu sync.Mutex
	strings.Builder
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.String()
}

func TestPlainLines(t *testing.T) {
	t.Parallel()
	var out shown
	l := NewLines(strings.NewReader("one\r\ntwo\nthree"), &out, true)
	defer l.Close()
	var entered []string
	for line := range l.Lines() {
		entered = append(entered, line)
	}
	assert.Equal(t, []string{"one", "two", "three"}, entered)
	l.Say(Said, "Hello\x1b[2J.")
	l.Stream("\n\nAn \x1b[31manswer")
	l.Stream(" in pieces.")
	l.Say(Worked, "did this\nand that")
	l.Stream("More.\n")
	l.Say(Told, "")
	l.Say(Failed, "no")
	assert.Equal(t, "\n> Hello.\nAn answer in pieces.\n  did this\n  and that\nMore.\n! no\n", out.String())
}

func TestWhatATerminalEchoesIsNotShownAgain(t *testing.T) {
	t.Parallel()
	var out shown
	l := NewLines(strings.NewReader(""), &out, false)
	defer l.Close()
	l.Say(Said, "Hello.")
	l.Say(Told, "Well.")
	assert.Equal(t, "\nWell.\n", out.String())
}

func TestLinesThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	var out shown
	l := NewLines(strings.NewReader("before\n"+strings.Repeat("x", 3*maxLine)+"\nafter\n"), &out, true)
	defer l.Close()
	var entered []string
	for line := range l.Lines() {
		entered = append(entered, line)
	}
	assert.Equal(t, []string{"before", "", "after"}, entered)
	assert.Equal(t, "! A line has at most 64 KiB.\n", out.String())
}

func TestCloseEndsAReaderThatNobodyReads(t *testing.T) {
	t.Parallel()
	NewLines(strings.NewReader("one\ntwo\n"), &shown{}, true).Close() // goleak watches
}
