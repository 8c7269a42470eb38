package handback_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/handback"
)

// A labelledEnd is an end of a turn, and what ought to become of it: how agents end their
// turns, in words of our own. The ends of testdata/ends.jsonl, in 20 languages, were
// written and labelled before the rules that read them, and half of them was kept from
// these. Those of later.jsonl were written against the rules, and are harder.
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
	return end == handback.Waits || !yolo && (end == handback.Asks || end == handback.Leaves)
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

func tallyOf(tb testing.TB, file string, which func(*labelledEnd) bool) (c tally) {
	tb.Helper()
	for _, e := range labelledEnds(tb, file) {
		if which(&e) {
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

// share returns a share in per cent, with its 95% interval by Wilson.
func share(k, n int) string {
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	middle, half := (p+z*z/(2*m))/(1+z*z/m), z/(1+z*z/m)*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return fmt.Sprintf("%d of %d (%.1f%%, %.1f to %.1f)", k, n, 100*p, 100*max(0, middle-half), 100*(middle+half))
}

func labelledEnds(tb testing.TB, name string) (ends []labelledEnd) {
	tb.Helper()
	for _, line := range linesOf(tb, name) {
		var e labelledEnd
		require.NoError(tb, json.Unmarshal([]byte(line), &e))
		ends = append(ends, e)
	}
	return ends
}

// linesOf returns the lines of a file of testdata.
func linesOf(tb testing.TB, name string) []string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(tb, err)
	require.NotEmpty(tb, text)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// What was measured is the floor: at most 5% of the hand-backs are continued, and at
// least 95% of the stalls; YOLO mode continues every stall.
func TestLabelledEnds(t *testing.T) {
	t.Parallel()
	all := func(*labelledEnd) bool { return true }
	for name, c := range map[string]tally{
		"seen":   tallyOf(t, "ends.jsonl", func(e *labelledEnd) bool { return !e.unseen() }),
		"unseen": tallyOf(t, "ends.jsonl", (*labelledEnd).unseen),
		"later":  tallyOf(t, "later.jsonl", all),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(c.String())
			wrong := strings.Join(c.wrong, "\n")
			assert.LessOrEqual(t, float64(c.harm), 0.05*float64(c.handBacks), wrong)
			assert.GreaterOrEqual(t, float64(c.help), 0.95*float64(c.stalls), wrong)
			assert.Zero(t, c.lost, wrong)
			assert.LessOrEqual(t, float64(c.impatient), 0.05*float64(c.waits), wrong)
			assert.Zero(t, c.announced, wrong)
		})
	}
}
