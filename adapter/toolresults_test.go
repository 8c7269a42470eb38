package adapter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
)

func TestResultsAreTakenOnceAndNewestFirst(t *testing.T) {
	t.Parallel()
	var r adapter.ToolResults[string]
	r.Add("", "newest without an id")
	r.Add("a", "of a, again")
	r.Add("", "older without an id")
	r.Add("a", "of a")

	for _, want := range []struct{ id, result string }{
		{"a", "of a, again"}, {"", "newest without an id"}, {"a", "of a"}, {"", "older without an id"},
	} {
		got, ok := r.Take(want.id)
		assert.True(t, ok)
		assert.Equal(t, want.result, got)
	}
	for _, id := range []string{"a", "", "b"} {
		got, ok := r.Take(id)
		assert.False(t, ok)
		assert.Empty(t, got)
	}
}
