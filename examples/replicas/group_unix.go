//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// keepFromTerminal starts a process in its own group. A Ctrl-C then reaches only this program, which interrupts each
// replica once: at a second interrupt, a replica would drop its answers.
func keepFromTerminal(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
