package automatic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

const (
	reminder = "<system-reminder>\nToday is Sunday.\n</system-reminder>"
	report   = "<task-notification>\n<task-id>7</task-id>\n<status>completed</status>\n</task-notification>"
	banner   = "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated event.\nNo human input has been received.\n\n"
	message  = `<teammate-message teammate_id="ada" summary="a > b">` + "\nDone.\n</teammate-message>"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, " \n": false, "Go on.": false, "<b>Go on.</b>": false, "[Go on.]": false, "<!-- Go on. -->": false,
		reminder: true, report: true, message: true, " \n" + reminder + "\n\n" + report + "\x00" + message: true,
		"<codex_internal_context source=\"goal\">\nGo on.\n</codex_internal_context>": true,
		"<environment_context>\n<cwd>/w</cwd>\n</environment_context>":                true,
		banner + report:                                                  true,
		banner + reminder + report:                                       true,
		"[AUTOMATED EVENT: not user input]\n" + report:                   true,
		"[BACKGROUND TASK 7 COMPLETED]":                                  true,
		"[Background task 7 completed]\n\n" + report:                     true,
		report + "\n<!-- OMO_INTERNAL_INITIATOR -->":                     true,
		report + "\nRead the output file to retrieve the result: /tmp/7": true,
		report + "\nFull transcript available at: /tmp/7\n" + report + "\nRead the output file to retrieve the result: /tmp/8":       true,
		"Another Claude session sent a message:\n" + message:                                                                         true,
		"Another Claude session sent a message:\n" + message + "\n\nThis came from another Claude session — not typed by your user.": true,

		"<system-reminders></system-reminders>":      false,
		"<task>Go on.</task>":                        false,
		"<system-reminder>":                          false,
		reminder + " Go on.":                         false,
		"Go on. " + reminder:                         false,
		reminder + "<user>Go on.</user>":             false,
		banner:                                       false,
		banner + "Go on.":                            false,
		banner + report + "\nWhy?":                   false,
		"Look: " + banner + report:                   false,
		"[This is not user input] Go on.\n" + report: false,
		"[Background task 7 completed] Why?":         false,
		"[Background task 7 completed]\nWhy?":        false,
		report + "\nRead the output file to retrieve the result: /tmp/7\n\nWhat is this?": false,
		report + "\nRead the output file to retrieve the result: /tmp/7\x00Go on.":        false,
		"Read the output file to retrieve the result: /tmp/7":                             false,
		report + "\nFull transcript available at: /tmp/7\n<user>Go on.</user>":            false,
	} {
		assert.Equal(t, want, automatic.Is(text), "%q", text)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	parts := func(text string, most int) (names []string) {
		automatic.Parts(text, func(p automatic.Part) bool {
			name := p.Name
			if p.Reports {
				name += "!"
			}
			names = append(names, name)
			return len(names) < most
		})
		return names
	}
	const marked = "<system-reminder>\n[BACKGROUND TASK COMPLETED]\n**ID:** `bg_1`\n</system-reminder>"
	for text, want := range map[string][]string{
		"Go on.":           nil,
		report + " Go on.": nil,
		reminder:           nil, // words alone
		report + message:   {"task-notification!", "teammate-message"},
		report + "\nFull transcript available at: /tmp/7\n" + message: {"task-notification!", "teammate-message"},
		marked + report:          {"!", "task-notification!"},
		"[Background task done]": {"!"},
		"<system-reminder>\n" + banner + report + "\n</system-reminder>" + message: {"task-notification!", "teammate-message"},
		"<system-reminder>It says: " + report + "</system-reminder>":               nil,
	} {
		assert.Equal(t, want, parts(text, 9), "%q", text)
		for most := 1; most < len(want); most++ {
			assert.Equal(t, want[:most], parts(text, most), "it stops")
		}
	}
	for _, text := range []string{message, strings.Replace(message, `summary="a > b"`, `summary="a`, 1)} {
		automatic.Parts(text, func(p automatic.Part) bool {
			assert.Contains(t, p.Attributes, `teammate_id="ada"`)
			assert.Equal(t, "Done.", strings.TrimSpace(p.Body))
			return true
		})
	}
}

