package responses_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
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
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	_, got := respond(t, s, liteBody, fakellm.Text(wiretest.Plan), wiretest.Edit())
	assert.Equal(t, 2, got.Outcome.Turns)
	bodies := s.Wire.Bodies()
	require.Len(t, bodies, 2)
	assert.Equal(t, liteBody, bodies[0])
	prompt := s.Server.Requests()[1].Last().Content
	assert.Contains(t, prompt, "todo_pause is not among your tools")
	assert.Equal(t, strings.Replace(liteBody, `],"store"`,
		`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+wiretest.Plan+`","annotations":[]}]},`+
			`{"type":"message","role":"user","content":[{"type":"input_text","text":`+wiretest.Quoted(t, prompt)+`}]}],"store"`, 1), bodies[1])
}

// The model of a lite request may pause in words.
func TestLiteRequestPauses(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	answer, got := respond(t, s, liteBody, fakellm.Text(wiretest.Plan), fakellm.Text("todo_pause('"+wiretest.Blocked+"')"))
	assert.NotNil(t, got.Outcome.Paused)
	assert.Contains(t, strings.Join(answer.texts(), ""), "Task paused: "+wiretest.Blocked)
}

// todo_pause that is offered from the start is one of the tools in the input.
func TestLiteRequestOffersThePauseAmongItsTools(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
	_, _ = respond(t, s, liteBody, fakellm.Call("update_plan", "{}"))
	assert.Equal(t, strings.Replace(liteBody, `"name":"update_plan"}]}`, `"name":"update_plan"}]},`+flatTool(t, false), 1), s.Wire.Bodies()[0])
}

// A request with both kinds of tools, and typed messages, gets todo_pause as always.
func TestTypedMessagesGetATypedPrompt(t *testing.T) {
	t.Parallel()
	body := strings.Replace(liteBody, `"store"`, `"tools":[{"type":"function","name":"f"}],"store"`, 1)
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	_, _ = respond(t, s, body, fakellm.Text(wiretest.Plan), wiretest.Edit())
	assert.Contains(t, s.Wire.Bodies()[1], `"tools":[{"type":"function","name":"f"},`+flatTool(t, false)+`]`)
	assert.Contains(t, s.Wire.Bodies()[1], `{"type":"message","role":"user","content":[{"type":"input_text","text":`)
}
