package wire

import "github.com/carryon-go/carryon/internal/sse"

// scan finds the events in a buffer that may be relayed unread, and reports
// their values to r. It stops at the first event that may not be relayed or has
// not arrived in full. It returns the offset there, and whether the next event
// has arrived and is for the engine.
func (b *AnswerBody) scan(buffer []byte, r Relay) (n int, forEngine bool) {
	if b.holding {
		return 0, true
	}
	for n < len(buffer) {
		end := 0
		if n, end = b.similar(buffer, n, r); end == 0 && n < len(buffer) {
			end, forEngine = b.inspect(buffer, n, r)
		}
		if end <= 0 {
			break
		}
		n = end
	}
	if n > 0 && b.missing > 0 {
		b.missing = missingAfter(buffer[:n])
	}
	b.partial = !forEngine
	return n, forEngine
}

// similar finds the events from an offset of the buffer on that match the
// template, and reports their values. It returns the offset after them, and
// what [template.match] returned as the end of the next event.
func (b *AnswerBody) similar(buffer []byte, from int, r Relay) (n, end int) {
	var room [2][maxValues]value
	found, last := &room[0], &room[1] // the values of an event, and of the one before
	for n = from; n < len(buffer); n = end {
		blank := false
		if end, blank = b.template.match(buffer, n, found); end <= 0 {
			break
		}
		if b.missing = 1; blank {
			b.missing = 0
		}
		b.observe(buffer, found[:b.template.n], r)
		found, last = last, found
	}
	if n > from {
		b.observeLatest(buffer, last[:b.template.n], r)
	}
	return n, end
}

// observe reports the values of an event in the buffer, except those of which
// only the latest one counts.
func (b *AnswerBody) observe(buffer []byte, found []value, r Relay) {
	for i := range found {
		if v := &found[i]; v.role != Ignored && v.role&Latest == 0 {
			b.report(buffer, v, r)
		}
	}
}

// observeLatest reports the values of an event that observe leaves out.
func (b *AnswerBody) observeLatest(buffer []byte, found []value, r Relay) {
	for i := range found {
		if v := &found[i]; v.role&Latest != 0 {
			b.report(buffer, v, r)
		}
	}
}

// report reports a value in the buffer.
func (b *AnswerBody) report(buffer []byte, v *value, r Relay) {
	switch {
	case v.form != text:
		b.codec.Observe(v.role, buffer[v.from:v.to], r)
	case v.plain:
		b.codec.Observe(v.role, buffer[v.from+1:v.to-1], r)
	default:
		unescaped(buffer[v.from:v.to], func(said []byte) { b.codec.Observe(v.role, said, r) })
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
			r.Text("") // the event counts, with values or without
			b.observe(buffer, v.all, r)
			b.observeLatest(buffer, v.all, r)
			b.template.learn(buffer[begin:l.End], begin, v.all)
			b.missing = 1
			return l.End, false
		case f == sse.Blank && name == nil:
			b.missing = 0
			return l.End, false
		case f == sse.Comment && at == begin:
			b.missing = 1
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
