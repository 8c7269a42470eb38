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

// Run runs the program in this terminal and returns its exit code. It has this
// process's standard streams, and gets the signals that this process gets.
func (l Launch) Run(base []string) (int, error) {
	dir, err := os.MkdirTemp("", "carryon-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)                           //nolint:errcheck // the system's to clean up
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

// run runs a command and passes signals on. The terminal sends its own, such as
// that of Ctrl-C, to all processes of the foreground, so that these need not be
// passed on; this process only must not end by them.
func run(command *exec.Cmd) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append(fromTerminal(), fromOthers()...)...)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return 0, fmt.Errorf("there is no command %q", command.Args[0])
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

// codeOf returns the exit code as a shell gives it.
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
