package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// auditOf is "carryon audit" by a user whose home is the tests'.
func auditOf(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	home, err := filepath.Abs("internal/audit/testdata/home")
	require.NoError(t, err)
	p := program(t, append([]string{"audit"}, args...)...)
	p.Env = append(p.Env, "HOME="+home)
	for _, variable := range []string{"CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME"} {
		p.Env = append(p.Env, variable+"=")
	}
	return p
}

func TestAuditPrintsATable(t *testing.T) {
	t.Parallel()
	p := auditOf(t)
	var stderr bytes.Buffer
	p.Stderr = &stderr
	out, err := p.Output()
	require.NoError(t, err)
	assert.Empty(t, stderr.String(), "there is no bar without a terminal")
	assert.Contains(t, string(out), "carryon has read 8 files, 79.0 kB, in 0.")
	assert.Regexp(t, `(?m)^ +all  Claude Code +Codex$`, string(out))
	assert.Regexp(t, `(?m)^ +Copilot CLI  gemini-cli  opencode$`, string(out))
	assert.Regexp(t, `(?m)^ +it stalled +5 +1 +1$`, string(out))
	assert.Regexp(t, `(?m)^ +it stalled +1 +0 +1$`, string(out))
	assert.Contains(t, string(out), "5 turns stalled with work left")
	assert.NotContains(t, string(out), "basket", "texts are not shown")

	out, err = auditOf(t, "-price", "3,0.30,15").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "  price of that, estimated  ")

	out, err = auditOf(t, "-content").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "\n1. Claude Code, stalled\n")
	assert.Contains(t, string(out), "   model: The catalogue is there. Next, I will write the basket.\n   left:  Write the basket\n")
}

func TestAuditPrintsJSON(t *testing.T) {
	t.Parallel()
	out, err := auditOf(t, "-json", "internal/audit/testdata/home/.qwen").Output()
	require.NoError(t, err)
	var report struct {
		Files  int
		Agents map[string]map[string]any
		Turns  []any
	}
	require.NoError(t, json.Unmarshal(out, &report))
	assert.Equal(t, 2, report.Files)
	assert.InDelta(t, 1, report.Agents["qwen-code"]["typed_continue"], 0)
	assert.Empty(t, report.Turns)
}

func TestAuditWithoutTranscripts(t *testing.T) {
	t.Parallel()
	p := auditOf(t)
	p.Env = append(p.Env, "HOME="+t.TempDir())
	out, err := p.CombinedOutput()
	assert.Equal(t, 1, codeOf(t, err))
	assert.Equal(t, "carryon: there is no transcript of an agent that carryon knows; name files or folders\n", string(out))

	out, err = auditOf(t, filepath.Join(t.TempDir(), "gone")).CombinedOutput()
	assert.Equal(t, 1, codeOf(t, err))
	assert.Contains(t, string(out), "no such file or directory")
}

// What it reads stays as it is, and nothing is put beside it.
func TestAuditOnlyReads(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.CopyFS(home, os.DirFS("internal/audit/testdata/home")))
	list := func() map[string]string {
		files := map[string]string{}
		require.NoError(t, filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
			files[path] = info.ModTime().String() + info.Mode().String()
			return err
		}))
		return files
	}
	before := list()
	require.NoError(t, auditOf(t, home).Run())
	assert.Equal(t, before, list())
}
