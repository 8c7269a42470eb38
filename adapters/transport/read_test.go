package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A Read returns everything that has arrived, so that a proxy writes it at
// once. It does not hold data back until a decision. The first event comes alone,
// so that it does not wait for others to be looked at.
func TestReadReturnsAllThatHasCome(t *testing.T) {
	t.Parallel()
	chunk := func(delta, finish string) string {
		return `data: {"id":"c1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	}
	begin := chunk(`{"role":"assistant","content":""}`, "null")
	text := chunk(`{"content":"Next "}`, "null") + chunk(`{"content":"the parser."}`, "null")
	call := chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"edit_file","arguments":"{}"}}]}`, "null")
	const done = "data: [DONE]\n\n"
	event := func(kind, member string) string {
		return "event: response." + kind + "\ndata: {\"type\":\"response." + kind + "\"," + member + "}\n\n"
	}
	const response, item = `"response":{"id":"resp_1","status":"in_progress","output":[]}`, `"output_index":0,"item":{"id":"msg_1","type":"message","content":[]}`
	for name, answer := range map[string]struct {
		path, body string
		reads      []string
		after      string
	}{
		"text": {"/chat/completions", wiretest.ChatBody(true), []string{begin, text}, chunk("{}", `"stop"`) + done},
		"call": {"/chat/completions", wiretest.ChatBody(true), []string{begin, text + call + chunk("{}", `"tool_calls"`) + done}, ""}, // the decision needs no list
		"response": {
			"/responses", responsesBody(true), []string{
				event("created", response), event("in_progress", response) +
					event("output_item.added", item) + event("output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Next"`),
			}, event("completed", `"response":{"id":"resp_1","status":"completed","output":[]}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decided := 0
			mw := middleware.New(todo.ProviderFunc(func(context.Context) ([]todo.Todo, error) {
				decided++
				return []todo.Todo{{ID: "1", Content: "Write the parser", Status: todo.Completed}}, nil
			}))
			base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
					Body: io.NopCloser(strings.NewReader(strings.Join(answer.reads, "") + answer.after)), ContentLength: -1, Request: r,
				}, nil
			})
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://test/v1"+answer.path, strings.NewReader(answer.body))
			require.NoError(t, err)
			response, err := transport.New(base, mw).RoundTrip(r)
			require.NoError(t, err)
			defer response.Body.Close()

			room := make([]byte, 64<<10)
			for _, want := range answer.reads {
				n, err := response.Body.Read(room)
				require.NoError(t, err)
				assert.Equal(t, want, string(room[:n]))
			}
			assert.Zero(t, decided)
			rest, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Equal(t, answer.after, string(rest))
		})
	}
}
