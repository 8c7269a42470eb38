// Package clock abstracts the system clock so that tests can supply their own.
package clock

import (
	"fmt"
	"reflect"
	"sync"
	"time"
)

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

// options has the functions that make an option from a clock, by the type of the option.
var options sync.Map //nolint:gochecknoglobals // packages fill it while a program starts

// Settable lets [Option] make options of type O. A package calls it for its own options
// while the program starts. It returns nothing of use.
func Settable[O any](option func(Clock) O) struct{} {
	options.Store(reflect.TypeFor[O](), option)
	return struct{}{}
}

// Option returns the option of type O that replaces the system's clock, such as a
// middleware.Option. It is for carryon's own tests. Programs have none: in a bubble of
// testing/synctest, the system's clock is one for tests.
func Option[O any](c Clock) O {
	option, ok := options.Load(reflect.TypeFor[O]())
	if !ok {
		panic(fmt.Sprintf("carryon/internal/clock: no option of type %v sets a clock", reflect.TypeFor[O]()))
	}
	return option.(func(Clock) O)(c) //nolint:errcheck,forcetypeassert // as Settable stores it
}
