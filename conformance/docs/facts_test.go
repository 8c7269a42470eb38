package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
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

func TestLimitsAreTheDefaults(t *testing.T) {
	t.Parallel()
	limits, err := continuation.Limits{}.WithDefaults()
	require.NoError(t, err)
	var want [][2]string
	for value, i := reflect.ValueOf(limits), 0; i < value.NumField(); i++ {
		text := fmt.Sprint(value.Field(i).Interface())
		if text == strconv.Itoa(continuation.Off) {
			text = "off"
		}
		want = append(want, [2]string{"`" + value.Type().Field(i).Name + "`", text})
	}
	assert.Equal(t, want, read(t, "docs/how-it-decides.md").tableUnder(t, "Limits"))
}

func TestSessionLimitsAreTheDefaults(t *testing.T) {
	t.Parallel()
	assert.Contains(t, strings.Join(strings.Fields(read(t, "docs/sessions.md").text), " "), "up to 100,000 sessions in memory, for 24 hours")
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

// The settings answer as the table in docs/settings.md says.
func TestSettingsAnswerAsQuoted(t *testing.T) {
	t.Parallel()
	for _, row := range read(t, "docs/settings.md").tableUnder(t, "What a user may type") {
		settings := middleware.New(todo.NewMemory()).Settings()
		answer, _ := settings.Command(strings.Trim(row[0], "`"))
		assert.Equal(t, row[1], answer)
	}
}

func TestDemoIsQuoted(t *testing.T) {
	t.Parallel()
	output, err := os.ReadFile(filepath.Join(root, "examples", "quickstart", "testdata", "output.txt"))
	require.NoError(t, err)
	assert.Contains(t, read(t, "docs/demo.md").fences("text"), string(output))
}

// The quoted conversation with the chat agent is a real one.
func TestChatIsReal(t *testing.T) {
	t.Parallel()
	said, err := os.ReadFile(filepath.Join(root, "examples", "chat", "testdata", "pipe.txt"))
	require.NoError(t, err)
	shown := 0
	for _, block := range read(t, "docs/demo.md").fences("text") {
		if strings.HasPrefix(block, "> ") {
			assert.Contains(t, string(said), block)
			shown++
		}
	}
	assert.Equal(t, 1, shown)
}
