package pause_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/pause"
)

func noon() time.Time {
	return time.Date(2025, time.March, 9, 12, 30, 5, 999, time.FixedZone("", 2*60*60))
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
