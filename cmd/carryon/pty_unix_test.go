//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program with a full-screen terminal notices nothing: it has the terminal
// itself, with its size, and Ctrl-C comes from there, once.
func TestRunLeavesTheTerminalToTheAgent(t *testing.T) {
	t.Parallel()
	p := program(t, "run", "--", "sh", "-c",
		`test -t 0 && test -t 1 && test -t 2 && stty size; trap 'n=x$n; echo interrupted $n' INT; echo ready; read line; read line; echo got $line; exit 5`)
	terminal, err := pty.StartWithSize(p, &pty.Winsize{Rows: 33, Cols: 77})
	require.NoError(t, err)
	defer terminal.Close()
	screen := bufio.NewReader(terminal)
	readUntil(t, screen, "is reached by")
	assert.Equal(t, "33 77\r\n", readUntil(t, screen, " "))
	readUntil(t, screen, "ready")
	_, err = io.WriteString(terminal, "\x03one\ntwo\n") // a shell may look at a signal after its read alone
	require.NoError(t, err)
	readUntil(t, screen, "interrupted x\r\n")
	readUntil(t, screen, "got ")
	assert.Contains(t, readUntil(t, screen, "carryon"), "carryon: the agent never used carryon: 0 requests (")
	assert.Equal(t, 5, codeOf(t, p.Wait()))
}

// Where somebody watches the agent, or the agent goes on by itself, carryon says before the agent starts that it is hardly needed.
func TestRunTellsWhereItIsNotNeeded(t *testing.T) {
	t.Parallel()
	p := program(t, "run", "--", "codex", "/goal finish the parser")
	p.Env = slices.DeleteFunc(p.Env, func(variable string) bool { return strings.HasPrefix(variable, "CARRYON_MODE=") })
	agent := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(agent, "codex"), []byte("#!/bin/sh\necho the agent starts\n"), 0o700)) //nolint:gosec // it is run
	p.Env = append(p.Env, "PATH="+agent+":"+os.Getenv("PATH"))
	terminal, err := pty.Start(p)
	require.NoError(t, err)
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // which ends with an error of the terminal
	require.NoError(t, p.Wait())
	told, _, started := strings.Cut(string(out), "the agent starts")
	assert.True(t, started, string(out))
	assert.Contains(t, told, "standard mode, because somebody at the terminal can answer the agent (-mode overrules it); a strong model seldom needs carryon then")
	assert.Contains(t, told, "Codex goes on by itself until its goal is reached: carryon is not needed for that.")
}

// On a terminal, a bar shows how far the audit is. It is gone at the end.
func TestAuditShowsABarOnATerminal(t *testing.T) {
	t.Parallel()
	p := auditOf(t)
	terminal, err := pty.Start(p)
	require.NoError(t, err)
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // which ends with an error of the terminal
	require.NoError(t, p.Wait())
	assert.Contains(t, string(out), "\r\x1b[Kcarryon has read 8 files")
}

// The terminal shows ^C where the cursor is, so what follows has a line of its own.
func TestProxyStopsOnALineOfItsOwn(t *testing.T) {
	t.Parallel()
	p := program(t, "proxy", "-listen", "127.0.0.1:0")
	terminal, err := pty.Start(p)
	require.NoError(t, err)
	defer terminal.Close()
	screen := bufio.NewReader(terminal)
	readUntil(t, screen, "recent activity")
	_, err = io.WriteString(terminal, "\x03")
	require.NoError(t, err)
	assert.Equal(t, "Stopping. Open answers have 10s to finish.\r\n", readUntil(t, screen, "Stopping"))
	_, _ = io.Copy(io.Discard, screen) // which ends with an error of the terminal
	require.NoError(t, p.Wait())
}
