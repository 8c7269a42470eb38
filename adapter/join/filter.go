package join

import (
	"errors"
	"slices"
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reading"
)

// callbacks are the filtered callbacks of a call. A nil value has none.
type callbacks struct {
	filters []TurnFilter
	failed  func(error) // tells the engine of the error of one of them

	mu  sync.Mutex
	err error // with which one of them failed
}

// fail records the error of one of them.
func (c *callbacks) fail(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	c.failed(err)
}

// failure returns the error of a callback, or nil.
func (c *callbacks) failure() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// begin begins a turn.
func (c *callbacks) begin(turn *reading.Turn) {
	if c == nil {
		return
	}
	for _, f := range c.filters {
		f.begin(c, turn)
	}
}

// end ends a turn.
func (c *callbacks) end(turn *reading.Turn, failed bool) {
	if c == nil {
		return
	}
	for _, f := range c.filters {
		f.end(turn, failed)
	}
}

// endCall ends the call, after a notice.
func (c *callbacks) endCall(notice, separator string) {
	if c == nil {
		return
	}
	for _, f := range c.filters {
		f.endCall(notice, separator)
	}
}

// any reports whether something holds for one of the filters.
func (c *callbacks) any(holds func(TurnFilter) bool) bool {
	return c != nil && slices.ContainsFunc(c.filters, holds)
}

// TurnFilter is a [Filter] of any type, for [Unary]. Only Filter implements it.
type TurnFilter interface {
	begin(c *callbacks, turn *reading.Turn)
	end(turn *reading.Turn, failed bool)
	endCall(notice, separator string) // shows the notice, then ends
	showedCall() bool
	showedTurn() bool // or part of it
}

// Filter stands between an SDK and the callback to which the SDK streams during a unary
// call. It passes on the caller's own turn unchanged. In later turns it removes the
// calls of todo_pause, and puts the separator before the first text. A call may have
// several Filters, one for each callback; pass all of them to [Unary].
//
// The dialect of a Filter is for the values that the callback receives. Its Read
// reports neither finish nor usage.
//
// Chunk, Relaying and Relayed are called while Unary runs, by one goroutine at a time
// for all filters of the call. If a goroutine of the SDK calls Chunk late, the Filter
// drops what belongs to a turn that has ended; if the call has only one turn, it passes
// the value on.
type Filter[C any] struct {
	emit func(C) error

	mu        sync.Mutex // guards the fields below; not held while emit runs
	callbacks *callbacks // nil until Unary is given the filter
	state     filterState
	emitting  bool // the callback runs
	turn      reading.Turn
	writer    writer[C]
	out       output[C]
	shown     bool // text was shown through this filter
	emitted   bool // the callback was given a text of the turn that the SDK did not stream
	err       error
}

// filterState is what a filter does at the moment.
type filterState uint8

const (
	betweenTurns filterState = iota
	inTurn
	detached // the callback was still running when its turn ended: it is left alone
	callOver
)

// errTurnOver is the answer to an SDK that streams to a callback too late.
var errTurnOver = errors.New("middleware: the turn that this belongs to has ended")

// NewFilter returns a filter that passes values to emit, for one call. Pass it to
// [Unary].
func NewFilter[C any](d adapter.Dialect[C], emit func(C) error) *Filter[C] {
	f := &Filter[C]{emit: emit}
	f.writer = writer[C]{dialect: d}
	return f
}

// Chunk receives a value that the SDK streams, and passes on what the callback may see.
// If the callback fails, Chunk returns its error, now and for every later value, and
// carryon does not continue the call. Chunk panics if the filter was not passed to
// [Unary].
func (f *Filter[C]) Chunk(c C) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mustBeGiven()
	switch {
	case f.err != nil:
		return f.err
	case f.state != inTurn:
		return errTurnOver
	}
	f.turn.NextChunk()
	f.writer.dialect.Read(&c, &f.turn)
	f.writer.write(&f.turn, &c, &f.out)
	f.flush()
	return f.err
}

// Relaying reports whether the filter passes values on unchanged, which it does during
// the caller's own turn. Then an adapter may call the callback itself and report that
// to Relayed, instead of calling Chunk; this saves almost all the time that a chunk
// costs. After Relaying has returned true, the adapter must do both or neither.
func (f *Filter[C]) Relaying() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mustBeGiven()
	passes := f.state == inTurn || f.state == callOver
	f.emitting = passes && f.turn.First && f.turn.Calls.Unwatched && f.err == nil
	return f.emitting
}

// Relayed records a value that the adapter has passed to the callback itself: whether
// it had text, and the callback's error. It returns what Chunk would have returned.
func (f *Filter[C]) Relayed(text bool, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emitting = false
	f.turn.Shown.IsAny = f.turn.Shown.IsAny || text
	f.fail(err)
	return err
}

// fail keeps the error of the callback, if there is one.
func (f *Filter[C]) fail(err error) {
	if err != nil {
		f.err = err
		f.callbacks.fail(err)
	}
}

func (f *Filter[C]) mustBeGiven() {
	if f.callbacks == nil {
		panic("carryon/adapter/join: Unary was not given the filter")
	}
}

// flush gives the callback the chunks that are ready.
func (f *Filter[C]) flush() {
	for c, ok := f.out.take(); ok; c, ok = f.out.take() {
		if f.err == nil {
			f.fail(f.call(c))
		}
	}
}

// call calls the callback, which may take long, without the lock.
func (f *Filter[C]) call(c C) error {
	f.emitting = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.emitting = false
	}()
	return f.emit(c)
}

// begin implements TurnFilter.
func (f *Filter[C]) begin(c *callbacks, turn *reading.Turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.callbacks, f.emitted, f.out.adds = c, false, false
	if f.state != detached {
		f.state = inTurn
	}
	f.turn = turn.ForCallback(&f.turn, f.shown)
}

// end implements TurnFilter. turn is the turn as it was read, which knows more of it than
// what was streamed to this callback, unless the turn has failed.
func (f *Filter[C]) end(turn *reading.Turn, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.emitting || f.state != inTurn {
		f.state = detached
		return
	}
	if f.turn.MayBeHidden() && (failed || turn.IsHidden()) {
		f.writer.drop()
		f.state = betweenTurns
		return
	}
	f.turn.Calls.DecideOpen()
	f.writer.flush(&f.turn, &f.out)
	f.flush()
	f.showText(f.turn.EndForCallback(turn.PrintedPause() != nil))
	f.shown = f.shown || f.turn.Shown.IsAny
	f.state = betweenTurns
}

// endCall implements TurnFilter.
func (f *Filter[C]) endCall(notice, separator string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == detached {
		return
	}
	if f.shown && notice != "" {
		notice = separator + notice
	}
	f.showText(notice)
	f.state = callOver
}

// showText shows a text that the SDK did not stream.
func (f *Filter[C]) showText(text string) {
	if text == "" {
		return
	}
	f.emitted = true
	var c C
	f.out.chunks = f.writer.dialect.AppendShown(f.out.chunks, &c,
		&adapter.Edit{Part: adapter.Synthetic, Text: text, Continuation: !f.turn.First})
	f.flush()
}

// showedCall implements TurnFilter.
func (f *Filter[C]) showedCall() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turn.ShowedCall()
}

// showedTurn implements TurnFilter.
func (f *Filter[C]) showedTurn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.emitted || f.out.adds || f.state == detached
}
