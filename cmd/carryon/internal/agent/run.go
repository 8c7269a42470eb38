package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// Mark is the variable that every process of a run has in its environment, unless a
// program has removed it. Its value is the name of the run.
const Mark = "CARRYON_RUN"

// Run runs the program in this terminal and returns its exit code, which is 128 plus
// the signal's number if a signal ended it. The program uses this process's standard
// streams and receives this process's signals. Its environment is base and l.Env; the
// files are written into dir.
func (l *Launch) Run(base []string, dir string) (int, error) {
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
		command.Env = append(command.Env, f.Variable+"="+path)
	}
	if h := l.helper; h != nil {
		port, err := freePort()
		if err != nil {
			return 0, err
		}
		command.Env = append(command.Env, h.port+"="+strconv.Itoa(port), h.folder+"="+filepath.Join(dir, "helper.json"))
	}
	return run(command)
}

// freePort returns a port at which nothing listens now.
func freePort() (int, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()                          //nolint:errcheck // nobody has connected
	return listener.Addr().(*net.TCPAddr).Port, nil //nolint:errcheck,forcetypeassert // it is one of TCP
}

// run runs a command and forwards signals to it. The terminal sends its signals,
// such as Ctrl-C, to all foreground processes, so run does not forward these: it
// only keeps them from ending this process.
func run(command *exec.Cmd) (int, error) {
	// Where the system can end the command with this process, it does so when the thread
	// that has started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	endWithUs(command)
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
