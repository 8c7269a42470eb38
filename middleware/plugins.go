package middleware

import (
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/carryon-go/carryon/internal/guard"
)

// plugins runs those of the program's plug-ins that may call a model themselves: the
// todo source and the gate. They may call it with a ctx of their own, so only the
// stack shows that such a call comes from within a decision.
type plugins struct {
	running atomic.Int32
}

// run runs f, which may panic.
func (p *plugins) run(f func() error) error {
	p.running.Add(1)
	defer p.running.Add(-1)
	return runPlugin(f)
}

// isCalling reports whether this goroutine runs a plug-in. It walks the stack only if
// some goroutine runs one.
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

// runPlugin is the frame that isCalling looks for.
//
//go:noinline
func runPlugin(f func() error) error { return guard.Run(f) }
