//go:build unix

package measure

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that the process has used. Other work on the
// machine costs none of it.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic("carryon/internal/testkit/measure: " + err.Error())
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
