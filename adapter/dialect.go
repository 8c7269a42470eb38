package adapter

import "context"

// Dialect reads and shows values of an SDK's type C: the chunks of a stream, or
// whole answers. An adapter makes one Dialect per call, so that it can hold what
// belongs to the call: the first answer's id, and usage in the SDK's own type.
// The engine never calls two methods at once.
type Dialect[C any] interface {
	// Read reports to t what c adds to its turn, in c's own order. It keeps
	// the usage in c, if there is any, as the usage of the turn: the last one
	// counts. From the first turn it takes what every later turn is shown
	// under: id, model and the like. Read does not change c, and does not
	// change what AppendShown makes of c.
	Read(c *C, t TurnReader)

	// AppendShown appends to dst what the caller is shown in place of c, as e
	// says: no value, one, or several. It may change c, and what it appends may
	// share memory with c. A usage that it has shown must not change
	// afterwards. C may be the zero value where the model sent no chunk for
	// what e names.
	AppendShown(dst []C, c *C, e *Edit) []C

	// Clone returns a copy of c that outlives the source's next value and
	// shares nothing with c that AppendShown changes.
	Clone(c *C) C

	// EndTurn ends the turn. If keep is true, the turn's usage goes into the
	// totals that AppendShown shows. If it is false, the turn's answer is not
	// used, and neither is its usage.
	EndTurn(keep bool)
}

// Heartbeat is what a [Dialect] has in addition if its chunks cross a network on
// their way to the caller. A continuation may think for minutes, or call
// todo_pause, and show nothing meanwhile; a proxy on the way may take that for a
// dead connection.
type Heartbeat[C any] interface {
	// AppendHeartbeat appends to dst a chunk that keeps the connection alive and
	// says nothing to any client, or nothing if the protocol has no such chunk
	// at this point. The engine calls it during a continuation that sends
	// something, and only before the finish.
	AppendHeartbeat(dst []C) []C
}

// Source yields the chunks of one turn. Recv returns io.EOF after the last one.
// Close may be called at any time, and ends a Recv that is running.
type Source[C any] interface {
	Recv() (C, error)
	Close() error
}

// Open sends a continuation: the caller's own request, extended as k says. Its
// ctx ends with the caller's ctx, with the stream, and with the continuation's
// time limits. The engine closes the source; it ignores a source that comes with
// an error. Open may be called for as long as the stream is read, and the
// caller's request must stay unchanged until then.
type Open[C any] func(ctx context.Context, k *Continuation) (Source[C], error)
