package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// endWithUs makes the system end a command when this process ends, however it does. It
// asks with a signal that programs pass on to what they have started.
func endWithUs(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// marked returns the processes with the mark of a run, apart from this one.
func marked(run string) (found []process) {
	folders, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, folder := range folders {
		id, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || id == os.Getpid() {
			continue
		}
		environment := textsOf(filepath.Join(folder, "environ")) // of this user's processes alone
		if !slices.Contains(environment, Mark+"="+run) {
			continue
		}
		if command := textsOf(filepath.Join(folder, "cmdline")); len(command) > 0 { // else it has ended
			found = append(found, process{id, command, environment})
		}
	}
	return found
}

// textsOf returns the texts in a file, each of which ends with a zero byte.
func textsOf(path string) []string {
	all, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(all), func(r rune) bool { return r == 0 })
}
