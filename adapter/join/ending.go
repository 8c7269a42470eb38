package join

import (
	"github.com/carryon-go/carryon/adapter"
)

// ending is the end of a turn, which is held back because it would tell the caller
// that the answer is over. It is the end of turn 1 as it came, one that the
// dialect rewrites, or that of the turn before one that is not shown.
type ending[C any] interface {
	// model returns the chunk to copy for a text that the model did not send a chunk
	// for, nil for none, and whether it is a continuation's.
	model() (c *C, continuation bool)
	// appendTo appends the ending, as it is shown, to dst. The usage of the answer
	// may come in a chunk of its own.
	appendTo(dst []C, d adapter.Dialect[C], usage *C, shown adapter.UsageShown) []C
}

// originalEnding is the end of turn 1, unchanged.
type originalEnding[C any] struct {
	chunks []C

	adds         bool   // the first chunk, which has the finish, has content too
	text, finish string // of that chunk
	content      []C    // that chunk without its finish
	isSplit      bool   // the content was shown: only the finish is left of the chunk
}

func (e *originalEnding[C]) model() (c *C, continuation bool) {
	if len(e.chunks) == 0 {
		return nil, false
	}
	return &e.chunks[0], false
}

func (e *originalEnding[C]) appendTo(dst []C, d adapter.Dialect[C], _ *C, _ adapter.UsageShown) []C {
	if !e.isSplit {
		return append(dst, e.chunks...)
	}
	dst = appendClone(dst, d, &e.chunks[0], &adapter.Edit{Part: adapter.Synthetic, Finish: e.finish, Usage: adapter.UsageOwn})
	return append(dst, e.chunks[1:]...)
}

// shownFinish is a finish reason as it is shown.
type shownFinish struct {
	reason    string
	plainStop bool // show the protocol's own word for a plain stop; reason is ""
}

// rewrittenEnding is the end of a turn as the dialect shows it: the finish, and
// the usage of all turns, once.
type rewrittenEnding[C any] struct {
	finish       *C // the chunk with the finish reason, its text and calls shown; nil if there is none
	reason       shownFinish
	finishReason string // the finish reason of the turn
	continuation bool
	moreCame     bool // content came after the finish
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

// hiddenEnding is the end of a turn of which nothing is shown: that of the turn before.
type hiddenEnding[C any] struct {
	ending[C]
	ifShown *rewrittenEnding[C] // the turn's own, in case that more comes
}

// appendClone appends to dst what the edit makes of a chunk, and does not change the
// chunk.
func appendClone[C any](dst []C, d adapter.Dialect[C], c *C, e *adapter.Edit) []C {
	clone := d.Clone(c)
	return d.AppendShown(dst, &clone, e)
}

// usageChunk holds the last chunk with usage, of the last turn that had any. It may be
// the chunk with the finish.
type usageChunk[C any] struct {
	current  *C // of the current turn
	previous *C // of an earlier turn
}

// set sets the chunk of the current turn. The last one set counts.
func (u *usageChunk[C]) set(d adapter.Dialect[C], c *C) {
	clone := d.Clone(c)
	u.current = &clone
}

// nextTurn begins a turn.
func (u *usageChunk[C]) nextTurn() {
	u.previous, u.current = u.last(), nil
}

// last returns the chunk, or nil if no turn had usage.
func (u *usageChunk[C]) last() *C {
	if u.current != nil {
		return u.current
	}
	return u.previous
}
