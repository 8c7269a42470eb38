// Package clock abstracts the system clock so that tests can supply their own.
package clock

import "time"

// Clock tells the time and runs functions later. Implementations are safe for concurrent use.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// AfterFunc calls f once after d, unless the returned Timer is stopped first. f may run on any goroutine.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending call of AfterFunc. A *time.Timer is a Timer. Timer is no type of its own, so that a program can write
// a Clock without a name for it.
type Timer = interface {
	// Stop cancels the call and reports whether it was still pending.
	Stop() bool
	// Reset schedules the call for d from now and reports whether it was still pending.
	Reset(d time.Duration) bool
}

// System returns the real clock: time.Now and time.AfterFunc.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
