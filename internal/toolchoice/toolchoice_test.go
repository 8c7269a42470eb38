package toolchoice_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/toolchoice"
)

func TestChoices(t *testing.T) {
	t.Parallel()
	for choice, want := range map[any]adapter.ToolChoice{
		"": adapter.ToolChoiceAuto, "none": adapter.ToolChoiceNone, "any": adapter.ToolChoiceRequired, "edit_file": adapter.ToolChoiceNamed,
		nil: adapter.ToolChoiceAuto, "required": adapter.ToolChoiceRequired,
		&function{Type: "function"}: adapter.ToolChoiceNamed,
		struct{}{}:                  adapter.ToolChoiceNamed, make(chan int): adapter.ToolChoiceNamed,
	} {
		assert.Equal(t, want, toolchoice.Of(choice), choice)
	}
}

// function is a choice of one tool.
type function struct {
	Type string `json:"type"`
}

func TestAllowAddsToAllowedToolsAlone(t *testing.T) {
	t.Parallel()
	allowed := func(names ...string) any {
		var tools []any
		for _, name := range names {
			tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": name}})
		}
		return map[string]any{"type": "allowed_tools", "allowed_tools": map[string]any{"mode": "auto", "tools": tools}}
	}
	before := allowed("edit_file")
	assert.Equal(t, allowed("edit_file", "todo_pause"), toolchoice.Allow(before, "todo_pause"))
	assert.Equal(t, allowed("edit_file"), before, "the caller's own stays as it was")
	assert.Equal(t, adapter.ToolChoiceAuto, toolchoice.Of(before))
	for _, choice := range []any{nil, "auto", map[string]any{"type": "function"}} {
		assert.Equal(t, choice, toolchoice.Allow(choice, "todo_pause"))
	}
}
