package agent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// Run runs the program in this terminal and returns its exit code, which is 128 plus
// the signal's number if a signal ended it. The program uses this process's standard
// streams and receives this process's signals. Its environment is base and l.Env.
func (l Launch) Run(base []string) (int, error) {
	dir, err := os.MkdirTemp("", "carryon-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)                           //nolint:errcheck // the system cleans up its temporary folder
	command := exec.Command(l.Args[0], l.Args[1:]...) //nolint:noctx // signals end it, as they would without carryon
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = base
	for name, value := range l.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	for _, f := range l.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, []byte(f.Content), 0o600); err != nil {
			return 0, err
		}
		if strings.HasPrefix(f.Told, "-") {
			command.Args = append(command.Args, f.Told, path)
		} else {
			command.Env = append(command.Env, f.Told+"="+path)
		}
	}
	return run(command)
}

// run runs a command and forwards signals to it. The terminal sends its signals,
// such as Ctrl-C, to all foreground processes, so run does not forward these: it
// only keeps them from ending this process.
func run(command *exec.Cmd) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append(fromTerminal(), fromOthers()...)...)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return 0, fmt.Errorf("command %q not found", command.Args[0])
		}
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	atTerminal := isTerminal(os.Stdin)
	for {
		select {
		case s := <-signals:
			if !atTerminal || !isFromTerminal(s) {
				_ = command.Process.Signal(s) // it may have ended
			}
		case err := <-ended:
			return codeOf(command.ProcessState, err)
		}
	}
}

// codeOf returns the exit code as a shell reports it.
func codeOf(state *os.ProcessState, err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return state.ExitCode(), nil
}
