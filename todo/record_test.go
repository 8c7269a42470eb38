package todo

import (
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/recordtest"
)

func TestRecordsOfListsHaveAFixedForm(t *testing.T) {
	t.Parallel()
	recordtest.Golden(t, listFormat(), sharedList{Todos: []Todo{
		{ID: "1", Content: "Say \"naïve\" <&>", Status: InProgress, Priority: "high"}, {ID: "2", Content: "x", Status: "odd"},
	}})
}
