package wire

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire/sse"
)

// Stream is the engine's stream of a call, whose first source is the [Source] of
// the caller's own turn.
type Stream interface {
	// Recv returns the next event to show.
	Recv() (sse.Event, error)
	// TryRecv returns the next event to show if it need not wait for one.
	TryRecv() (sse.Event, bool)
	// Ended reports whether Recv will not wait any more.
	Ended() bool
	// Relay returns the relay while the caller's own turn may be relayed
	// unread, and nil after that.
	Relay() Relay
	Close() error
	// ErrClosed returns the error of a Read after Close.
	ErrClosed() error
}

// Relay records the parts of the caller's own turn that an [AnswerBody] relays.
type Relay interface {
	// Text, Reasoning and Usage record the values of relayed events. A text is
	// valid until the method returns.
	Text(text string)
	Reasoning(text string)
	Usage(u adapter.Usage)
	// Handle takes an event that is not relayed, or the error with which the
	// source ended, and returns what Recv would.
	Handle(e sse.Event, err error) (sse.Event, error)
}

// AnswerBody is the body of a streamed answer. Read drives the call: nothing
// happens outside of it. Close may be called while Read runs, and ends it.
type AnswerBody struct {
	stream   Stream
	codec    Codec
	first    *Source
	template template // of the events that are relayed

	out     []byte // what can be read
	err     error  // what Read returns once out is empty
	began   bool   // something was read
	seam    seam   // after the bytes that were read last
	holding bool   // the codec holds events: nothing may be relayed before them
	scanned bool   // the buffer was scanned: it holds no complete event that may be relayed
	closed  atomic.Bool
}

// NewAnswerBody returns the body of a streamed answer.
func NewAnswerBody(s Stream, c Codec, first *Source) *AnswerBody {
	return &AnswerBody{stream: s, codec: c, first: first}
}

// Read implements [io.Reader]. It returns everything that has arrived, because
// a proxy may need a system call for each Read. Only the first event does not
// wait for others to be looked at.
func (b *AnswerBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.readNext(p)
	for more := n; more > 0 && err == nil && n < len(p) && (b.began || b.seam.missing() > 0); n += more {
		more = b.readMore(p[n:])
	}
	b.began = b.began || n > 0
	return n, err
}

// readMore reads what is available without waiting.
func (b *AnswerBody) readMore(p []byte) int {
	for {
		if len(b.out) > 0 {
			return b.drainOut(p)
		}
		if b.closed.Load() {
			return 0
		}
		if b.err != nil {
			return b.readBufferedTail(p)
		}
		came, relay := b.first.reader.Buffered(), b.stream.Relay()
		switch {
		case relay != nil && (len(came) == 0 || b.scanned):
			return 0
		case relay != nil && b.first.reader.IsBetween():
			n, forEngine := b.scan(came, relay)
			if n > 0 {
				b.out = b.first.reader.Take(n)
				continue
			}
			if !forEngine {
				return 0
			}
		}
		if e, ok := b.stream.TryRecv(); ok {
			b.show(e, nil)
			continue
		}
		if !b.stream.Ended() {
			return 0
		}
		b.show(b.stream.Recv())
	}
}

// readBufferedTail does what readTail does, with the bytes that have arrived.
func (b *AnswerBody) readBufferedTail(p []byte) int {
	if f := b.first; len(f.reader.Buffered()) > 0 {
		n, _ := b.readTail(p)
		return n
	}
	return 0
}

// readNext reads the next event, or the part of it that fits.
func (b *AnswerBody) readNext(p []byte) (int, error) {
	for {
		switch {
		case b.closed.Load():
			return 0, b.stream.ErrClosed()
		case len(b.out) > 0:
			return b.drainOut(p), nil
		case b.err != nil:
			return b.readTail(p)
		}
		relay := b.stream.Relay()
		if relay == nil {
			b.show(b.stream.Recv())
			continue
		}
		if b.first.reader.IsBetween() {
			if n := b.relay(p, relay); n > 0 {
				return n, nil
			}
		}
		b.show(relay.Handle(b.first.Recv()))
	}
}

// drainOut copies the bytes that can be read, as many as fit.
func (b *AnswerBody) drainOut(p []byte) int {
	n := copy(p, b.out)
	b.out = b.out[n:]
	if len(b.out) == 0 {
		b.out = b.released()
	}
	return n
}

// readTail reads what follows the end of the stream: the rest of the caller's
// own turn, if that was shown unchanged to its end. After that it returns the
// error.
func (b *AnswerBody) readTail(p []byte) (int, error) {
	f := b.first
	if !errors.Is(b.err, io.EOF) || f.closed.Load() {
		return 0, b.err
	}
	return f.reader.Read(p)
}

// Close implements [io.Closer].
func (b *AnswerBody) Close() error {
	b.closed.Store(true)
	return b.stream.Close()
}

// Sizes of reads.
const (
	minDirectRead = 512     // a smaller p takes too little of an event
	firstRead     = 4 << 10 // before there is a template, as nothing that is read then can stay in p
)

