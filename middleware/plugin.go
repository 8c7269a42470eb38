package middleware

import (
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/carryon-go/carryon/internal/guard"
)

// plugins runs what the program has plugged in and what may ask a model itself:
// the todo source and the gate. They may ask with a ctx of their own, so
// only the stack tells that the call comes from within a decision.
type plugins struct {
	running atomic.Int32
}

// run runs f, which may panic.
func (p *plugins) run(f func() error) error {
	p.running.Add(1)
	defer p.running.Add(-1)
	return runPlugin(f)
}

// isCalling reports whether the goroutine runs a plugin. It looks at the stack
// only if some goroutine does.
func (p *plugins) isCalling() bool {
	if p.running.Load() == 0 {
		return false
	}
	var stack [64]uintptr
	for skip := 1; ; skip += len(stack) {
		n := runtime.Callers(skip, stack[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(stack[:n])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			if strings.HasSuffix(frame.Function, "carryon/middleware.runPlugin") {
				return true
			}
		}
	}
}

// runPlugin is the frame by which isCalling knows a plugin.
//
//go:noinline
func runPlugin(f func() error) error { return guard.Run(f) }
