//go:build unix

package check

import (
	"os/exec"
	"strings"
	"syscall"
)

// shell returns the command that runs a line in the user's shell.
func shell(line string, env []string) *exec.Cmd {
	path := "/bin/sh"
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, "SHELL="); ok {
			if found, err := exec.LookPath(value); err == nil && strings.HasPrefix(found, "/") {
				path = found
			}
		}
	}
	return exec.Command(path, "-c", line) //nolint:gosec,noctx // to run it is the purpose; process ends it with its group
}

// lead makes a command the leader of a session, and so of a process group. Without a
// terminal, it cannot wait for somebody to type.
func lead(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process group to end.
func terminate(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) } // it may have gone

// kill ends a process group.
func kill(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) } // likewise

// isAlive reports whether anything is left of a process group.
func isAlive(leader int) bool { return syscall.Kill(-leader, 0) == nil }
