package middleware

import "sync"

// claim is what a call holds on its session while a continuation runs, so that no
// other call continues the same session. It is released once, by whoever comes
// first: the end of the continuation, the end of the call, Close, or the end of
// the caller's ctx. Whoever comes second returns once it was released.
type claim struct {
	token   uint64
	release func()      // what the end of the ctx does
	stop    func() bool // stops the release at the end of the ctx
	once    sync.Once   // releases it
}
