//go:build unix

package check_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/check"
	"github.com/carryon-go/carryon/middleware"
)

// ask runs a command line in a folder of its own, in a plain shell.
func ask(t *testing.T, line string, opts ...check.Option) (folder string, err error) {
	t.Helper()
	folder = t.TempDir()
	opts = append([]check.Option{check.Folder(folder), check.Environment([]string{path()})}, opts...)
	return folder, check.Command(line, opts...)(t.Context(), middleware.NextTurn{})
}

// path returns the variable with the folders of programs.
func path() string { return "PATH=" + os.Getenv("PATH") } //nolint:forbidigo // tests are programs

func TestCommandThatPasses(t *testing.T) {
	t.Parallel()
	_, err := ask(t, "echo fine; exit 0")
	require.NoError(t, err)
}

func TestCommandThatFails(t *testing.T) {
	t.Parallel()
	_, err := ask(t, `printf '\033[31mFAIL\033[0m\r\n  1%%\r100%%\n'; echo wrong >&2; exit 3`)
	var unmet *middleware.Unmet
	require.ErrorAs(t, err, &unmet)
	assert.True(t, strings.HasPrefix(unmet.Name, "printf"))
	assert.Equal(t, "FAIL\n100%\nwrong\n\nexit status 3", unmet.Text)
}

// Whatever a command does, it ends, and says nothing about the work if it was not run to
// its end.
func TestCommandThatTellsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, problem string }{
		"not found":      {"no-such-command --at-all", "cannot be run"},
		"not executable": {"touch f; ./f", "cannot be run"},
		"killed":         {"kill -9 $$", "signal"},
		"its child is":   {"sh -c 'kill -9 $$'; exit $?", "signal"},
		"too slow":       {"sleep 60", "was ended after 300ms"},
		"deaf and slow":  {"trap '' TERM; while :; do sleep 1; done", "was ended after 300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ask(t, c.line, check.Timeout(300*time.Millisecond))
			require.Error(t, err)
			var unmet *middleware.Unmet
			require.NotErrorAs(t, err, &unmet)
			assert.Contains(t, err.Error(), c.problem)
		})
	}
}

func TestCommandHasNoInputAndNoTerminal(t *testing.T) {
	t.Parallel()
	_, err := ask(t, `cat; read line && exit 4; (: </dev/tty) 2>/dev/null && exit 5; exit 0`)
	require.NoError(t, err)
}

func TestCommandRunsInItsFolderWithItsEnvironment(t *testing.T) {
	t.Parallel()
	dir, err := ask(t, `pwd; cd /; echo "$A [$CARRYON_MODE]"; exit 1`, check.Environment([]string{path(), "A=b", "CARRYON_MODE=yolo"}))
	var unmet *middleware.Unmet
	require.ErrorAs(t, err, &unmet)
	folder, evalErr := filepath.EvalSymlinks(dir)
	require.NoError(t, evalErr)
	assert.Equal(t, folder+"\nb []\n\nexit status 1", unmet.Text)
}

func TestCommandRunsInTheUsersShell(t *testing.T) {
	t.Parallel()
	shell := filepath.Join(t.TempDir(), "shell")
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\necho \"mine: $2\"\nexit 1\n"), 0o700)) //nolint:gosec // it is a program
	_, err := ask(t, "make test", check.Environment([]string{"SHELL=" + shell}))
	var unmet *middleware.Unmet
	require.ErrorAs(t, err, &unmet)
	assert.Contains(t, unmet.Text, "mine: make test")
	_, err = ask(t, "exit 1", check.Environment([]string{"SHELL=/no/such/shell"}))
	require.ErrorAs(t, err, &unmet)
}

func TestCommandWithMuchOutput(t *testing.T) {
	t.Parallel()
	size := "64"
	if !testing.Short() {
		size = "1024"
	}
	_, err := ask(t, "echo first; head -c "+size+"M /dev/zero | tr '\\0' 'x'; echo; echo last; exit 1")
	var unmet *middleware.Unmet
	require.ErrorAs(t, err, &unmet)
	assert.True(t, strings.HasPrefix(unmet.Text, "first\n"))
	assert.True(t, strings.HasSuffix(unmet.Text, "last\n\nexit status 1"))
	assert.Contains(t, unmet.Text, "bytes left out …]")
	assert.Less(t, len(unmet.Text), 50_000)
}

// isGone reports whether the process in a file has ended.
func isGone(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ") // nobody has waited for it
}

// A command's children end with it: when it exits, when its time is over, and when nobody
// waits for it any more, even if they do not listen.
func TestCommandLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	slow := []check.Option{check.Timeout(5 * time.Second)} // on a busy machine, the line begins late
	for name, command := range map[string]struct {
		line string
		opts []check.Option
	}{
		"it exits":       {`sleep 600 & echo $! > child; exit 1`, nil},
		"deaf":           {`sh -c 'trap "" TERM; while :; do sleep 1; done' & echo $! > child; exit 1`, nil},
		"too slow":       {`sleep 600 & echo $! > child; wait`, slow},
		"slow, and deaf": {`trap "" TERM; sh -c 'while :; do sleep 1; done' & echo $! > child; wait`, slow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := ask(t, command.line, command.opts...)
			require.Error(t, err)
			assert.True(t, isGone(t, filepath.Join(dir, "child")))
		})
	}
}

func TestCommandEndsWithItsCtx(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- check.Command("echo $$ > leader; sleep 600", check.Folder(dir))(ctx, middleware.NextTurn{})
	}()
	leader := filepath.Join(dir, "leader")
	require.Eventually(t, func() bool { text, _ := os.ReadFile(leader); return len(text) > 0 }, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	assert.True(t, isGone(t, leader))
}

// A process that has left the group, with the output open, holds nobody up.
func TestCommandWhoseDaemonKeepsTheOutput(t *testing.T) {
	t.Parallel()
	dir, err := ask(t, `setsid sh -c 'echo $$ > child; exec sleep 600' & while ! [ -s child ]; do :; done; exit 1`)
	require.Error(t, err)
	text, _ := os.ReadFile(filepath.Join(dir, "child"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestCommandsRunInOrderUntilOneFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask := check.Commands([]string{"echo 1 >> ran", "echo 2 >> ran; exit 1", "echo 3 >> ran"}, check.Folder(dir))
	var unmet *middleware.Unmet
	require.ErrorAs(t, ask(t.Context(), middleware.NextTurn{}), &unmet)
	assert.Equal(t, "echo 2 >> ran; exit 1", unmet.Name)
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	require.NoError(t, err)
	assert.Equal(t, "1\n2\n", string(ran))
}

func TestCommandRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for want, misuse := range map[string]func(){
		"carryon/check: no command":                     func() { check.Commands(nil) },
		"carryon/check: a blank command":                func() { check.Command(" ") },
		"carryon/check: the timeout 0s is not positive": func() { check.Command("true", check.Timeout(0)) },
	} {
		assert.PanicsWithValue(t, want, misuse)
	}
}
