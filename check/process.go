package check

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// Times of the end of a process group.
const (
	grace = 2 * time.Second        // from the request to end until it is killed
	poll  = 20 * time.Millisecond  // between two looks whether it has gone
	drain = 500 * time.Millisecond // for output of processes that have left the group
)

// process runs a command with its process group.
type process struct {
	command *exec.Cmd
	output  *output
}

// run runs the command to its end, or until ctx ends. When it returns, nothing is left of
// the process group. The error says that the command could not be started.
func (p *process) run(ctx context.Context) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()                                //nolint:errcheck // it was read
	p.command.Stdout, p.command.Stderr = writer, writer // a file, so that Wait waits for nothing else
	lead(p.command)
	err = p.command.Start()
	_ = writer.Close() // the command has its own
	if err != nil {
		return err
	}
	read, exited := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(read)
		_, _ = io.Copy(p.output, reader) // what was read counts
	}()
	go func() { exited <- p.command.Wait() }()
	select {
	case err = <-exited:
	case <-ctx.Done():
		err = p.end(exited)
	}
	p.sweep(read)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil // the state says it
	}
	return err
}

// end ends the process group of a command that runs.
func (p *process) end(exited <-chan error) error {
	pid := p.command.Process.Pid
	terminate(pid)
	select {
	case err := <-exited:
		return err
	case <-time.After(grace):
	}
	kill(pid)
	return <-exited
}

// sweep ends what a command has left behind in its group, and waits for the rest of the
// output. Processes that have left the group may hold the pipe for ever.
func (p *process) sweep(read <-chan struct{}) {
	pid := p.command.Process.Pid
	if isAlive(pid) {
		terminate(pid)
		if !hasGone(pid) {
			kill(pid)
			hasGone(pid) // on a busy machine, even that takes a moment
		}
	}
	select {
	case <-read:
	case <-time.After(drain):
	}
}

// hasGone waits for the end of a process group, and reports whether it came.
func hasGone(leader int) bool {
	for waited := time.Duration(0); isAlive(leader); waited += poll {
		if waited >= grace {
			return false
		}
		<-time.After(poll)
	}
	return true
}
