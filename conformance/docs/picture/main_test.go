package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The picture in the README shows what the demo prints today.
func TestPictureIsOfTheDemo(t *testing.T) {
	t.Parallel()
	output, err := os.ReadFile("../../../examples/quickstart/testdata/output.txt")
	require.NoError(t, err)
	want, err := os.ReadFile("../../../docs/demo.svg")
	require.NoError(t, err)
	assert.Equal(t, string(want), render(string(output)), "run make picture")
}
