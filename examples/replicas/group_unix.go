//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// keepFromTerminal starts a process in a group of its own. A Ctrl-C then reaches this
// program alone, which interrupts each replica once: a second interrupt would have it
// drop its answers.
func keepFromTerminal(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
