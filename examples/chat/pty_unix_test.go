//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/carryon-go/carryon/carryontest"
)

// window is a real terminal that runs the program.
type window struct {
	t       *testing.T
	program *exec.Cmd
	keys    *os.File
	read    chan struct{} // closed when there is nothing more to read

	mu      sync.Mutex
	vt      vt10x.Terminal
	raw     strings.Builder
	changed chan struct{}
}

func openWindow(t *testing.T, columns, rows int, env ...string) *window {
	t.Helper()
	w := &window{t: t, vt: vt10x.New(vt10x.WithSize(columns, rows)), read: make(chan struct{}), changed: make(chan struct{}, 1)}
	w.program = exec.CommandContext(t.Context(), os.Args[0], "-dir", t.TempDir()) //nolint:gosec // this very binary
	w.program.Env = append(os.Environ(), asProgram+"=1", "OPENAI_API_KEY=", "NO_COLOR=")
	w.program.Env = append(w.program.Env, env...)
	keys, err := pty.StartWithSize(w.program, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}) //nolint:gosec // small
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	w.keys = keys
	go w.watch()
	t.Cleanup(func() {
		_ = w.program.Process.Kill()
		_ = w.program.Wait()
		<-w.read
		_ = keys.Close()
	})
	return w
}

func (w *window) watch() {
	defer close(w.read)
	buffer := make([]byte, 4096)
	for {
		n, err := w.keys.Read(buffer)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.raw.Write(buffer[:n])
		_, _ = w.vt.Write(buffer[:n])
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

func (w *window) seen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return seenOn(w.vt)
}

// await waits until the screen shows the text, and returns the screen.
func (w *window) await(text string) string {
	w.t.Helper()
	late := time.After(2 * time.Minute)
	for !strings.Contains(w.seen(), text) {
		select {
		case <-w.changed:
		case <-late:
			require.Fail(w.t, "never shown: "+text, "%s", w.seen())
		}
	}
	return w.seen()
}

func (w *window) press(keys string) {
	w.t.Helper()
	_, err := w.keys.WriteString(keys)
	require.NoError(w.t, err)
}

func TestConversationInARealTerminal(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"80x24": {80, 24}, "40x12": {40, 12}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWindow(t, size[0], size[1])
			w.await("-- ready (/help) --")
			w.press(request + "\r")
			w.await("-- 2 of 4 done, 1 task in background --")
			w.await("-- 3 of 4 done, paused (/resume) --")
			w.press("Ada Lovelace\r")
			got := w.await("-- 4 of 4 done, ready (/help) --")
			want, err := os.ReadFile("testdata/screen-" + name + ".txt")
			require.NoError(t, err)
			assert.Contains(t, string(want), "=== done\n"+got, "the screen is as in the test without a real terminal")
		})
	}
}

func TestCtrlCInARealTerminal(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t, carryontest.Text("It begins and hangs").HangAfter(3), carryontest.Text("Hello again."))
	w := openWindow(t, 80, 24, "OPENAI_API_KEY=sk-secret", "OPENAI_BASE_URL="+server.URL())
	w.await("-- ready (/help) --")
	w.press("Hello.\r")
	w.await("It begins")
	w.press("\x03")
	w.await("* stopped")
	w.press("\x03")
	w.await("* nothing to stop; Ctrl-D or /quit leaves")
	w.press("Hello?\r")
	w.await("Hello again.")
	w.press("\x04")
	require.NoError(t, w.program.Wait())
	<-w.read
	fresh, end, err := pty.Open()
	require.NoError(t, err)
	defer fresh.Close()
	defer end.Close()
	before, err := term.GetState(int(fresh.Fd()))
	require.NoError(t, err)
	after, err := term.GetState(int(w.keys.Fd()))
	require.NoError(t, err)
	assert.Equal(t, before, after, "the terminal is as it was")
	assert.NotContains(t, w.seen(), "-- ready", "the panel is gone")
}

func TestResizingARealTerminal(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 80, 24)
	w.await(strings.Repeat("-", 60))
	w.mu.Lock()
	w.vt.Resize(40, 12)
	w.mu.Unlock()
	require.NoError(t, pty.Setsize(w.keys, &pty.Winsize{Cols: 40, Rows: 12}))
	w.await("\n-- ready (/help) ----------------------\n>")
}

func TestNoColor(t *testing.T) {
	t.Parallel()
	for env, colors := range map[string]bool{"NO_COLOR=1": false, "NO_COLOR=": true} {
		w := openWindow(t, 80, 24, env)
		w.await("-- ready (/help) --")
		w.mu.Lock()
		assert.Equal(t, colors, strings.Contains(w.raw.String(), "\x1b[36m"), env)
		w.mu.Unlock()
	}
}

func TestTerminatedProgramLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 80, 24)
	w.await("-- ready (/help) --")
	require.NoError(t, w.program.Process.Signal(syscall.SIGTERM))
	require.NoError(t, w.program.Wait())
	<-w.read
	assert.True(t, strings.HasSuffix(w.raw.String(), "\x1b[?2004l"))
}

// Tab completes a command, and pasted text is one message, with all its lines.
func TestTabAndPasteInARealTerminal(t *testing.T) {
	t.Parallel()
	w := openWindow(t, 80, 24)
	w.await("-- ready (/help) --")
	w.press("/hi\t")
	w.await("> /history")
	w.press("\r")
	w.await("contain 0.")
	w.press("\x1b[200~Hello.\r\nHow are you?\x1b[201~")
	w.await("> Hello.\u23ceHow are you?")
	w.press("\r")
	w.await("> Hello.\n> How are you?\n")
	w.await("I am a small script")
}
