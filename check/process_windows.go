package check

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// shell returns the command that runs a line in the command interpreter, which reads the
// line as it is.
func shell(line string, env []string) *exec.Cmd {
	path := "cmd.exe"
	for _, variable := range env {
		if name, value, _ := strings.Cut(variable, "="); strings.EqualFold(name, "ComSpec") {
			path = value
		}
	}
	command := exec.Command(path)
	command.SysProcAttr = &syscall.SysProcAttr{CmdLine: `"` + path + `" /d /s /c "` + line + `"`}
	return command
}

// lead makes a command the leader of a process group.
func lead(command *exec.Cmd) { command.SysProcAttr.CreationFlags = syscall.CREATE_NEW_PROCESS_GROUP }

// terminate ends a process and those that it has started: they cannot be asked to.
func terminate(leader int) { kill(leader) }

func kill(leader int) { _ = exec.Command("taskkill", "/t", "/f", "/pid", strconv.Itoa(leader)).Run() } // it may have gone

// isAlive reports whether anything is left of a process group. That is not known.
func isAlive(int) bool { return false }
