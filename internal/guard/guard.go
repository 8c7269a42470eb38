// Package guard guards the engine against what it does not control: panics in a program's
// own functions, and remotes that are slow or down.
package guard

import (
	"fmt"
	"runtime/debug"
)

// PanicError is the error that a panic becomes.
type PanicError struct {
	Value any    // what the function panicked with
	Stack []byte // where, as runtime/debug.Stack has it
}

// Error returns a text with the panic's value, without the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Run runs f and returns its error, or a *PanicError if it panics.
func Run(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}
