package docs_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/wire/protocols"
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

// The table of events has the functions of an observer.
func TestEventsAreTheObservers(t *testing.T) {
	t.Parallel()
	documented := make(map[string]bool)
	for _, row := range read(t, "docs/telemetry.md").tableUnder(t, "Events") {
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[0], -1) {
			documented[name[1]] = true
		}
	}
	observer := reflect.TypeFor[middleware.Observer]()
	for field := range observer.Fields() {
		name := field.Name
		assert.True(t, documented[name], "docs/telemetry.md has no %s", name)
		delete(documented, name)
	}
	assert.Empty(t, documented, "events that an observer does not have")
}

// The table of protocols has the ends of the paths that the transport acts on.
func TestPathsAreTheProtocols(t *testing.T) {
	t.Parallel()
	for _, row := range read(t, "docs/protocols.md").table(t)[:4] {
		for _, path := range regexp.MustCompile("`([^`?]+)").FindAllStringSubmatch(row[1], -1) {
			if strings.ContainsAny(path[1], "/:") {
				assert.Equal(t, path[1], protocols.Endpoint("/v1/x"+path[1]))
			}
		}
	}
	assert.Len(t, protocols.New(), 4)
}
