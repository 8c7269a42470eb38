package middleware

import "sync/atomic"

// phase is what a stream is doing. The goroutine that reads the stream sets it; any
// goroutine may read it.
type phase int32

const (
	relaying    phase = iota // reads turn 1; an adapter may relay its chunks
	streaming                // reads a turn
	passthrough              // passes the rest as it comes; there is nothing more to decide
	finishing                // has read the finish; decides next what follows
	passed                   // has read the end of what passes
	readingTail              // holds the finish back and reads what follows it
	continuing               // goes on with the next turn, after a wait if necessary
	ended                    // returns what is ready, and then the error
)

// currentPhase is the phase that a stream is in.
type currentPhase struct{ value atomic.Int32 }

func (p *currentPhase) get() phase      { return phase(p.value.Load()) }
func (p *currentPhase) is(q phase) bool { return p.get() == q }
func (p *currentPhase) enter(q phase)   { p.value.Store(int32(q)) }
