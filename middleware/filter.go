package middleware

import (
	"github.com/carryon-go/carryon/adapter"
)

// Filter stands before a callback that an SDK streams to during a unary call.
// What the caller's own turn streams passes as it is; of later turns the calls
// of todo_pause are left out, and the separator is put before the first text. A
// call may have several, each for a callback of its own: all are given to
// [Unary].
//
// The dialect is one for what the callback is given: its Read reports no
// finish and no usage.
//
// Chunk, Relaying and Relayed are called while [Unary] runs, for all filters of a
// call by one goroutine at a time.
type Filter[C any] struct {
	callbacks *callbacks // nil until Unary is given the filter
	emit      func(C) error
	reader    turnReader
	writer    writer[C]
	out       output[C]
	shown     bool // text was shown through this filter
	err       error
}

// NewFilter returns a filter before emit, for one call: it must be given to
// [Unary].
func NewFilter[C any](d adapter.Dialect[C], emit func(C) error) *Filter[C] {
	f := &Filter[C]{emit: emit}
	f.writer = writer[C]{reader: &f.reader, dialect: d}
	return f
}

// Chunk takes what the SDK streams. It returns the callback's error, also for
// every chunk after the one that the callback failed on, and the call is not
// continued any more. It panics if Unary was not given the filter.
func (f *Filter[C]) Chunk(c C) error {
	f.mustBeGiven()
	if f.err == nil {
		f.reader.nextChunk()
		f.writer.dialect.Read(&c, &f.reader)
		f.writer.write(&c, &f.out)
		f.flush()
	}
	return f.err
}

// Relaying reports whether what the SDK streams passes as it is, which it does
// in the caller's own turn. As long as it does, an adapter may give chunks to
// the callback itself and tell Relayed: then a chunk costs next to nothing.
func (f *Filter[C]) Relaying() bool {
	f.mustBeGiven()
	return f.reader.first && f.reader.calls.unwatched && f.err == nil
}

// Relayed records a chunk that the adapter has given to the callback: whether
// there was text in it, and the callback's error. It returns what Chunk would
// have returned.
func (f *Filter[C]) Relayed(text bool, err error) error {
	f.reader.text.shown = f.reader.text.shown || text
	if err != nil {
		f.err, f.callbacks.err = err, err
	}
	return err
}

func (f *Filter[C]) mustBeGiven() {
	if f.callbacks == nil {
		panic("carryon/middleware: Unary was not given the filter")
	}
}

// flush gives the callback what is ready for it.
func (f *Filter[C]) flush() {
	for c, ok := f.out.take(); ok; c, ok = f.out.take() {
		if f.err != nil {
			continue
		}
		if f.err = f.emit(c); f.err != nil {
			f.callbacks.err = f.err
		}
	}
}

// begin implements TurnFilter.
func (f *Filter[C]) begin(c *callbacks, r *turnReader) {
	f.callbacks = c
	f.reader = turnReader{
		first: r.first, chunk: added{calls: f.reader.chunk.calls[:0]}, calls: tracker{unwatched: r.calls.unwatched},
		text: turnText{separator: f.separatorOf(r), printable: r.text.printable},
	}
}

// end implements TurnFilter. Printed says that the turn ended in a printed call
// of todo_pause.
func (f *Filter[C]) end(printed bool) {
	f.reader.calls.decideOpen()
	f.writer.flush(&f.out)
	f.flush()
	f.reader.nextChunk()
	if printed {
		_, _, rest := f.reader.text.printed.End()
		f.reader.show(rest)
	} else {
		f.reader.show(f.reader.text.printed.Release())
	}
	f.showText(f.reader.chunk.text)
	f.shown = f.shown || f.reader.text.shown
}

// separatorOf returns what is put before the first text of a turn.
func (f *Filter[C]) separatorOf(r *turnReader) string {
	if !f.shown {
		return ""
	}
	return r.text.separator
}

// showNotice implements TurnFilter.
func (f *Filter[C]) showNotice(text, separator string) {
	if f.shown && text != "" {
		text = separator + text
	}
	f.showText(text)
}

// showText shows a text for which the SDK streamed nothing.
func (f *Filter[C]) showText(text string) {
	if text == "" {
		return
	}
	var c C
	f.out.chunks = f.writer.dialect.AppendShown(f.out.chunks, &c,
		&adapter.Edit{Part: adapter.Synthetic, Text: text, Continuation: !f.reader.first})
	f.flush()
}

// showedCall implements TurnFilter.
func (f *Filter[C]) showedCall() bool { return f.reader.showedCall() }

// TurnFilter is a [Filter] of any type, as Unary takes it.
type TurnFilter interface {
	begin(c *callbacks, r *turnReader)
	end(printed bool)
	showNotice(text, separator string)
	showedCall() bool
}

// callbacks are the callbacks of a call that an SDK streams to, behind their
// filters. A nil one has none.
type callbacks struct {
	filters []TurnFilter
	err     error // what one of them failed with
}

// failure returns what a callback failed with, or nil.
func (c *callbacks) failure() error {
	if c == nil {
		return nil
	}
	return c.err
}

// all returns the filters.
func (c *callbacks) all() []TurnFilter {
	if c == nil {
		return nil
	}
	return c.filters
}
