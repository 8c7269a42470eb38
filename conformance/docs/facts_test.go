package docs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The table has the reasons as outcomes print them.
func TestReasonsAreReal(t *testing.T) {
	t.Parallel()
	reasons := make(map[string]bool)
	for r := continuation.ReasonNone; !strings.HasPrefix(r.String(), "continuation.Reason("); r++ {
		reasons[r.String()] = true
		explained, _, _ := strings.Cut(middleware.Outcome{Turns: 1, Reason: r}.Explanation(), ": ")
		reasons[explained] = true
	}
	for _, row := range read(t, "docs/how-it-decides.md").tableUnder(t, "Nothing happened?") {
		assert.True(t, reasons[row[0]], "no such reason: %s", row[0])
	}
}

func TestSessionLimitsAreTheDefaults(t *testing.T) {
	t.Parallel()
	assert.Contains(t, strings.Join(strings.Fields(read(t, "docs/conversations.md").text), " "), "up to 100,000 sessions in memory, for 24 hours")
	assert.Equal(t, 100_000, continuation.DefaultMaxSessions)
	assert.Equal(t, 24*time.Hour, continuation.DefaultSessionLife)
}

// The README quotes an outcome exactly.
func TestOutcomeIsReal(t *testing.T) {
	t.Parallel()
	server := carryontest.NewServer(t, carryontest.Text("Hello."))
	config := openai.DefaultConfig("no key")
	config.BaseURL = server.URL()
	client := carryopenai.Wrap(openai.NewClientWithConfig(config), middleware.New(todo.NewMemory()))
	ctx, outcomes := middleware.Capture(t.Context())
	_, err := client.CreateChatCompletion(ctx, openai.ChatCompletionRequest{Model: "some-model"})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(strings.Fields(readme(t).text), " "), "`"+outcomes.Last().String()+"`")
}
