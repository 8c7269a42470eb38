package middleware

import "context"

// Dialect is what the engine needs to know about an SDK's type C: the chunk of
// a stream, or a whole answer. An adapter makes one value per call, so that it
// can keep what belongs to the call: the id of the first answer, and usage in
// the SDK's own type. The engine never calls two methods at once.
type Dialect[C any] interface {
	// Read reports what c adds to the turn, in c's own order, and keeps the
	// usage in c, if there is any, as that of the turn: the last one counts.
	// From the first chunk of a call that has one it takes the envelope (id,
	// model and the like) that every later turn is shown under.
	Read(c *C, s *Sink)

	// Write rewrites c to show what the edit says, under the envelope of the
	// first turn, and leaves every field that the edit does not speak of as it
	// is. It reports whether there is anything left to show. It may be given
	// the zero C, to say something for which the model sent no chunk. A usage
	// that it has shown must not change afterwards.
	Write(c *C, e *Edit) bool

	// Clone returns a copy of c that outlives the source's next chunk and
	// shares nothing with c that Write changes.
	Clone(c *C) C

	// EndTurn ends the turn. With keep its usage goes into the sum that Write
	// shows; without, the turn's answer is not used and neither is its usage.
	EndTurn(keep bool)
}

// Source yields the chunks of one turn. Recv returns io.EOF after the last.
// Close may be called at any time, also while Recv runs, which it ends.
type Source[C any] interface {
	Recv() (C, error)
	Close() error
}

// Open sends a continuation: the caller's own request, extended by what k
// says. It is given a ctx that ends with the caller's, with the stream, and
// with the limits. The engine closes the source; one that comes with an error
// is not looked at. It may be called as long as the stream is read, until when
// the caller's request has to stay as it was.
type Open[C any] func(ctx context.Context, k *Continuation) (Source[C], error)
