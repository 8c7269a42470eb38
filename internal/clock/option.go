package clock

import (
	"fmt"
	"reflect"
	"sync"
)

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