// relay relays events of the caller's own turn into p: those in the buffer, or
// else those that it reads next. It returns the number of bytes; after 0, the
// engine handles the next event.
func (b *AnswerBody) relay(p []byte, r Relay) int {
	f := &b.first.reader
	if len(f.Buffered()) > 0 && !b.scanned {
		n, forEngine := b.scan(f.Buffered(), r)
		if n > 0 {
			b.out = f.Take(n)
			return b.drainOut(p)
		}
		if forEngine {
			return 0
		}
	}
	if !b.template.isLearned() {
		p = p[:min(len(p), firstRead)]
	}
	if len(p) < max(minDirectRead, 2*len(f.Buffered())) {
		return 0
	}
	return b.relayNext(p, r)
}

// relayNext reads events directly into p and relays them.
func (b *AnswerBody) relayNext(p []byte, r Relay) int {
	f := &b.first.reader
	for in := f.MoveTo(p); ; {
		got := f.ReadInto(p[in:])
		in += got
		n, forEngine := b.scan(p[:in], r)
		if n > 0 || forEngine || got == 0 || in > maxTemplate || len(p) < 2*in {
			f.Restore(p[n:in])
			if forEngine {
				f.GiveAway() // the engine may keep the events
			}
			return n
		}
	}
}

// show makes the event that the engine shows available to Read.
func (b *AnswerBody) show(e sse.Event, err error) {
	b.err, b.scanned = err, false
	holder, isHolder := b.codec.(Holder)
	switch {
	case err == nil && isHolder && !e.Written:
		holder.Hold(e)
	case err == nil:
		b.out = b.frame(&e)
		return
	case isHolder:
		holder.Release()
	}
	b.out = b.released()
}

// released returns the next event of the holder to show, or nil, which occupies
// no memory while the source waits.
func (b *AnswerBody) released() []byte {
	holder, ok := b.codec.(Holder)
	if !ok {
		return nil
	}
	e, ok := holder.Next()
	b.holding = holder.IsHolding()
	if !ok {
		return nil
	}
	return b.frame(&e)
}

// frame returns the lines of an event that is shown. A blank line is put before
// one that carryon wrote, which has its own: the blank line behind it that belongs to
// an event that was not shown is left out.
func (b *AnswerBody) frame(e *sse.Event) []byte {
	if b.seam.wrote() && !e.Written && e.IsBlank() {
		b.seam &^= seamWrote
		return nil
	}
	end := b.seam.end()
	if !b.seam.isKnown() {
		end = b.first.lineEnd
	}
	lines := e.Lines(end)
	if missing := b.seam.missing(); e.Written && missing > 0 {
		lines = append(bytes.Repeat([]byte(end.String()), missing), lines...)
	}
	b.seam.follow(lines)
	if e.Written {
		b.seam |= seamWrote
	}
	return lines
}

// seam is the place behind the bytes of a stream, where an event can be put in. It is
// one byte, because each open stream has one.
type seam uint8

// The bits of a seam.
const (
	seamEnd     seam = 3 << 0 // the line end of the stream
	seamMissing seam = 3 << 2 // how many line ends would end the event there: 0 after its blank line
	seamKnown   seam = 1 << 4 // lines of the stream were shown
	seamWrote   seam = 1 << 5 // carryon wrote the event that was shown last
)

func (s seam) end() sse.LineEnd { return sse.LineEnd(s & seamEnd) }
func (s seam) missing() int     { return int(s & seamMissing >> 2) }
func (s seam) isKnown() bool    { return s&seamKnown != 0 }
func (s seam) wrote() bool      { return s&seamWrote != 0 }

// follow puts the seam behind lines.
func (s *seam) follow(lines []byte) {
	end, ok := sse.EndOf(lines)
	missing, known := seam(1), seamKnown
	switch {
	case !ok:
		end, missing, known = s.end(), 2, *s&seamKnown
	case endsBlank(lines):
		missing = 0
	}
	*s = seam(end) | missing<<2 | known
}

// endsBlank reports whether the last line is blank.
func endsBlank(lines []byte) bool {
	lines = bytes.TrimSuffix(bytes.TrimSuffix(lines, []byte("\n")), []byte("\r"))
	return len(lines) == 0 || lines[len(lines)-1] == '\n' || lines[len(lines)-1] == '\r'
}

// scan finds the events in a buffer that may be relayed unread, and reports
// their values to r. It stops at the first event that may not be relayed or has
// not arrived in full, and after the first event of the answer, which is shown
// alone. It returns the offset there, and whether the next event has arrived and is
// for the engine.
func (b *AnswerBody) scan(buffer []byte, r Relay) (n int, forEngine bool) {
	if b.holding {
		return 0, true
	}
	var found [maxValues]value
	for n < len(buffer) {
		end := b.template.match(buffer, n, &found)
		switch {
		case end > 0:
			b.observe(buffer, found[:b.template.n], r)
		case end == 0:
			end, forEngine = b.inspect(buffer, n, r)
		}
		if end <= 0 {
			break
		}
		n = end
		if !b.began && endsBlank(buffer[:n]) {
			b.scanned = false
			b.seam.follow(buffer[:n])
			return n, false
		}
	}
	if n > 0 {
		b.seam.follow(buffer[:n])
	}
	b.scanned = !forEngine
	return n, forEngine
}

