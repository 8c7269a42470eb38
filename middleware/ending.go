package middleware

import "github.com/carryon-go/carryon/adapter"

// ending is the end of a turn, which is held back because it would tell the caller
// that the answer is over. It is the end of turn 1 as it came, or one that the
// dialect rewrites.
type ending[C any] interface {
	// model returns the chunk to copy for a text that the model did not send a chunk
	// for, nil for none, and whether it is a continuation's.
	model() (c *C, continuation bool)
	// appendTo appends the ending, as it is shown, to dst. The usage of the answer
	// may come in a chunk of its own.
	appendTo(dst []C, d adapter.Dialect[C], usage *C, shown adapter.UsageShown) []C
}

// originalEnding is the end of turn 1, unchanged.
type originalEnding[C any] struct{ chunks []C }

func (e *originalEnding[C]) model() (c *C, continuation bool) {
	if len(e.chunks) == 0 {
		return nil, false
	}
	return &e.chunks[0], false
}

func (e *originalEnding[C]) appendTo(dst []C, _ adapter.Dialect[C], _ *C, _ adapter.UsageShown) []C {
	return append(dst, e.chunks...)
}

// rewrittenEnding is the end of a turn as the dialect shows it: the finish, and
// the usage of all turns, once.
type rewrittenEnding[C any] struct {
	finish       *C // the chunk with the finish reason, its text and calls shown; nil if there is none
	reason       shownFinish
	own          string // the finish reason of the turn
	continuation bool
	goesOn       bool // content came after the finish
}

func (e *rewrittenEnding[C]) model() (c *C, continuation bool) { return e.finish, e.continuation }

func (e *rewrittenEnding[C]) appendTo(dst []C, d adapter.Dialect[C], usage *C, shown adapter.UsageShown) []C {
	if e.finish != nil {
		edit := adapter.Edit{
			Part: adapter.Synthetic, Finish: e.reason.reason, PlainStop: e.reason.plainStop, Totals: shown,
			Continuation: e.continuation,
		}
		if usage == e.finish {
			edit.Usage, usage = shown, nil
		}
		dst = appendClone(dst, d, e.finish, &edit)
	}
	if usage != nil {
		dst = appendClone(dst, d, usage, &adapter.Edit{Part: adapter.UsageOnly, Usage: shown, Continuation: e.continuation})
	}
	if e.finish != nil {
		dst = d.AppendShown(dst, new(C), &adapter.Edit{Part: adapter.AnswerEnd})
	}
	return dst
}

// appendClone appends to dst what the edit makes of a chunk, and does not change the
// chunk.
func appendClone[C any](dst []C, d adapter.Dialect[C], c *C, e *adapter.Edit) []C {
	clone := d.Clone(c)
	return d.AppendShown(dst, &clone, e)
}
