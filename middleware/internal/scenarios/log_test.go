package scenarios_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// What a dry run or a holdout does not send is in the log at the level of what is sent.
func TestLogSaysWhatWasNotSent(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]middleware.Option{"dry_run": middleware.WithDryRun(), "holdout": middleware.WithHoldout(1)} {
		scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) {
			logged := new(logBook)
			s := scenario.New(t, m, scenario.TwoTodos(), option, middleware.WithLogger(logged.logger()))
			require.NoError(t, s.Ask(fakellm.Text(scenario.Plan).Usage(100, 5)).Err)
			lines := logged.withMessage(t, "carryon: continuation not sent")
			require.Len(t, lines, 1)
			assert.Equal(t, "INFO", lines[0]["level"])
			assert.Equal(t, name == "dry_run", lines[0]["dry_run"])
			assert.Equal(t, name == "holdout", lines[0]["holdout"])
			assert.Greater(t, lines[0]["estimated_tokens"], 100.0)
		})
	}
}

// A fault in the set-up is logged once, however often it occurs.
func TestLogWarnsOnceOfWhatIsWrongWithTheSetUp(t *testing.T) {
	t.Parallel()
	arguments := scenario.TodoArguments("pending Write the parser")
	for name, c := range map[string]struct {
		todos   todo.Provider
		request openai.ChatCompletionRequest
		session string
		message string
		attr    string
		want    any
	}{
		"a tool that is not known": {
			todo.FromConversation(), scenario.WithTodos(scenario.Request(), "note_work", arguments, "saved"), "s",
			"carryon: a tool looks like a todo tool and is not known", "tools",
			[]any{"note_work"},
		},
		"a status that is not known": {
			todo.Static(todo.Todo{Content: "Write", Status: "later"}), scenario.Request(), "s",
			"carryon: a status is not known", "status", "later",
		},
		"a list that needs a session": {
			todo.NewMemory(), scenario.Request(), "",
			"carryon: the todo list needs a session", "error", todo.ErrNoSession.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logged := new(logBook)
			server := fakellm.NewServer(t)
			client := scenario.TypedUnary.HTTPClient(server, middleware.New(c.todos, middleware.WithLogger(logged.logger())))
			for range 3 {
				server.Append(fakellm.Text(scenario.Plan))
				got := scenario.TypedUnary.Call(continuation.WithSession(t.Context(), c.session), client, c.request)
				require.NoError(t, got.Err)
			}
			from := logged.withMessage(t, "carryon: decision")[0]["list_from"]
			assert.Equal(t, c.attr == "status", from != "", "a list was read: %q", from)
			warnings := logged.withMessage(t, c.message)
			require.Len(t, warnings, 1)
			assert.Equal(t, "WARN", warnings[0]["level"])
			assert.Equal(t, c.want, warnings[0][c.attr])
			assert.Empty(t, logged.withMessage(t, "carryon: failed"), "it is no failure")
			assert.NotContains(t, logged.String(), "Write the parser")
		})
	}
}

// Errors of the provider are logged by kind, without their text.
func TestLogNamesErrorsOfTheProvider(t *testing.T) {
	t.Parallel()
	for want, fail := range map[string]http.RoundTripper{
		"an error whose text is not logged (see WithLogContent)": unreachable{errors.New("says: Write the parser")},
		"unexpected EOF":              unreachable{fmt.Errorf("read: %w", io.ErrUnexpectedEOF)},
		"connect: connection refused": unreachable{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}},
		"*json.SyntaxError":           unreachable{&json.SyntaxError{}},
	} {
		logged := new(logBook)
		client := scenario.TypedUnary.Client(scenario.Config("http://model.test/v1", fail),
			middleware.New(scenario.TwoTodos(), middleware.WithLogger(logged.logger())))
		got := scenario.TypedUnary.Call(t.Context(), client, scenario.Request())
		require.Error(t, got.Err)
		ended := logged.withMessage(t, "carryon: turn ended")
		require.Len(t, ended, 1)
		assert.Equal(t, want, ended[0]["error"])
		assert.NotContains(t, logged.String(), "Write the parser")
	}
}

// unreachable is a transport that cannot reach the provider.
type unreachable struct{ err error }

func (u unreachable) RoundTrip(*http.Request) (*http.Response, error) { return nil, u.err }
