package middleware

import "slices"

// Filter stands before a callback that an SDK streams to while a unary call is
// under way. What the caller's own turn streams passes as it is; of later turns
// the calls of todo_pause are left out, and the seam is put before the first
// text. A call may have several, each for a callback of its own.
//
// The dialect is one for what the callback is given: its Read reports no
// finish and no usage, and Write makes something to show of the zero C.
//
// Chunk, Relaying and Relayed are called before [Unary] has returned, for all
// filters of a call by one goroutine at a time.
type Filter[C any] struct {
	call    *Call
	dialect Dialect[C]
	emit    func(C) error
	sink    Sink
	writer  writer[C]
	said    bool // text was shown through this filter
	err     error
}

// NewFilter returns a filter before emit for the call, which must be given to
// [Unary] then.
func NewFilter[C any](call *Call, d Dialect[C], emit func(C) error) *Filter[C] {
	f := &Filter[C]{call: call, dialect: d, emit: emit}
	f.writer = writer[C]{sink: &f.sink, dialect: d, emit: f.show}
	call.listeners = append(call.listeners, f)
	f.begin(call)
	return f
}

// Chunk takes what the SDK streams. It returns the callback's error, also for
// every chunk after the one that the callback failed on, and the call is not
// continued any more.
func (f *Filter[C]) Chunk(c C) error {
	if f.err == nil {
		f.sink.next()
		f.dialect.Read(&c, &f.sink)
		f.writer.write(&c)
	}
	return f.err
}

// Relaying reports whether what the SDK streams passes as it is, which it does
// in the caller's own turn. As long as it does, an adapter may give chunks to
// the callback itself and tell Relayed: then a chunk costs next to nothing.
func (f *Filter[C]) Relaying() bool {
	return f.sink.number == 1 && !f.sink.watching && f.err == nil
}

// Relayed takes note of a chunk that the adapter has given to the callback:
// whether there was text in it, and the callback's error. It returns what Chunk
// would have returned.
func (f *Filter[C]) Relayed(text bool, err error) error {
	f.sink.said = f.sink.said || text
	if err != nil {
		f.err, f.call.callbackErr = err, err
	}
	return err
}

func (f *Filter[C]) show(c C) {
	if f.err != nil {
		return
	}
	if f.err = f.emit(c); f.err != nil {
		f.call.callbackErr = f.err
	}
}

// begin implements listener.
func (f *Filter[C]) begin(c *Call) {
	f.sink.begin(c.sink.number, c.sink.watching, c.sink.printable, f.said)
}

// end implements listener. Printed says that the turn ended in a printed call
// of todo_pause.
func (f *Filter[C]) end(printed bool) {
	f.sink.calls.settle()
	f.writer.flush()
	f.sink.next()
	if printed {
		_, _, rest := f.sink.printed.End()
		f.sink.show(rest)
	} else {
		f.sink.show(f.sink.printed.Release())
	}
	f.write(f.sink.chunk.text)
	f.said = f.said || f.sink.said
}

// say implements listener.
func (f *Filter[C]) say(text string) {
	if f.said && text != "" {
		text = Seam + text
	}
	f.write(text)
}

// write shows a text for which the SDK streamed nothing.
func (f *Filter[C]) write(text string) {
	if text == "" {
		return
	}
	var c C
	if f.dialect.Write(&c, &Edit{Text: text, Rest: true, Later: f.sink.number > 1}) {
		f.show(c)
	}
}

// showedCall implements listener.
func (f *Filter[C]) showedCall() bool { return f.sink.showedCall() }

// listener is told about the turns of a call: it filters what a callback is
// given.
type listener interface {
	begin(c *Call)
	end(printed bool)
	say(text string)
	showedCall() bool
}

func (c *Call) endListeners() {
	for _, l := range c.listeners {
		l.end(c.printed != nil)
	}
}

// tellListeners shows the notice of a pause.
func (c *Call) tellListeners() {
	if c.result == nil {
		return
	}
	for _, l := range c.listeners {
		l.say(c.result.Message)
	}
}

// toldCall reports whether a callback was given a tool call, or a part of one,
// while the turn at hand was under way.
func (c *Call) toldCall() bool {
	return slices.ContainsFunc(c.listeners, listener.showedCall)
}