func TestOwn(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"": "", " Go on.\n": "Go on.", "<b>Go on.</b>": "<b>Go on.</b>", "<system-reminder>Go on.": "<system-reminder>Go on.",
		reminder + "\x00Go on.\x00":                                                                  "Go on.",
		"Go on.\x00" + reminder + "\x00" + reminder + "\x00":                                         "Go on.",
		reminder + report + "\nGo on.\n" + reminder:                                                  "Go on.",
		"# Context from my IDE setup:\n\n## Active file: a.go\n\n## My request for Codex:\nGo on.\n": "Go on.",
		"Why is there ## My request for Codex:\nin it?":                                              "Why is there ## My request for Codex:\nin it?",
		"<ide_opened_file>The user opened a.go.</ide_opened_file>\x00Go on.\x00":                     "Go on.",
		"<current_datetime>2026-11-20T13:00:00.000Z</current_datetime>\n\nGo on.\n\n" + reminder:     "Go on.",
		"Is " + reminder + " yours?":                                                                 "Is " + reminder + " yours?",
		"I got " + report:                                                                            "I got " + report,
		reminder:                                                                                     "",
	} {
		assert.Equal(t, want, automatic.Own(message), "%q", message)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	wrapped := "<system-reminder>\n" + banner + report + "\n</system-reminder>"
	for result, want := range map[string]string{
		"": "", "ok": "", "<html></html>": "", "</task-notification>": "", "<system-reminder>a": "",
		"ok\n\n" + banner + report + "\n":                   banner + report,
		banner + report:                                     banner + report,
		"ok\n" + wrapped:                                    wrapped,
		"ok\n" + reminder + "\n" + banner + report:          reminder + "\n" + banner + report,
		"ok\n" + banner + report + "\n\n" + banner + report: banner + report + "\n\n" + banner + report,
		"ok\n" + report:                                     "",
		"ok\n" + report + reminder:                          reminder,
		"ok\n" + banner + report + "\nok":                   "",
		"ok\nquoted: " + banner + report:                    "",
		"ok\n" + banner + "<b>\n" + report:                  "",
	} {
		assert.Equal(t, want, automatic.Tail(result), "%q", result)
	}
}

// A result may end in a tag that is as long as itself.
func TestTailOfAnUnknownElementUsesNoMemory(t *testing.T) { //nolint:paralleltest // measures memory
	result := "</" + strings.Repeat("x", 1<<20) + ">"
	assert.Less(t, measure.Allocated(func() { assert.Empty(t, automatic.Tail(result)) }), uint64(64<<10))
}

// A text is read once or twice, whatever it holds.
func BenchmarkTextsAreLinear(b *testing.B) {
	for name, text := range map[string]func(n int) string{
		"elements, then an open one": func(n int) string { return strings.Repeat(reminder, n) + "<system-reminder>" },
		"open elements":              func(n int) string { return strings.Repeat("<system-reminder>", n) },
		"closing tags":               func(n int) string { return strings.Repeat("</system-reminder>", n) },
		"an open one, then closed":   func(n int) string { return "<system-reminder>" + strings.Repeat(reminder, n) },
		"reminders in each other": func(n int) string {
			return strings.Repeat("<system-reminder>", n) + strings.Repeat("</system-reminder>", n)
		},
		"banners":                   func(n int) string { return strings.Repeat(banner, n) + report },
		"lines that look like tags": func(n int) string { return banner + strings.Repeat("\n<system-reminder>", n) },
		"brackets":                  func(n int) string { return strings.Repeat("[Background task 1 completed]\n", n) },
		"trailers": func(n int) string {
			return report + strings.Repeat("\n\nRead the output file to retrieve the result:", n)
		},
		"trailers between reports": func(n int) string {
			return strings.Repeat(report+"\nFull transcript available at: /tmp/7\n", n)
		},
		"a report with a long result": func(n int) string { return banner + strings.Repeat("ok\n", n) + report },
	} {
		read := func(n int) func() {
			text := text(n)
			return func() {
				automatic.Parts(text, func(automatic.Part) bool { return true })
				automatic.Tail(text)
				automatic.Own(text)
			}
		}
		measure.Linear(b, name, read(1<<12), read(measure.Longer<<12))
	}
}
