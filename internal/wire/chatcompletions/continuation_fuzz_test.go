package chatcompletions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// jsonMember is a member of an object: its name, and its value as it is spelled.
type jsonMember struct{ name, value string }

// membersOf returns the members of an object, in order and as often as they come.
func membersOf(t *testing.T, object string) []jsonMember {
	t.Helper()
	var members []jsonMember
	d := json.NewDecoder(strings.NewReader(object))
	_, err := d.Token()
	require.NoError(t, err)
	for d.More() {
		token, err := d.Token()
		require.NoError(t, err)
		name, _ := token.(string)
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
		members = append(members, jsonMember{name, string(value)})
	}
	return members
}

// elementsOf returns the elements of a list as they are spelled, and whether it is one.
func elementsOf(list string) (elements []json.RawMessage, ok bool) {
	ok = strings.HasPrefix(list, "[") && json.Unmarshal([]byte(list), &elements) == nil
	return elements, ok
}

// playing answers requests in order: with a turn to be continued, one that pauses without a reason, and others.
func playing(sent *[]string, stream bool) http.RoundTripper {
	const pause = `"tool_calls":[{"index":0,"id":"p","type":"function","function":{"name":"todo_pause","arguments":"{\"reason\":\"stuck\"}"}}]`
	turns := []string{`"content":"So.","reasoning_content":"Hm."`, pause, `"content":"On."`, `"content":"Done."`}
	return wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		turn := turns[min(len(*sent), len(turns)-1)]
		*sent = append(*sent, string(body))
		text := `{"id":"a","choices":[{"index":0,"message":{` + turn + `},"finish_reason":"stop"}]}`
		if stream {
			text = `data: {"id":"a","choices":[{"index":0,"delta":{` + turn + `},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
		}
		response := wiretest.Streamed(r, io.NopCloser(strings.NewReader(text)))
		if !stream {
			response.Header = http.Header{"Content-Type": {"application/json"}}
		}
		return response, errors.Join(err, r.Body.Close())
	})
}

// requireExtended checks that a continuation's request has everything that the caller's has, as it is spelled, and adds
// no more than it may.
func requireExtended(t *testing.T, own, next string) {
	t.Helper()
	require.True(t, json.Valid([]byte(next)), "%q became %q", own, next)
	var want []jsonMember
	last := map[string]int{} // of the members with one name
	stored := false
	for _, m := range membersOf(t, own) {
		if m.name == "store" {
			stored = m.value == "true"
		}
	}
	for _, m := range membersOf(t, own) {
		if m.name != "prediction" && (m.name != "metadata" || !stored) {
			last[m.name] = len(want)
			want = append(want, m)
		}
	}
	got := membersOf(t, next)
	require.Len(t, got, len(want), "%q became %q", own, next)
	for i, m := range want {
		require.Equal(t, m.name, got[i].name)
		switch {
		case m.name == "store" && stored:
			require.Equal(t, "false", got[i].value)
		case last[m.name] == i:
			requireKept(t, m, got[i].value)
		default:
			require.Equal(t, m.value, got[i].value, "only the last one counts")
		}
	}
}

// requireKept checks what became of a member's value.
func requireKept(t *testing.T, own jsonMember, next string) {
	t.Helper()
	if list, ok := elementsOf(own.value); ok && (own.name == "messages" || own.name == "tools") {
		longer, ok := elementsOf(next)
		require.True(t, ok, next)
		require.GreaterOrEqual(t, len(longer), len(list))
		require.Equal(t, list, longer[:len(list):len(list)])
		if own.name == "messages" {
			require.Len(t, longer, len(list)+2, "the answer so far, and the prompt")
		} else {
			require.LessOrEqual(t, len(longer), len(list)+1, "todo_pause and nothing else")
		}
		return
	}
	switch {
	case own.name == "tool_choice" && strings.HasPrefix(own.value, "{"):
		// Nothing of it is taken away.
		compact, longer := new(bytes.Buffer), new(bytes.Buffer)
		require.NoError(t, json.Compact(compact, []byte(own.value)))
		require.NoError(t, json.Compact(longer, []byte(next)))
		const tool = `{"function":{"name":"todo_pause"},"type":"function"}`
		shorter := strings.NewReplacer(","+tool, "", tool, "").Replace(longer.String())
		require.Equal(t, strings.NewReplacer(","+tool, "", tool, "").Replace(compact.String()), shorter)
	default:
		require.Equal(t, own.value, next, own.name)
	}
}

// The caller's request is sent as it is, and in a continuation everything in it is kept.
func FuzzContinuationRequest(f *testing.F) {
	for _, stream := range []bool{false, true} {
		for _, more := range []string{
			`"store":true`, `"store":false`, `"metadata":{},"store":true,"metadata":{"a":"b"}`, `"store":true,"store":false,"metadata":{}`, `"prediction":{"type":"content"}`, `"tool_choice":"auto"`, `"x":{"messages":[],"tools":[1]}`,
			`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"edit_file"}}]}}`,
			`"tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[ ],"mode":"auto"}}`, `"seed":12345678901234567890`,
			`"messages":[],"messages":[ ]`, `"tools":[]`, `"me\u0073sages":[{"role":"user","content":[]}]`, `"n":1.0`, `"user":"\ud800"`,
		} {
			f.Add([]byte(wiretest.ChatBody(stream, more)), stream)
			f.Add([]byte("\n"+strings.NewReplacer(",", " ,\t", ":", " : ", "[", "[ \r\n").Replace(wiretest.ChatBody(stream, more))+" "), stream)
		}
	}
	f.Add([]byte(`{"tools":[{"function":{"strict":true}}],"messages":[{"role":"assistant","reasoning":"x","reasoning_content":"y"}]}`), false)
	f.Add([]byte(`{"tools":[0],"messages":null,"stream":true}`), true)
	f.Add([]byte(`{"tools":[{"function":{"name":"todo_pause"}}],"messages":[{}],"prediction":1,"prediction":2}`), false)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		var sent []string
		todos := todo.Static(todo.Todo{Content: "Write the parser", Status: todo.InProgress})
		mw := middleware.New(todos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 2}))
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", string(body))
		response, err := transport.New(playing(&sent, stream), mw).RoundTrip(request)
		require.NoError(t, err)
		defer wiretest.Closed(t, response)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.LessOrEqual(t, len(sent), 3)
		require.Equal(t, string(body), sent[0], "the caller's own request")
		if !json.Valid(body) {
			return
		}
		for _, next := range sent[1:] {
			requireExtended(t, sent[0], next)
		}
	})
}
