package responses_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// liteBody is a request as Codex sends it for its default models: the tools are the
// first item of the input.
const liteBody = `{"model":"gpt-6.1-sol","input":[` +
	`{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"function","name":"update_plan"}]}]},` +
	`{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]},` +
	`{"type":"message","role":"user","id":"m1","content":[{"type":"input_text","text":"Go."}]}` +
	`],"store":false,"stream":true,"parallel_tool_calls":false,"include":["reasoning.encrypted_content"]}`

// A continuation has the shape of the request's own items, no member for tools, and
// asks for a pause in words.
func TestLiteRequestKeepsItsShape(t *testing.T) {
	t.Parallel()
	s := newScene(t, twoTodos)
	_, got := s.respond(t, liteBody, fakellm.Text(plan), edit())
	assert.Equal(t, 2, got.Outcome.Turns)
	bodies := s.wire.bodies()
	require.Len(t, bodies, 2)
	assert.Equal(t, liteBody, bodies[0])
	prompt := s.server.Requests()[1].Last().Content
	assert.Contains(t, prompt, "todo_pause is not among your tools")
	assert.Equal(t, strings.Replace(liteBody, `],"store"`,
		`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+plan+`","annotations":[]}]},`+
			`{"type":"message","role":"user","content":[{"type":"input_text","text":`+quoted(t, prompt)+`}]}],"store"`, 1), bodies[1])
}

// The model of a lite request may pause in words.
func TestLiteRequestPauses(t *testing.T) {
	t.Parallel()
	s := newScene(t, twoTodos)
	answer, got := s.respond(t, liteBody, fakellm.Text(plan), fakellm.Text("todo_pause('"+blocked+"')"))
	assert.NotNil(t, got.Outcome.Paused)
	assert.Contains(t, strings.Join(answer.texts(), ""), "Task paused: "+blocked)
}

// todo_pause that is offered from the start is one of the tools in the input.
func TestLiteRequestOffersThePauseAmongItsTools(t *testing.T) {
	t.Parallel()
	s := newScene(t, twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
	_, _ = s.respond(t, liteBody, fakellm.Call("update_plan", "{}"))
	assert.Equal(t, strings.Replace(liteBody, `"name":"update_plan"}]}`, `"name":"update_plan"}]},`+flatTool(t, false), 1), s.wire.bodies()[0])
}

// A request with both kinds of tools, and typed messages, gets todo_pause as always.
func TestTypedMessagesGetATypedPrompt(t *testing.T) {
	t.Parallel()
	body := strings.Replace(liteBody, `"store"`, `"tools":[{"type":"function","name":"f"}],"store"`, 1)
	s := newScene(t, twoTodos)
	_, _ = s.respond(t, body, fakellm.Text(plan), edit())
	assert.Contains(t, s.wire.bodies()[1], `"tools":[{"type":"function","name":"f"},`+flatTool(t, false)+`]`)
	assert.Contains(t, s.wire.bodies()[1], `{"type":"message","role":"user","content":[{"type":"input_text","text":`)
}
