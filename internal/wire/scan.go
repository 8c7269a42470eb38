package wire

import "github.com/carryon-go/carryon/internal/sse"

// scan finds the events in a buffer that may be relayed unread, up to the first
// that may not or is not in yet, and reports to r what they add. It returns where
// they end, and whether the next one is in and thus for the engine.
func (b *AnswerBody) scan(buffer []byte, r Relay) (n int, forEngine bool) {
	v, _ := valuesPool.Get().(*Values)
	v.buffer = buffer
	defer func() {
		if n > 0 {
			b.lastCR = buffer[n-1] == '\r'
		}
		v.buffer = nil // it is not ours
		valuesPool.Put(v)
	}()
	for n < len(buffer) {
		if end, blank := b.template.match(v, n); end > 0 {
			b.codec.Observe(v, r)
			n, b.inEvent = end, !blank
			continue
		}
		end, forEngine := b.inspect(v, n, r)
		if end == 0 {
			return n, forEngine
		}
		n = end
	}
	return n, false
}

// inspect reads the event, or the line between two, that begins at an offset. It
// returns where it ends; 0 if it may not be relayed, or its data line is not in.
func (b *AnswerBody) inspect(v *Values, begin int, r Relay) (end int, forEngine bool) {
	v.reset()
	var name []byte
	for at := begin; at-begin < maxTemplate; {
		l, ok := sse.LineAt(v.buffer, at, 0)
		if !ok {
			return 0, false
		}
		f, from, to := l.Field(v.buffer)
		switch {
		case f == sse.Data:
			v.data = from
			if !b.codec.Classify(name, v.buffer[from:to], v) {
				return 0, true
			}
			b.codec.Observe(v, r)
			b.template.learn(v, begin, l.End)
			b.inEvent = true
			return l.End, false
		case f == sse.Blank && name == nil:
			b.inEvent = false
			return l.End, false
		case f == sse.Comment && at == begin:
			b.inEvent = true
			return l.End, false
		case f == sse.Name:
			name = v.buffer[from:to]
		case f == sse.Other:
			v.add(value{from: from, to: to, form: field})
		case f != sse.Comment:
			return 0, true
		}
		at = l.End
	}
	return 0, true
}
