package todo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/recordtest"
)

func TestRecordsOfListsHaveAFixedForm(t *testing.T) {
	t.Parallel()
	recordtest.Golden(t, listFormat(), sharedList{Todos: []Todo{
		{ID: "1", Content: "Say \"naïve\" <&>", Status: InProgress, Priority: "high", Owner: "ann", BlockedBy: "2,7"}, {ID: "2", Content: "x", Status: "odd"},
	}})
}

func TestOlderRecordsOfListsAreRead(t *testing.T) {
	t.Parallel()
	record, err := os.ReadFile(filepath.Join("testdata", "todos-v1.record"))
	require.NoError(t, err)
	var list sharedList
	require.NoError(t, listFormat().Decode(record, &list))
	assert.Equal(t, []Todo{
		{ID: "1", Content: "Say \"naïve\" <&>", Status: InProgress, Priority: "high"}, {ID: "2", Content: "x", Status: "odd"},
	}, list.Todos)
}
