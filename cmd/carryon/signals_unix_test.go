//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An operator changes a running proxy with signals.
func TestSignalsOfAnOperator(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.toml")
	require.NoError(t, os.WriteFile(path, []byte("max-attempts = 1\n"), 0o600))
	p := program(t, "proxy", "-listen", "127.0.0.1:0", "-settings", path)
	said, _ := started(t, p)
	readUntil(t, said, "recent activity")
	send := func(signal os.Signal, answer string) {
		require.NoError(t, p.Process.Signal(signal))
		readUntil(t, said, answer)
	}
	send(syscall.SIGUSR1, `msg="continuing was switched" on=false by=SIGUSR1 continuing=false`)
	send(syscall.SIGUSR2, `msg="continuing was switched" on=true by=SIGUSR2 continuing=true`)
	require.NoError(t, os.WriteFile(path, []byte("max-attempts = none\n"), 0o600))
	send(syscall.SIGHUP, `msg="the settings were not changed" error="`+path+`:1: `)
	require.NoError(t, os.WriteFile(path, []byte("max-attempts = 2\n"), 0o600))
	send(syscall.SIGHUP, `msg="a setting was changed" setting=max-attempts old=1 new=2`)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	_, err := io.Copy(io.Discard, said)
	require.NoError(t, err)
	require.NoError(t, p.Wait())
}

// "systemctl reload" makes the proxy read its settings again, and does not end a proxy that has none.
func TestUnitReloads(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("carryon.service")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^ExecReload=/bin/sh -c '(.*)'$`).FindStringSubmatch(string(unit))
	require.NotNil(t, found)
	reload := func(p *exec.Cmd, settings string) error {
		script := strings.ReplaceAll(found[1], "$$", "$") // as systemd passes it on
		shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
		shell.Env = []string{"PATH=" + os.Getenv("PATH"), "MAINPID=" + strconv.Itoa(p.Process.Pid), "CARRYON_SETTINGS=" + settings}
		return shell.Run()
	}
	path := filepath.Join(t.TempDir(), "settings.toml")
	require.NoError(t, os.WriteFile(path, []byte("max-attempts = 1\n"), 0o600))
	p := program(t, "proxy", "-listen", "127.0.0.1:0")
	p.Env = append(p.Env, "CARRYON_SETTINGS="+path)
	said, _ := started(t, p)
	readUntil(t, said, "recent activity")
	require.Error(t, reload(p, ""))
	require.NoError(t, os.WriteFile(path, []byte("max-attempts = 2\n"), 0o600))
	require.NoError(t, reload(p, path))
	assert.Contains(t, readUntil(t, said, "level="), `msg="a setting was changed" setting=max-attempts old=1 new=2`)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	_, err = io.Copy(io.Discard, said)
	require.NoError(t, err)
	require.NoError(t, p.Wait())
}

// A file with an error is one in the command line. Without a file, SIGHUP ends the
// proxy, as when its terminal closes.
func TestSettingsAtTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.toml")
	require.NoError(t, os.WriteFile(path, []byte("\nmode = \"wild\"\n"), 0o600))
	out, err := program(t, "proxy", "-settings", path).CombinedOutput()
	assert.Equal(t, 2, codeOf(t, err))
	assert.Equal(t, "carryon: "+path+`:2: mode must be standard or yolo, not "wild"`+"\n", string(out))

	// Under nohup, this process ignores SIGHUP, and so would the proxy. A signal that is
	// caught is not ignored by children.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	p := program(t, "proxy", "-listen", "127.0.0.1:0")
	said, _ := started(t, p)
	readUntil(t, said, "recent activity")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	_, err = io.Copy(io.Discard, said)
	require.NoError(t, err)
	require.Error(t, p.Wait())
}

// A pipe that nobody reads does not keep the agent from starting for ever.
func TestRunWaitsForNoReaderOfItsLog(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "log")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	out, err := program(t, "run", "-log-file", pipe, "--", "true").CombinedOutput()
	assert.Equal(t, 1, codeOf(t, err))
	assert.Contains(t, string(out), "carryon: open "+pipe+": ")
}

// The switch's signals reach a run too, and not its agent.
func TestARunIsSwitchedOffBySignals(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	const agent = `until grep -q "continuing was switched.*$2" "$1" || ! kill -$2 $PPID; do sleep 0.05; done`
	for _, name := range []string{"USR1", "USR2"} {
		out, err := program(t, "run", "-log-file", log, "--", "sh", "-c", agent, "sh", log, name).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Contains(t, string(text), `msg="continuing was switched" on=false by=SIGUSR1 continuing=false`)
	assert.Contains(t, string(text), `msg="continuing was switched" on=true by=SIGUSR2 continuing=true`)
}
