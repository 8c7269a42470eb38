package pause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/pause"
)

func noon() time.Time {
	return time.Date(2025, time.March, 9, 12, 30, 5, 999, time.FixedZone("", 2*60*60))
}

func TestNewResult(t *testing.T) {
	t.Parallel()
	custom := func(reason string, at time.Time) string { return reason + at.Format(" (15:04)") }
	for name, c := range map[string]struct {
		notice pause.Notice
		want   string
	}{
		"default": {nil, "Task paused: API key missing"},
		"short":   {pause.ShortNotice, "Task paused: API key missing"},
		"none":    {pause.NoNotice, ""},
		"custom":  {custom, "API key missing (12:30)"},
		"full":    {pause.FullNotice, pause.FullNotice("API key missing", noon())},
	} {
		got := pause.NewResult("\x1b[31m API key\nmissing ", noon(), c.notice)
		assert.Equal(t, pause.Result{Reason: "API key missing", Message: c.want, Time: noon()}, got, name)
	}
}

func TestNewResultOfWhatCannotBeShown(t *testing.T) {
	t.Parallel()
	got := pause.NewResult("\u200b", noon(), nil)
	assert.Equal(t, "no reason given", got.Reason)
	assert.Equal(t, "Task paused: no reason given", got.Message)

	got = pause.NewResult(strings.Repeat("x", 1<<20), noon(), nil)
	assert.Equal(t, strings.Repeat("x", 500), got.Reason)
}

func TestFullNotice(t *testing.T) {
	t.Parallel()
	const want = "🛑 Task Paused\n" +
		"\n" +
		"Reason: API key missing\n" +
		"Time: 2025-03-09T12:30:05+02:00\n" +
		"\n" +
		"The continuation process has been stopped. You can now:\n" +
		"• Address the blocking issue mentioned above\n" +
		"• Modify the current task or add new tasks\n" +
		"• Continue with other work\n" +
		"\n" +
		"Resume work when the blocking issue is resolved."
	assert.Equal(t, want, pause.FullNotice("API key missing", noon()))
}
