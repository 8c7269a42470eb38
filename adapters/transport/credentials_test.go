package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Some providers number the ids of calls in each conversation, so two unrelated callers may send exactly the same
// messages.
func TestStrangersWithoutASessionShareNothing(t *testing.T) {
	t.Parallel()
	const ask = `{"messages":[{"role":"user","content":"Go on."},` +
		`{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"edit","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_0","content":"ok"}],"tools":[{"type":"function","function":{"name":"edit"}}]}`
	longer := strings.Replace(ask, `"content":"ok"}`, `"content":"ok"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function",`+
		`"function":{"name":"edit","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"ok"}`, 1)
	key := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	ann := key("Authorization", "Bearer ann")
	for name, c := range map[string]struct {
		body  string
		who   func(*http.Request)
		apart bool
	}{
		"the loop goes on":       {longer, ann, false},
		"it is run again":        {ask, ann, true},
		"another key":            {longer, key("Authorization", "Bearer bob"), true},
		"another kind of key":    {longer, key("X-Api-Key", "ann"), true},
		"another organization":   {longer, func(r *http.Request) { ann(r); r.Header.Set("OpenAI-Organization", "b") }, true},
		"another key in a query": {longer, func(r *http.Request) { ann(r); r.URL.RawQuery = "key=b" }, true},
		"another cookie":         {longer, func(r *http.Request) { ann(r); r.Header.Set("Cookie", "login=b") }, true},
		"another session":        {longer, func(r *http.Request) { ann(r); r.Header.Set("X-Session-Id", "b") }, true},
		"another program":        {longer, func(r *http.Request) { ann(r); r.Header.Set("User-Agent", "b") }, false},
		"another request id": {longer, func(r *http.Request) {
			ann(r)
			r.Header.Set("X-Request-Id", "b")
			r.Header.Set("Idempotency-Key", "b")
		}, false},
		"other arguments":    {strings.Replace(longer, `"arguments":"{}"`, `"arguments":"{\"a\":1}"`, 1), ann, true},
		"another message":    {strings.Replace(longer, "Go on.", "Stop.", 1), ann, true},
		"a message before":   {strings.Replace(longer, `[{"role":"user"`, `[{"role":"system","content":"S"},{"role":"user"`, 1), ann, true},
		"a mark for a cache": {strings.Replace(longer, `"role":"user",`, `"role":"user","cache_control":{"type":"ephemeral"},`, 1), ann, false},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Later."},"finish_reason":"stop"}]}`)
		}))
		mw := middleware.New(todo.Static(todo.Todo{Content: "Write", Status: todo.Pending}),
			middleware.WithLimits(continuation.Limits{MaxAttempts: 1, MinInterval: continuation.Off}))
		client := &http.Client{Transport: transport.New(http.DefaultTransport, mw)}
		send := func(body string, who func(*http.Request)) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/json")
			who(request)
			response, err := client.Do(request)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
		send(ask, ann)
		require.Equal(t, 2, asked, name)
		send(c.body, c.who)
		assert.Equal(t, c.apart, asked == 4, "%s: asked %d times", name, asked)
		server.Close()
	}
}
