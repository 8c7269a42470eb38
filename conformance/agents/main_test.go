package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An agent whose package is spelled wrongly would be left out without a word.
func TestEveryAgentHasAPackage(t *testing.T) {
	t.Parallel()
	npm, err := os.ReadFile("package.json")
	require.NoError(t, err)
	module, err := os.ReadFile("eino/go.mod")
	require.NoError(t, err)
	seen := make(map[string]bool)
	for _, a := range allAgents() {
		assert.Contains(t, string(npm)+string(module), a.pkg)
		assert.NotEmpty(t, a.runs(), a.name)
		for _, way := range a.runs() {
			assert.False(t, seen[way.name+way.kind()], "%s %s is there twice", way.name, way.kind())
			seen[way.name+way.kind()] = true
		}
	}
}

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
	r := runner{agents: folder, bin: bin, log: t.Output()}
	require.NoError(t, r.build(t.Context()))
	for _, a := range goAgents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			assert.NotEmpty(t, r.versionOf(a))
			alone, err := r.run(t.Context(), a, false)
			require.NoError(t, err)
			assert.Equal(t, result{files: 1, tools: alone.tools}, alone)
			with, err := r.run(t.Context(), a, true)
			require.NoError(t, err)
			assert.Equal(t, result{
				files: len(files), added: 2, tools: alone.tools, says: "8 requests, 2 continuations, 3 of 3 todos done, 2,040 tokens added",
			}, with)
		})
	}
}

// A name that is spelled wrongly would be left out likewise.
func TestEveryClaimantIsAnAgent(t *testing.T) {
	t.Parallel()
	named := make(map[string]bool)
	for _, a := range allAgents() {
		named[a.name] = true
	}
	for _, name := range claimants {
		assert.True(t, named[name], name)
	}
}
