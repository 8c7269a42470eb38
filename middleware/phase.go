package middleware

import "sync/atomic"

// phase is what a stream does. The goroutine that reads the stream sets it; any
// may look.
type phase int32

const (
	relaying    phase = iota // turn 1 is read, and an adapter may relay chunks of it
	streaming                // a turn is read
	passthrough              // nothing more is decided: the rest passes as it comes
	finishing                // the finish was seen, and what follows of it is decided next
	passed                   // the end of what passes was seen
	readingTail              // the finish was seen and is held back; what follows it is read
	continuing               // the call goes on, after a wait if need be
	ended                    // Recv returns what is ready, and then the error
)

// currentPhase is the phase that a stream is in.
type currentPhase struct{ value atomic.Int32 }

func (p *currentPhase) get() phase      { return phase(p.value.Load()) }
func (p *currentPhase) is(q phase) bool { return p.get() == q }
func (p *currentPhase) enter(q phase)   { p.value.Store(int32(q)) }
