package handback_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/handback"
)

// A labelledEnd is an end of a turn, and what ought to become of it. The ends of
// testdata/ends.jsonl were written and labelled before the rules that read them, in 20
// languages: how agents end their turns, in words of our own.
type labelledEnd struct {
	Lang     string
	Kind     string // what the end is: step, cut, question, waitwork, ...
	Standard string // what becomes of it with a person there: wait, continue, or once
	YOLO     string // likewise with nobody there
	Text     string
}

// unseen reports whether e belongs to the half that no rule was tuned on.
func (e *labelledEnd) unseen() bool { return sha256.Sum256([]byte(e.Text))[0]&1 == 1 }

// handedBack reports whether the turn is left to whom it waits for.
func (e *labelledEnd) handedBack(yolo bool) bool {
	end := handback.Of(e.Text)
	return end == handback.Waits || end == handback.Asks && !yolo
}

// A tally counts what becomes of the ends of one half.
type tally struct {
	harm, handBacks  int // hand-backs that are continued in standard mode
	help, stalls     int // stalls that are
	lost             int // stalls that YOLO mode leaves lying
	impatient, waits int // waits for the agent's own work that YOLO mode continues
	steps, announced int // offers and reports that are taken for steps
	wrong            []string
}

func tallyOf(tb testing.TB, unseen bool) (c tally) {
	tb.Helper()
	for _, e := range labelledEnds(tb) {
		if e.unseen() == unseen {
			c.add(&e)
		}
	}
	return c
}

func (c *tally) add(e *labelledEnd) {
	note := func(what string) {
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %s %s is %v: %q", what, e.Lang, e.Kind, handback.Of(e.Text), e.Text))
	}
	waits := e.handedBack(false)
	switch e.Standard {
	case "wait":
		c.handBacks++
		if !waits {
			c.harm++
			note("harm")
		}
	case "continue":
		c.stalls++
		if waits {
			note("no help")
		} else {
			c.help++
		}
		if e.handedBack(true) {
			c.lost++
			note("lost")
		}
	case "once":
		c.steps++
		if handback.Of(e.Text) == handback.Announces {
			c.announced++
			note("a step")
		}
	}
	if e.YOLO == "wait" {
		c.waits++
		if !e.handedBack(true) {
			c.impatient++
			note("impatient")
		}
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("harm %s, help %s; YOLO leaves %d stalls and continues %d of %d waits; %d of %d offers and reports taken for steps",
		share(c.harm, c.handBacks), share(c.help, c.stalls), c.lost, c.impatient, c.waits, c.announced, c.steps)
}

// share returns a share in per cent, with its 95 % interval by Wilson.
func share(k, n int) string {
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	middle, half := (p+z*z/(2*m))/(1+z*z/m), z/(1+z*z/m)*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return fmt.Sprintf("%d of %d (%.1f %%, %.1f to %.1f)", k, n, 100*p, 100*max(0, middle-half), 100*(middle+half))
}

func labelledEnds(tb testing.TB) (ends []labelledEnd) {
	tb.Helper()
	file, err := os.Open("testdata/ends.jsonl")
	require.NoError(tb, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e labelledEnd
		require.NoError(tb, json.Unmarshal(lines.Bytes(), &e))
		ends = append(ends, e)
	}
	return ends
}

func TestLabelledEndsThatWereSeen(t *testing.T) {
	t.Parallel()
	c := tallyOf(t, false)
	t.Log(c.String(), "\n"+strings.Join(c.wrong, "\n"))
	assert.Zero(t, c.lost)
}

func TestLabelledEndsThatWereNotSeen(t *testing.T) {
	t.Parallel()
	c := tallyOf(t, true)
	t.Log(c.String())
	assert.Zero(t, c.lost)
}
