package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"github.com/creack/pty"
)

// idle is for how long a model has nothing more to do when the user of a terminal leaves.
const idle = 8 * time.Second

// interrupt is what Ctrl-C sends.
const interrupt = "\x03"

// The size of the terminal, and of the one whose recording docs/run.svg shows.
var (
	wide     = pty.Winsize{Rows: 50, Cols: 200} //nolint:gochecknoglobals // constant
	recorded = pty.Winsize{Rows: 50, Cols: 100} //nolint:gochecknoglobals // constant
)

// inTerminal runs a command in a terminal until its model has ended its turn, and then ends it as its user would. It
// returns what the terminal was sent.
func inTerminal(ctx context.Context, c *exec.Cmd, size pty.Winsize, ended func() bool) ([]byte, error) {
	terminal, err := pty.StartWithSize(c, &size)
	if err != nil {
		return nil, err
	}
	defer terminal.Close() //nolint:errcheck // nothing is buffered
	screen := &screen{terminal: terminal, ended: make(chan struct{})}
	go screen.read()
	for quiet := time.Duration(0); quiet < idle && ctx.Err() == nil; quiet += time.Second {
		select {
		case <-time.After(time.Second):
		case <-screen.ended:
			return screen.sent(), c.Wait()
		case <-ctx.Done():
		}
		if !ended() {
			quiet = 0
		}
	}
	for range 40 {
		_, _ = terminal.WriteString(interrupt) // it may have ended
		select {
		case <-screen.ended:
			return screen.sent(), c.Wait()
		case <-time.After(time.Second / 2):
		}
	}
	_ = c.Process.Kill() // it does not end by itself
	<-screen.ended
	return screen.sent(), c.Wait()
}

// screen collects what a terminal is sent.
type screen struct {
	terminal *os.File
	ended    chan struct{}

	mu    sync.Mutex
	shown bytes.Buffer
}

// read reads until the terminal closes. It answers the question for the cursor's position, without which some agents do
// not start.
func (s *screen) read() {
	defer close(s.ended)
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.terminal.Read(buffer)
		if bytes.Contains(buffer[:n], []byte("\x1b[6n")) {
			_, _ = s.terminal.WriteString("\x1b[1;1R") // it may have ended
		}
		s.mu.Lock()
		_, _ = s.shown.Write(buffer[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var controls = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-_=>78])|\r`)

func (s *screen) sent() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.shown.Bytes())
}
