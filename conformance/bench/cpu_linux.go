package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// used returns the CPU time that the process has used, in the kernel too.
func (p *process) used() time.Duration {
	var t unix.Timespec
	must(unix.ClockGettime(cpuClock(p.command.Process.Pid), &t))
	return time.Duration(t.Nano())
}

// cpuClock returns the clock of a process's CPU time, as clock_getcpuclockid(3) makes it.
func cpuClock(pid int) int32 {
	const scheduled = 2 // CPUCLOCK_SCHED
	return ^int32(pid)<<3 | scheduled
}
