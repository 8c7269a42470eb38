package wire

import "github.com/carryon-go/carryon/internal/wire/sse"

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
		if n = end; !b.began && endsBlank(buffer[:n]) {
			b.partial = false
			b.seam.follow(buffer[:n])
			return n, false
		}
	}
	if n > 0 {
		b.seam.follow(buffer[:n])
	}
	b.partial = !forEngine
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
			unescaped(buffer[v.from:v.to], func(said []byte) { b.codec.Observe(v.role, said, r) })
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
