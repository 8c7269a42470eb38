package toolcall_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/toolcall"
)

func TestNewName(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]toolcall.Name{
		"todo_write": "todowrite", "TodoWrite": "todowrite", "todo-write": "todowrite", " todo_write\n": "todowrite", " _- ": "",
		"mcp__server__todo_write": "mcpservertodowrite",
	} {
		assert.Equal(t, want, toolcall.NewName(tool))
	}
}

// A tool is a spelling of its own name, whatever its letters are.
func TestAToolMatchesItsName(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"todo_write", "TODO-Write", "Ändere_Liste", "ЗАДАЧИ", "İş_Listesi"} {
		assert.True(t, toolcall.NewName(tool).Matches(tool), tool)
	}
}
