package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/internal/prompt"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// toolRequest is a request of a user turn that has called a tool, and has no list.
type toolRequest func(stream bool) (path, body string)

var toolRequests = map[string]toolRequest{
	"chat completions": func(stream bool) (path, body string) {
		return "/chat/completions", fmt.Sprintf(`{"model":"m","stream":%t,"stream_options":{"include_usage":true},"tools":[%s],"messages":[`+
			`{"role":"user","content":"Write and test the parser."},`+
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"edit_file","arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":"c1","content":"ok"}]}`, stream, wiretest.ChatTool)
	},
	"responses": func(stream bool) (path, body string) {
		return "/responses", fmt.Sprintf(`{"model":"m","stream":%t,"tools":[{"type":"function","name":"edit_file","parameters":{"type":"object"},"strict":null}],"input":[`+
			`{"role":"user","content":"Write and test the parser."},`+
			`{"type":"function_call","call_id":"c1","name":"edit_file","arguments":"{}"},`+
			`{"type":"function_call_output","call_id":"c1","output":"ok"}]}`, stream)
	},
	"messages": func(stream bool) (path, body string) {
		return "/messages", fmt.Sprintf(`{"model":"m","max_tokens":9,"stream":%t,"tools":[{"name":"edit_file","input_schema":{"type":"object"}}],"messages":[`+
			`{"role":"user","content":"Write and test the parser."},`+
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"edit_file","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}]}`, stream)
	},
	"gemini": func(stream bool) (path, body string) {
		path = "/models/m:generateContent"
		if stream {
			path = "/models/m:streamGenerateContent?alt=sse"
		}
		return path, `{"tools":[{"functionDeclarations":[{"name":"edit_file"}]}],"contents":[` +
			`{"role":"user","parts":[{"text":"Write and test the parser."}]},` +
			`{"role":"model","parts":[{"functionCall":{"name":"edit_file","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"edit_file","response":{"result":"ok"}}}]}]}`
	},
}

// inEachProtocol runs a test for every protocol, streamed and not.
func inEachProtocol(t *testing.T, test func(t *testing.T, path, body string)) {
	t.Helper()
	for name, request := range toolRequests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				path, body := request(w.Stream)
				test(t, path, body)
			})
		})
	}
}

// asking is a middleware without a list that asks the closing question.
func asking(options ...middleware.Option) *middleware.Middleware {
	return middleware.New(todo.FromConversation(), append(options, wiretest.Unhurried, middleware.WithClosingQuestion())...)
}

// ask sends a request through a middleware to a server, and returns the body of the answer.
func ask(t *testing.T, ctx context.Context, server *fakellm.Server, mw *middleware.Middleware, path, body string) string { //nolint:revive // t comes first
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fakellm.BaseURL+path, strings.NewReader(body))
	require.NoError(t, err)
	response, err := transport.New(server.Transport(), mw).RoundTrip(r)
	require.NoError(t, err)
	got, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return string(got)
}

const report = "The parser is written."

// refused is the answer of a provider that refuses the question.
func refused() fakellm.Turn { return fakellm.Status(400, `{"error":{"message":"no"}}`) }

// The model says that nothing is open: the caller gets its first answer as if the question had not been answered at all,
// and the question is counted.
func TestNothingIsOpen(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]fakellm.Turn{
		"plain":     fakellm.Text(prompt.NothingOpen),
		"markdown":  fakellm.Text("**nothing is open**\n"),
		"reasoning": fakellm.Text(prompt.NothingOpen).Reasoning("All was written and tested."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEachProtocol(t, func(t *testing.T, path, body string) {
				first := fakellm.Text(report).Reasoning("It is short.")
				server := fakellm.NewServer(t, first, second)
				ctx, outcomes := middleware.Capture(t.Context())
				want := ask(t, t.Context(), fakellm.NewServer(t, first, refused()), asking(), path, body)
				assert.Equal(t, want, ask(t, ctx, server, asking(), path, body))

				outcome := outcomes.Last()
				assert.Equal(t, reasons.NothingOpen, outcome.Reason)
				assert.Equal(t, 1, outcome.Attempts)
				assert.Len(t, outcome.Usage, 2)
				require.NoError(t, outcome.Err)
				sent := server.Requests()
				require.Len(t, sent, 2)
				assert.Contains(t, string(sent[1].Body), continuation.PromptPreamble)
				assert.Contains(t, string(sent[1].Body), "Is anything of what was asked still open?")
			})
		})
	}
}

