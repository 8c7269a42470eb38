//go:build !linux

package main

import "time"

// used returns the time: only Linux has a clock for the CPU time of another process.
func (p *process) used() time.Duration { return time.Since(p.started) }
