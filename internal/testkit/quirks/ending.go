package quirks

import (
	"fmt"
	"slices"
)

// ending says which chunks have choices, a finish reason or usage.
type ending struct {
	choices  int   // the last chunk that has any, -1 if none has
	finishes []int // the chunks with a finish
	usages   []int // the chunks with a usage
	finish   string
	usage    string
}

func endingOf(chunks []chunk) ending {
	e := ending{choices: -1}
	for i, c := range chunks {
		for _, one := range c.choices {
			e.choices = i
			if reason := one.finish(); reason != "" && one.first() {
				e.finishes, e.finish = append(e.finishes, i), reason
			}
		}
		if present(c.members, "usage") {
			e.usages, e.usage = append(e.usages, i), string(c.members["usage"])
		}
	}
	return e
}

// checkEnding checks that there is one finish reason, in the last chunk that has
// choices, and one usage, there or later. If open is true, there must be none.
func (q Quirk) checkEnding(e ending, open bool) error {
	switch want := q.Means().Finish; {
	case open && len(e.finishes)+len(e.usages) > 0:
		return fmt.Errorf("the chunks of turn 2 have a finish (%v) or usage (%v)", e.finishes, e.usages)
	case open:
		return nil
	case !slices.Equal(e.finishes, []int{e.choices}) || e.finish != want:
		return fmt.Errorf("finish %q in chunks %v, want %q in chunk %d, the last with choices",
			e.finish, e.finishes, want, e.choices)
	}
	return q.checkSum(e)
}

// checkSum checks that the usage of both turns is reported once. Usage that
// turn 1 reports before its finish reason has been relayed, and need not be
// repeated if turn 2 adds nothing to it.
func (q Quirk) checkSum(e ending) error {
	second := q.Second.Usage
	if q.Effect == Dropped {
		second = ""
	}
	none := second == "" && (q.First.Usage == "" || q.First.usageOnlyBeforeFinish())
	switch {
	case none && len(e.usages) > 0:
		return fmt.Errorf("usage in chunks %v, though there is none to show", e.usages)
	case none:
		return nil
	case len(e.usages) != 1 || e.usages[0] < e.choices:
		return fmt.Errorf("usage in chunks %v, want one in %d or after it", e.usages, e.choices)
	}
	return checkUsage(q.First.Usage, second, e.usage)
}

// usageOnlyBeforeFinish reports whether all usage of the turn comes in chunks
// before its finish reason, which are relayed.
func (t Turn) usageOnlyBeforeFinish() bool {
	has := func(c chunk) bool { return present(c.members, "usage") }
	return slices.ContainsFunc(chunksOf(t.Head), has) && !slices.ContainsFunc(chunksOf(t.Tail), has)
}