// Where nobody is there, a turn that shows that the model has stalled, and one that asks, is followed by the question, though
// the program wants no full question.
func TestQuestionAfterAStallWhereNobodyIsThere(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"a step": "Next, the tests.", "a question": "Shall I write the tests?", "half a sentence": "Now I will add the second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEachProtocol(t, func(t *testing.T, path, body string) {
				first := fakellm.Text(end)
				nobody := func() *middleware.Middleware {
					return middleware.New(todo.FromConversation(), wiretest.Unhurried, wiretest.Unattended)
				}
				server := fakellm.NewServer(t, first, fakellm.Text(prompt.NothingOpen))
				ctx, outcomes := middleware.Capture(t.Context())
				want := ask(t, t.Context(), fakellm.NewServer(t, first, refused()), nobody(), path, body)
				assert.Equal(t, want, ask(t, ctx, server, nobody(), path, body))
				assert.Equal(t, reasons.NothingOpen, outcomes.Last().Reason)

				server = fakellm.NewServer(t, first, wiretest.Edit())
				ctx, outcomes = middleware.Capture(t.Context())
				ask(t, ctx, server, nobody(), path, body)
				assert.Equal(t, reasons.ToolCalls, outcomes.Last().Reason)
				assert.Equal(t, 1, outcomes.Last().Worth.Reopened)
				assert.Len(t, server.Requests(), 2)
			})
		})
	}
}

// A sum of usage leaves a question out that found nothing open, because the answer stays as it came. The outcome has its cost.
func TestNothingIsOpenInASum(t *testing.T) {
	t.Parallel()
	inEachProtocol(t, func(t *testing.T, path, body string) {
		turns := []fakellm.Turn{fakellm.Text(report).Usage(100, 10), fakellm.Text(prompt.NothingOpen).Usage(120, 4)}
		want := ask(t, t.Context(), fakellm.NewServer(t, turns...), asking(), path, body)
		ctx, outcomes := middleware.Capture(t.Context())
		got := ask(t, ctx, fakellm.NewServer(t, turns...), asking(middleware.WithUsage(middleware.UsageSum)), path, body)
		assert.Equal(t, want, got)
		outcome := outcomes.Last()
		require.Len(t, outcome.Usage, 2)
		assert.Equal(t, 120, outcome.Usage[1].Prompt)
		assert.Equal(t, middleware.Tokens{Input: 120, Output: 4}, outcome.Worth.Tokens)
	})
}

// Any other answer is joined as that of any continuation is, however it begins.
func TestSomethingIsOpen(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]fakellm.Turn{
		"text":                    fakellm.Text("One test is missing."),
		"text that begins alike":  fakellm.Text("Nothing is open, except for one test."),
		"text that ends too soon": fakellm.Text("Nothing is"),
		"nothing":                 fakellm.Text(""),
		"call":                    wiretest.Edit(),
		"text and call":           wiretest.Edit().AndText(prompt.NothingOpen),
		"reasoning and text":      fakellm.Text("Nothing is open, except for one test.").Reasoning("One is missing."),
		"reasoning and call":      wiretest.Edit().Reasoning("One is missing."),
		"pause":                   fakellm.Pause(wiretest.Blocked),
		"pause and text":          fakellm.Pause(wiretest.Blocked).AndText(prompt.NothingOpen),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inEachProtocol(t, func(t *testing.T, path, body string) {
				first := fakellm.Text(report).Reasoning("It is short.")
				want := ask(t, t.Context(), fakellm.NewServer(t, first, second), wiretest.OneContinuation(wiretest.TwoTodos), path, body)
				ctx, outcomes := middleware.Capture(t.Context())
				got := ask(t, ctx, fakellm.NewServer(t, first, second), asking(), path, body)
				assert.Equal(t, withoutRunningCounts(want), withoutRunningCounts(got))
				assert.NotEqual(t, reasons.NothingOpen, outcomes.Last().Reason)
			})
		})
	}
}

// withoutRunningCounts leaves out the counts with which Gemini's chunks say how much of the answer there is so far: a chunk that
// was held back says how much there was when it was shown.
func withoutRunningCounts(stream string) string {
	return regexp.MustCompile(`"candidatesTokenCount":\d+,"totalTokenCount":\d+`).ReplaceAllString(stream, "")
}

// A question that is refused leaves nothing behind: the caller gets its first answer, byte for byte. Only a text that came
// with its finish, as Gemini sends it, is already shown when the question is asked.
func TestQuestionThatIsRefused(t *testing.T) {
	t.Parallel()
	inEachProtocol(t, func(t *testing.T, path, body string) {
		first := fakellm.Text(report)
		ctx, outcomes := middleware.Capture(t.Context())
		got := ask(t, ctx, fakellm.NewServer(t, first, refused()), asking(), path, body)
		assert.Equal(t, reasons.Failed, outcomes.Last().Reason)
		if !strings.Contains(path, "streamGenerateContent") {
			assert.Equal(t, answersOf(t, path, body, first)[0], got)
		}
	})
}

