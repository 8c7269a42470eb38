package pausetool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"todo_pause":             true,
		"TODO_PAUSE":             true,
		"Todo_Pause":             true,
		"":                       false,
		"todo_paus":              false,
		"todo_pause ":            false,
		"todo_pauses":            false,
		"todo-pause":             false,
		"functions.todo_pause":   false,
		"todo_pau\u017fe":        false, // a long s folds to s
		"todo_pau\u017f":         false, // and is as long as the name
		"\u0442\u043edo_pause":   false,
		"todo_pause\x00":         false,
		"mcp__tools__todo_pause": false,
	} {
		assert.Equal(t, want, pausetool.Is(name), "%q", name)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	const want = "Pause work on the current task because something blocks it. The task keeps its status and the user is told the reason.\n" +
		"\n" +
		"Use it when:\n" +
		"- a file or resource that the task depends on is missing\n" +
		"- a configuration is missing or wrong and you cannot correct it\n" +
		"- a dependency is blocked or unavailable\n" +
		"- an error needs a person to resolve it\n" +
		"- the next step is a decision that only the user can make\n" +
		"\n" +
		"Do not use it:\n" +
		"- when the task is completed: update its status in the todo list instead\n" +
		"- for small clarifications: continue with your best understanding\n" +
		"- for problems that you can solve or work around\n" +
		"\n" +
		"The reason names the specific issue in at most 500 characters, such as the file, command or error concerned. " +
		"Put longer explanations in ordinary text before the call."
	assert.Equal(t, want, pausetool.Description())
}

func TestSchema(t *testing.T) {
	t.Parallel()
	const about = `"type":"string","description":"Explanation of why the task needs to be paused ` +
		`(e.g., missing file, configuration error, blocked dependency)"`
	const end = `}},"required":["reason"],"additionalProperties":false}`
	const bounded = `{"type":"object","properties":{"reason":{` + about + `,"minLength":1,"maxLength":500` + end
	const strict = `{"type":"object","properties":{"reason":{` + about + end

	assert.Equal(t, bounded, string(pausetool.Schema(false)))
	assert.Equal(t, strict, string(pausetool.Schema(true)))

	for _, isStrict := range []bool{false, true} {
		fromMap, err := json.Marshal(pausetool.SchemaMap(isStrict))
		require.NoError(t, err)
		assert.JSONEq(t, string(pausetool.Schema(isStrict)), string(fromMap))
	}
}

func TestSchemaBelongsToTheCaller(t *testing.T) {
	t.Parallel()
	clear(pausetool.Schema(false))
	assert.True(t, json.Valid(pausetool.Schema(false)))

	mine := pausetool.SchemaMap(false)
	properties, ok := mine["properties"].(map[string]any)
	require.True(t, ok)
	clear(properties)
	required, ok := mine["required"].([]string)
	require.True(t, ok)
	required[0] = "other"
	clear(mine)

	fromMap, err := json.Marshal(pausetool.SchemaMap(false))
	require.NoError(t, err)
	assert.JSONEq(t, string(pausetool.Schema(false)), string(fromMap))
}
