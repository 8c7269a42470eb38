package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every test run includes the agents that need only Go: without carryon they stop after the first file, and under
// "carryon run" they finish.
func TestGoAgents(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a framework")
	}
	if _, err := exec.LookPath("env"); err != nil {
		t.Skip("there is no env to run programs with")
	}
	folder, err := filepath.Abs(".")
	require.NoError(t, err)
	bin := t.TempDir()
	r := runner{agents: folder, bin: bin, carryon: filepath.Join(bin, "carryon"), log: t.Output()}
	require.NoError(t, r.build(t.Context()))
	for _, a := range goAgents() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			assert.NotEmpty(t, r.versionOf(a))
			alone, err := r.run(t.Context(), a, false)
			require.NoError(t, err)
			assert.Equal(t, result{files: 1, tools: alone.tools}, alone)
			with, err := r.run(t.Context(), a, true)
			require.NoError(t, err)
			assert.Equal(t, result{
				files: len(files), added: 2, tools: alone.tools, says: "8 requests, 2 continuations, 3 of 3 todos done, 2040 tokens added",
			}, with)
		})
	}
}
