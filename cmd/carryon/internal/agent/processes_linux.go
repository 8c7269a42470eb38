package agent

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
		environment, err := os.ReadFile(filepath.Join(folder, "environ")) // of this user's processes alone
		if err != nil || !bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+Mark+"="+run+"\x00")) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if words := strings.FieldsFunc(string(command), func(r rune) bool { return r == 0 }); err == nil && len(words) > 0 {
			found = append(found, process{id, words})
		}
	}
	return found
}
