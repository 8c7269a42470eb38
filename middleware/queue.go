package middleware

// queue holds chunks that are ready for the consumer. It reuses its memory.
type queue[C any] struct {
	chunks []C
	next   int
}

func (q *queue[C]) push(c C) {
	q.chunks = append(q.chunks, c)
}

func (q *queue[C]) pop() (C, bool) {
	var none C
	if q.isEmpty() {
		return none, false
	}
	c := q.chunks[q.next]
	q.chunks[q.next] = none // the consumer's now
	if q.next++; q.next == len(q.chunks) {
		q.chunks, q.next = q.chunks[:0], 0
	}
	return c, true
}

func (q *queue[C]) isEmpty() bool { return q.next == len(q.chunks) }
