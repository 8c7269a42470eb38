package adapter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

func TestIsAutomatic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "Go on.": false, "<b>Go on.</b>": false, "<system-reminder>": false, "<system-reminders></system-reminders>": false,
		"<system-reminder>\nToday is Sunday.\n</system-reminder>":                                       true,
		" \n<task-notification>\n<task-id>7</task-id> is done\n</task-notification>\n":                  true,
		"<system-reminder>a</system-reminder>\x00<task-notification id=\"7\">b</task-notification>\x00": true,
		"<current-task-list count=\"1\">\n [pending] a\n</current-task-list>":                           true,
		"<task-list-update changes=\"1\">\n [completed] a\n</task-list-update>":                         true,
		"<system-reminder>a</system-reminder> Go on.":                                                   false,
		"Go on. <system-reminder>a</system-reminder>":                                                   false,
		"<system-reminder>a</system-reminder><user>Go on.</user>":                                       false,
		"<codex_internal_context source=\"goal\">\nGo on.\n</codex_internal_context>":                   true,
		"<codex_internal_context source=\"other\">Go on.</codex_internal_context>":                      true,
		"<environment_context>\n<cwd>/w</cwd>\n</environment_context>":                                  true,
		"<teammate-message teammate_id=\"ada\" summary=\"a > b\">Go on.</teammate-message>":             true,
	} {
		assert.Equal(t, want, adapter.IsAutomatic(text), "%q", text)
	}
}

// A text whose elements are never closed is read once per element name.
func BenchmarkIsAutomaticIsLinear(b *testing.B) {
	read := func(n int) func() {
		text := strings.Repeat("<system-reminder></system-reminder>", n) + "<system-reminder>"
		return func() { assert.False(b, adapter.IsAutomatic(text)) }
	}
	measure.Linear(b, "open elements", read(1<<13), read(measure.Longer<<13))
}