// An answer that breaks off before it says more than the line leaves nothing behind either, and the question is asked once
// more.
func TestQuestionThatBreaksOff(t *testing.T) {
	t.Parallel()
	inEachProtocol(t, func(t *testing.T, path, body string) {
		if strings.Contains(body, `"stream":false`) || strings.HasSuffix(path, ":generateContent") {
			t.Skip("only a stream is shown while it comes")
		}
		first, breaks := fakellm.Text(report), fakellm.Text(prompt.NothingOpen).CutAfter(2)
		want := ask(t, t.Context(), fakellm.NewServer(t, first, refused()), asking(), path, body)
		server := fakellm.NewServer(t, first, breaks, fakellm.Text(prompt.NothingOpen))
		ctx, outcomes := middleware.Capture(t.Context())
		assert.Equal(t, want, ask(t, ctx, server, asking(), path, body))
		assert.Equal(t, reasons.NothingOpen, outcomes.Last().Reason)
		assert.Len(t, server.Requests(), 3)
	})
}

// The question comes once at the end of a user turn, again only after a tool was called, and within the budget.
func TestQuestionIsAskedOnceUntilAToolIsCalled(t *testing.T) {
	t.Parallel()
	inEachProtocol(t, func(t *testing.T, path, body string) {
		server := fakellm.NewServer(t, fakellm.Text(report), wiretest.Edit(), fakellm.Text(report), fakellm.Text("A test is missing."), fakellm.Text(report))
		mw := middleware.New(todo.FromConversation(), wiretest.Unhurried, middleware.WithClosingQuestion())
		session := continuation.WithSession(t.Context(), "conversation")
		var got []continuation.Reason
		for range 3 {
			ctx, outcomes := middleware.Capture(session)
			ask(t, ctx, server, mw, path, body)
			got = append(got, outcomes.Last().Reason)
		}
		assert.Equal(t, []continuation.Reason{reasons.ToolCalls, reasons.Asked, reasons.Asked}, got)
		assert.Len(t, server.Requests(), 5, "the third time the model is not asked")
	})
}

// No question is asked where it would be in the way.
func TestQuestionIsNotAsked(t *testing.T) {
	t.Parallel()
	question := middleware.WithClosingQuestion()
	scenes := map[string]struct {
		turn   fakellm.Turn
		mw     *middleware.Middleware
		change func(body string) string
		reason continuation.Reason
	}{
		"not wanted":         {fakellm.Text("Next, the tests."), middleware.New(todo.FromConversation()), nil, reasons.NoList},
		"a report":           {fakellm.Text(report), middleware.New(todo.FromConversation(), wiretest.Unattended), nil, reasons.NoList},
		"the model asks":     {fakellm.Text("Shall I use Go or C?"), middleware.New(todo.FromConversation(), question), nil, reasons.AsksUser},
		"it calls a tool":    {wiretest.Edit(), asking(), nil, reasons.ToolCalls},
		"it is cut off":      {fakellm.Text(report).Finish("length"), asking(), nil, reasons.NotEnded},
		"the list is done":   {fakellm.Text(report), middleware.New(todo.Static(todo.Todo{Content: "x", Status: todo.Completed}), question), nil, reasons.NoActiveTodos},
		"a dry run":          {fakellm.Text(report), middleware.New(todo.FromConversation(), question, middleware.WithDryRun()), nil, reasons.Ask},
		"no tool was called": {fakellm.Text(report), asking(), func(body string) string { return wiretest.ChatBody(false) }, reasons.NoList},
		"the user wrote after": {fakellm.Text(report), asking(), func(body string) string {
			return strings.Replace(body, `"content":"ok"}`, `"content":"ok"},{"role":"user","content":"Thanks."}`, 1)
		}, reasons.NoList},
		"inside another layer": {fakellm.Text(report), asking(), func(body string) string {
			said, _ := json.Marshal(prompt.Question(prompt.Input{End: handback.Unclear, InWords: true}))
			return strings.Replace(strings.Replace(body, `"content":"ok"}`, `"content":"ok"},{"role":"user","content":`+string(said)+`}`, 1),
				wiretest.ChatTool, wiretest.ChatTool+`,`+strings.Replace(wiretest.ChatTool, "edit_file", "todo_pause", 1), 1)
		}, reasons.None}, // the outer one reports it
	}
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, body := toolRequests["chat completions"](false)
			if scene.change != nil {
				body = scene.change(body)
			}
			ctx, outcomes := middleware.Capture(t.Context())
			ask(t, ctx, fakellm.NewServer(t, scene.turn), scene.mw, path, body)
			assert.Equal(t, scene.reason, outcomes.Last().Reason)
			assert.Zero(t, outcomes.Last().Attempts)
		})
	}
}