// observe reports the values of an event in the buffer.
func (b *AnswerBody) observe(buffer []byte, found []value, r Relay) {
	for i := range found {
		switch v := &found[i]; {
		case v.role == Ignored:
		case v.form != text:
			b.codec.Observe(v.role, buffer[v.from:v.to], r)
		case v.plain:
			b.codec.Observe(v.role, buffer[v.from+1:v.to-1], r)
		default:
			unescaped(buffer[v.from:v.to], func(text []byte) { b.codec.Observe(v.role, text, r) })
		}
	}
}

// inspect reads the event, or the line between two events, that begins at an
// offset. It returns its end, or 0 if it may not be relayed or its data line
// has not arrived.
func (b *AnswerBody) inspect(buffer []byte, begin int, r Relay) (end int, forEngine bool) {
	v, _ := valuesPool.Get().(*Values)
	v.buffer, v.all = buffer, v.room[:0]
	defer func() {
		v.buffer = nil // it is not ours
		valuesPool.Put(v)
	}()
	var name []byte
	for at := begin; at-begin < maxTemplate; {
		l, ok := sse.LineAt(buffer, at, 0)
		if !ok {
			return 0, false
		}
		f, from, to := l.Field(buffer)
		switch {
		case f == sse.Data:
			v.data = from
			if !b.codec.Classify(name, buffer[from:to], v) {
				return 0, true
			}
			r.Text("") // notes when the first event came, which may have no values
			b.observe(buffer, v.all, r)
			b.template.learn(buffer[begin:l.End], begin, v.all)
			return l.End, false
		case f == sse.Blank && name == nil, f == sse.Comment && at == begin:
			return l.End, false
		case f == sse.Name:
			name = buffer[from:to]
		case f == sse.Other:
			v.add(value{from: from, to: to, form: field})
		case f != sse.Comment:
			return 0, true
		}
		at = l.End
	}
	return 0, true
}

// Source is one turn of a streamed answer: its body, cut into events.
type Source struct {
	reader       sse.Reader
	continuation bool
	began        bool        // its first lines have come
	lineEnd      sse.LineEnd // of its first lines
	closed       atomic.Bool
}

var _ adapter.Source[sse.Event] = (*Source)(nil)

// NewSource returns the caller's own turn, or the turn of the continuation k. It
// closes body when it is closed. The caller's own turn is the provider's own bytes. Of a
// continuation, each event is checked, because a client that fails on one loses the
// whole answer.
func NewSource(body io.ReadCloser, k *adapter.Continuation) *Source {
	if k == nil {
		return &Source{reader: sse.NewReader(body)}
	}
	return &Source{reader: sse.NewStrictReader(notifyingBody{body, k.Touch}), continuation: true}
}

// Recv returns the next event. It returns the caller's own turn to the last
// byte. In a continuation, it leaves out blank lines, unless there are very
// many in a row, and an incomplete event at the end.
func (s *Source) Recv() (sse.Event, error) {
	for skipped := 0; ; skipped++ {
		e, err := s.reader.Next()
		s.learnLineEnd(e.Raw)
		if err != nil {
			if s.closed.Load() || s.continuation && !errors.Is(err, io.EOF) {
				return e, err
			}
			var ok bool
			e, ok = s.reader.Rest()
			if !ok {
				return e, err
			}
		}
		if !s.continuation || !e.IsBlank() || skipped == maxBlank {
			return e, nil
		}
	}
}

// TryRecv returns the next event if all of it has arrived. It leaves out what
// Recv leaves out.
func (s *Source) TryRecv() (sse.Event, bool) {
	for !s.closed.Load() {
		e, ok := s.reader.TryNext()
		s.learnLineEnd(e.Raw)
		if !ok || !s.continuation || !e.IsBlank() {
			return e, ok
		}
	}
	return sse.Event{}, false
}

// learnLineEnd notes how lines of the answer end, from the first of them. What carryon
// writes before any of them is shown ends its lines in the same way: some clients fail
// on a mixture.
func (s *Source) learnLineEnd(lines []byte) {
	if s.began || len(lines) == 0 {
		return
	}
	s.began = true
	s.lineEnd, _ = sse.EndOf(lines)
}

// maxBlank is how many blank lines are left out at a time. The receiver must
// check from time to time whether the call has ended.
const maxBlank = 1000

// Close closes the body, which ends a Recv that is running.
func (s *Source) Close() error {
	s.closed.Store(true)
	return s.reader.Close()
}

// notifyingBody is a body that reports when bytes arrive.
type notifyingBody struct {
	io.ReadCloser

	onBytes func()
}

// Read implements [io.Reader].
func (t notifyingBody) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.onBytes()
	}
	return n, err
}
