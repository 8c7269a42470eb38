package adapter

import "context"

// Dialect reads and shows values of an SDK's type C: the chunks of a stream, or whole
// answers. An adapter makes one Dialect per call, which may hold the call's own data:
// the first answer's id, and usage in the SDK's own type. The engine never calls two
// methods at once.
type Dialect[C any] interface {
	// Read reports to t what c adds to its turn, in c's own order. If c has usage,
	// Read keeps it as the usage of the turn; the last one counts. From the first
	// turn it takes what every later turn is shown under, such as id and model. It
	// must not change c, or what AppendShown makes of c.
	Read(c *C, t TurnReader)

	// AppendShown appends to dst what the caller is shown in place of c, according to
	// e: no value, one, or several. It may change c, and what it appends may share
	// memory with c. It must not change a usage after showing it. C may be the zero
	// value if the model sent no chunk for what e describes.
	AppendShown(dst []C, c *C, e *Edit) []C

	// Clone returns a copy of c that stays valid after the source's next value and
	// shares nothing with c that AppendShown changes.
	Clone(c *C) C

	// EndTurn ends the turn. If keep is true, the turn's usage goes into the totals
	// that AppendShown shows. If it is false, the turn's answer and its usage are
	// dropped.
	EndTurn(keep bool)
}

// Heartbeat is an optional method of a [Dialect] whose chunks cross a network on
// their way to the caller. A continuation may think for minutes, or call todo_pause,
// and show nothing meanwhile; a proxy on the way may take that for a dead connection.
type Heartbeat[C any] interface {
	// AppendHeartbeat appends to dst a chunk that keeps the connection alive and that
	// clients ignore, or nothing if the protocol has no such chunk at this point. The
	// engine calls it during a continuation, only while that sends something, and
	// only before its finish.
	AppendHeartbeat(dst []C) []C
}

// Source yields the chunks of one turn. Recv returns io.EOF after the last one. Close
// may be called at any time, by any goroutine, and ends a running Recv.
type Source[C any] interface {
	Recv() (C, error)
	Close() error
}

// Open sends a continuation: the caller's own request, extended according to k. Its
// ctx ends with the caller's ctx, with the stream, and at the continuation's time
// limits. The engine closes the source; it ignores a source that comes with an error.
// Open may be called until the stream has ended, and the caller's request must not
// change before then.
type Open[C any] func(ctx context.Context, k *Continuation) (Source[C], error)
