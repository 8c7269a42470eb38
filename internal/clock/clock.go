// Package clock says what carryon needs of time, so that tests can supply their own.
package clock

import "time"

// Clock tells the time and runs functions later. Implementations are safe for concurrent use.
type Clock interface {
	// Now is the present moment.
	Now() time.Time
	// AfterFunc calls f once, when d has passed, unless the timer it returns is stopped before.
	// f may run on any goroutine.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call that a Clock has been asked to make. A *time.Timer is one.
type Timer interface {
	// Stop calls it off and reports whether it was still to come.
	Stop() bool
	// Reset moves it to d from now, whether or not it was still to come, and reports whether it was.
	Reset(d time.Duration) bool
}

// System is the real clock: time.Now and time.AfterFunc.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
