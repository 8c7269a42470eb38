package proxy

import "sync"

// bufferSize is the size of the buffer that an answer is copied through. Events
// are small, and every open stream has one.
const bufferSize = 16 << 10

// buffers are used again: without them, half of the memory that a request takes
// would be its buffer.
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
