package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// commandDir is the command's folder, relative to this one.
const commandDir = "../../cmd/carryon"

// build builds the carryon program into a folder, and returns its path.
func build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "carryon")
	command := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	command.Dir, command.Env = commandDir, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("carryon could not be built in %s: %w\n%s", commandDir, err, said)
	}
	return program, nil
}

// replica is a proxy in a separate process.
type replica struct {
	number  int
	process *os.Process
	host    string        // that it listens on
	ended   chan struct{} // closed when the process has ended
}

// startAll starts the replicas. If one does not start, startAll returns the others with the error.
func startAll(ctx context.Context, s settings, out io.Writer) (all []*replica, err error) {
	for n := range s.replicas {
		r, err := start(ctx, n+1, s, out)
		if err != nil {
			return all, fmt.Errorf("replica %d: %w", n+1, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// start starts a replica, and returns once it listens. Its later output goes to out.
func start(ctx context.Context, number int, s settings, out io.Writer) (*replica, error) {
	args := []string{"proxy", "-listen", "127.0.0.1:0", "-upstream", s.upstream}
	if s.state != "" {
		args = append(args, "-state", s.state)
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), s.program, args...)
	keepFromTerminal(command)
	stderr, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	r := &replica{number: number, process: command.Process, ended: make(chan struct{})}
	said := bufio.NewScanner(stderr)
	greeting := r.greeting(said)
	go func() {
		defer close(r.ended)
		for said.Scan() {
			say(out, "replica %d: %s\n", number, said.Text())
		}
		_ = command.Wait() // ProcessState has the result
		say(out, "replica %d has ended: %v\n", number, command.ProcessState)
	}()
	if r.host == "" {
		<-r.ended
		return nil, fmt.Errorf("it does not listen: %s", greeting)
	}
	say(out, "replica %d: http://%s, process %d (kill %[3]d ends it, kill -9 %[3]d kills it)\n", number, r.host, r.process.Pid)
	return r, nil
}

// greeting reads a replica's output up to its address.
func (r *replica) greeting(said *bufio.Scanner) string {
	var all []string
	for said.Scan() {
		all = append(all, strings.TrimSpace(said.Text()))
		if _, url, ok := strings.Cut(said.Text(), "base URL for clients: http://"); ok {
			r.host, _, _ = strings.Cut(url, "/")
			break
		}
	}
	return strings.Join(all, "; ")
}

// isUp reports whether the process of the replica runs.
func (r *replica) isUp() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// stopTime is how long replicas may take to free their sessions.
const stopTime = 15 * time.Second

// stopAll ends the replicas as a deploy does.
func stopAll(all []*replica) {
	for _, r := range all {
		_ = r.process.Signal(os.Interrupt) // it may have ended
	}
	late := time.After(stopTime)
	for _, r := range all {
		select {
		case <-r.ended:
		case <-late:
			_ = r.process.Kill()
			<-r.ended
		}
	}
}

// lines lets several goroutines write whole lines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// say writes to w.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...) // the reader may be gone
}
