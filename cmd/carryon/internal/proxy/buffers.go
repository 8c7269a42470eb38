package proxy

import "sync"

// bufferSize is the size in bytes of the copy buffer of an answer. It is small,
// because events are small and every open stream has a buffer.
const bufferSize = 8 << 10

// buffers is a pool of copy buffers. Without it, the buffer would be half of the
// memory that a request allocates.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { return new([bufferSize]byte) }}}
}

// Get implements [httputil.BufferPool].
func (b *buffers) Get() []byte {
	buffer, _ := b.pool.Get().(*[bufferSize]byte)
	return buffer[:]
}

// Put implements [httputil.BufferPool].
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferSize]byte)(buffer)) }
