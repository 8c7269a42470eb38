package httprr_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

const (
	asked = `{"model":"m1","stream":true,"messages":[]}`

	// The finish, and the usage that counts.
	finishing = `data: {"id":"c1","choices":[{"delta":{},"finish_reason":"stop"}],"usage":` + lastUsage + "}\n\n"
	lastUsage = `{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"cost":null,` +
		`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}`

	streamed = `data: {"id":"","choices":[]}` + "\r\n\r\n" + `: waiting` + "\n\n" +
		`data: {"id":"c1","choices":[{"delta":{"content":"One "},"message":{"content":"One "}}]}` + "\n\n" +
		`data:{"id":"c1","usage":{"total_tokens":1},"choices":[{"delta":{"content":"two."}}]}` + "\n\n" + finishing +
		`data: {"id":"c1","choices":[{"delta":{},"finish_reason":null}],"usage":null}` + "\n\ndata: [DONE]\n\n"
)

// exchange returns one exchange as in a recording, lengths included.
func exchange(request, response string) string {
	return fmt.Sprintf("%d %d\n%s%s", len(request), len(response), request, response)
}

func post(url, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: api.test\r\nX-Key: k\r\nContent-Length: %d\r\n\r\n%s", url, len(body), body)
}

func answered(status, contentType, body string) string {
	return fmt.Sprintf("HTTP/2.0 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, contentType, len(body), body)
}

// recording has a stream, a request for something else, and an error.
func recording() string {
	chat := post("https://api.test/v1/chat/completions?v=1", asked)
	return "httprr trace v1\n" +
		exchange(chat, answered("200 OK", "text/event-stream", streamed)) +
		exchange(post("https://api.test/v1/embeddings", "{}"), "not HTTP") +
		exchange(chat, answered("429 Too Many Requests", "application/json", `{"error":"busy"}`))
}

func TestParse(t *testing.T) {
	t.Parallel()
	exchanges, err := httprr.Parse("TestChat", []byte(recording()))
	require.NoError(t, err)
	require.Len(t, exchanges, 3)
	assert.Equal(t, "TestChat/1", exchanges[0].Name)
	assert.Equal(t, "TestChat/3", exchanges[2].Name)
	assert.Equal(t, "not HTTP", string(exchanges[1].Response))

	req, err := exchanges[0].NewRequest(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "https://api.test/v1/chat/completions?v=1", req.URL.String())
	assert.Equal(t, http.Header{"X-Key": {"k"}}, req.Header)
	assert.EqualValues(t, len(asked), req.ContentLength)
	require.NotNil(t, req.GetBody)

	response, err := exchanges[2].NewResponse(req)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)

	_, err = exchanges[1].NewResponse(nil) //nolint:bodyclose // there is none
	require.ErrorContains(t, err, "TestChat/2: ")
}

func TestParseTakesCarriageReturns(t *testing.T) {
	t.Parallel()
	exchanges, err := httprr.Parse("x", []byte("httprr trace v1\r\n2 3\r\nabxyz"))
	require.NoError(t, err)
	require.Len(t, exchanges, 1)
	assert.Equal(t, "ab", string(exchanges[0].Request))
	assert.Equal(t, "xyz", string(exchanges[0].Response))
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"nothing":               "",
		"another format":        "{}\n",
		"no lengths":            "httprr trace v1\nab",
		"one length":            "httprr trace v1\n2\nab",
		"a negative length":     "httprr trace v1\n-1 2\nab",
		"a request cut short":   "httprr trace v1\n3 0\nab",
		"a response cut short":  "httprr trace v1\n1 2\nab",
		"lengths that overflow": "httprr trace v1\n1 9223372036854775807\nab",
		"garbage at the end":    "httprr trace v1\n1 1\nab?",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := httprr.Parse("x", []byte(data))
			require.ErrorIs(t, err, httprr.ErrCorrupt)
		})
	}
}

func TestChats(t *testing.T) {
	t.Parallel()
	exchanges, err := httprr.Parse("TestChat", []byte(recording()))
	require.NoError(t, err)
	chats, err := httprr.Chats(exchanges)
	require.NoError(t, err)
	require.Len(t, chats, 2, "only the calls of Chat Completions")

	chat := chats[0]
	assert.Equal(t, "api.test", chat.Provider)
	assert.Equal(t, "m1", chat.Model)
	assert.Equal(t, asked, string(chat.Body))
	assert.True(t, chat.Streamed)
	assert.Equal(t, streamed, string(chat.Answer))
	turn := chat.Turn
	assert.Equal(t, quirks.Reading{
		Text: "One two.", Finish: "stop", Usage: quirks.Usage{Prompt: 1, Completion: 2, Total: 3, Cached: 4, Reasoning: 5},
	}, turn.Means)
	assert.Equal(t, streamed, turn.Body())
	assert.True(t, strings.HasSuffix(turn.Head, "]}\n\n"), "the head ends where the event with the finish begins")
	assert.True(t, strings.HasPrefix(turn.Tail, finishing), turn.Tail)
	assert.Equal(t, lastUsage, turn.Usage)
	assert.Equal(t, http.StatusOK, turn.Status)
	assert.Equal(t, "text/event-stream", turn.Type)
	assert.True(t, turn.Length)
	assert.True(t, chat.EndsInText())

	failed := chats[1]
	assert.Equal(t, http.StatusTooManyRequests, failed.Turn.Status)
	assert.NotEmpty(t, failed.Turn.Means.Err)
	assert.Equal(t, `{"error":"busy"}`, failed.Turn.Body())
	assert.False(t, failed.EndsInText())
}

// unary reads a recorded answer in one piece.
func unary(t *testing.T, body string) (httprr.Chat, error) {
	t.Helper()
	exchanges, err := httprr.Parse("x", []byte("httprr trace v1\n"+
		exchange(post("https://api.test/v1/chat/completions", "{}"), answered("200 OK", "application/json", body))))
	require.NoError(t, err)
	chats, err := httprr.Chats(exchanges)
	if err != nil {
		return httprr.Chat{}, err
	}
	require.Len(t, chats, 1)
	return chats[0], nil
}

func TestCallsOfAnAnswer(t *testing.T) {
	t.Parallel()
	chat, err := unary(t, `{"choices":[{"message":{"content":null,"tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
		{"id":"b","type":"function","function":{"name":"g","arguments":"1"}}]},"finish_reason":"tool_calls"}]}`)
	require.NoError(t, err)
	assert.False(t, chat.Streamed)
	assert.Equal(t, quirks.Reading{Finish: "tool_calls", Calls: []quirks.Call{
		{ID: "a", Type: "function", Name: "f", Arguments: "{}"}, {ID: "b", Type: "function", Name: "g", Arguments: "1"},
	}}, chat.Turn.Means)

	chat, err = unary(t, `{"choices":[{"message":{"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`)
	require.NoError(t, err)
	assert.Equal(t, quirks.Reading{
		Finish: "function_call", Calls: []quirks.Call{{Name: "f", Arguments: "{}"}},
	}, chat.Turn.Means)

	_, err = unary(t, `{"choices":`)
	require.ErrorContains(t, err, "x/1: ")
}

func TestCallsOfAStream(t *testing.T) {
	t.Parallel()
	stream := `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}
`
	read := func(body string) ([]httprr.Chat, error) {
		exchanges, err := httprr.Parse("x", []byte("httprr trace v1\n"+
			exchange(post("https://api.test/chat/completions", asked), answered("200 OK", "text/event-stream", body))))
		require.NoError(t, err)
		return httprr.Chats(exchanges)
	}
	chats, err := read(stream)
	require.NoError(t, err)
	assert.Equal(t, []quirks.Call{{ID: "a", Type: "function", Name: "f", Arguments: "{}"}}, chats[0].Turn.Means.Calls)
	assert.Equal(t, stream, chats[0].Turn.Head, "without a finish there is no tail")

	_, err = read("data: {}\n\ndata: {\n\n")
	require.ErrorContains(t, err, "event 2: ")
}

func TestContinuable(t *testing.T) {
	t.Parallel()
	text := quirks.Reading{Text: "One:", Finish: "stop"}
	blank, cut, calling := text, text, text
	blank.Text, cut.Finish, calling.Calls = " \n", "length", []quirks.Call{{Name: "f"}}
	plain := httprr.Chat{Body: []byte("{}"), Turn: quirks.Turn{Means: text}}
	assert.True(t, plain.EndsInText())
	assert.True(t, plain.Continuable())
	for _, means := range []quirks.Reading{blank, cut, calling} {
		chat := httprr.Chat{Body: []byte("{}"), Turn: quirks.Turn{Means: means}}
		assert.False(t, chat.EndsInText(), "%+v", means)
		assert.False(t, chat.Continuable(), "%+v", means)
	}
	for _, body := range []string{`{"functions":[]}`, `{"response_format":{"type":"json_object"}}`, `?`} {
		plain.Body = []byte(body)
		assert.False(t, plain.Continuable(), body)
	}
}

func TestWithTool(t *testing.T) {
	t.Parallel()
	offer := func(body string) string {
		chat := httprr.Chat{Body: []byte(body)}
		offered := chat.WithTool(`{"type":"function"}`)
		assert.Equal(t, body, string(chat.Body), "the call itself stays as it was")
		return string(offered.Body)
	}
	assert.Equal(t, `{"a":1e2,"tools":[{"type":"function"}]}`, offer(`{"a":1e2}`))
	assert.Equal(t, `{"tools":[{"x":1}]}`, offer(`{"tools":[{"x":1}]}`))

	exchanges, err := httprr.Parse("TestChat", []byte(recording()))
	require.NoError(t, err)
	chats, err := httprr.Chats(exchanges)
	require.NoError(t, err)
	req, err := chats[0].WithTool(`{}`).NewRequest(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "https://api.test/v1/chat/completions?v=1", req.URL.String())
	assert.Equal(t, http.Header{"X-Key": {"k"}}, req.Header)
	body, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(asked, "}")+`,"tools":[{}]}`, string(body))
	assert.EqualValues(t, len(body), req.ContentLength)
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("b/testdata/Two.httprr", recording())
	write("b/Elsewhere.httprr", "not looked at")
	write("b/testdata/README.md", "not looked at")
	write("a/testdata/One.httprr.gz", zipped(recording()))
	exchanges, err := httprr.Find(dir)
	require.NoError(t, err)
	names := make([]string, 0, len(exchanges))
	for _, e := range exchanges {
		names = append(names, e.Name)
	}
	assert.Equal(t, []string{"One/1", "One/2", "One/3", "Two/1", "Two/2", "Two/3"}, names)

	write("c/testdata/Broken.httprr", "?")
	_, err = httprr.Find(dir)
	require.ErrorIs(t, err, httprr.ErrCorrupt)
	require.ErrorContains(t, err, "Broken.httprr")

	write("a/testdata/NotZipped.httprr.gz", recording())
	_, err = httprr.Find(dir)
	require.ErrorIs(t, err, gzip.ErrHeader)
}

func zipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.String()
}

// All recordings in langchaingo's module can be read: the tests of the adapters need them.
func TestRecordedTraffic(t *testing.T) {
	t.Parallel()
	dir, err := httprr.ModuleDir(t.Context(), "github.com/tmc/langchaingo")
	require.NoError(t, err)
	exchanges, err := httprr.Find(dir)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(exchanges), 250)
	for _, e := range exchanges {
		_, err := e.NewRequest(t.Context())
		require.NoError(t, err)
		response, err := e.NewResponse(nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err, e.Name)
		require.NoError(t, response.Body.Close())
	}
	chats, err := httprr.Recorded(t.Context())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(chats), 110)
	pairs := httprr.Pairs(chats)
	firsts, seconds, effects := map[string]bool{}, map[string]bool{}, map[quirks.Effect]bool{}
	for _, pair := range pairs {
		first, second, _ := strings.Cut(pair.Name, " and ")
		firsts[first], seconds[second], effects[pair.Effect] = true, true, true
		assert.True(t, pair.Asked.Continuable())
		assert.Contains(t, string(pair.Asked.Body), `"tools":[`)
		assert.Equal(t, pair.Asked.Streamed, !pair.Unary)
	}
	for _, chat := range chats {
		assert.Equal(t, chat.Continuable(), firsts[chat.Name], "%s is the first of a pair", chat.Name)
		assert.True(t, seconds[chat.Name], "%s is the second of a pair", chat.Name)
	}
	assert.Equal(t, map[quirks.Effect]bool{quirks.Joined: true, quirks.Dropped: true}, effects)
}

func TestModuleDirNamesTheModule(t *testing.T) {
	t.Parallel()
	_, err := httprr.ModuleDir(t.Context(), "example.com/not/required")
	require.ErrorContains(t, err, "example.com/not/required")
}

func TestReplay(t *testing.T) {
	t.Parallel()
	exchanges, err := httprr.Parse("x", []byte(recording()))
	require.NoError(t, err)
	replay := httprr.NewReplay(1, exchanges[0], exchanges[2])

	req, err := exchanges[0].NewRequest(t.Context())
	require.NoError(t, err)
	response, err := replay.RoundTrip(req)
	require.NoError(t, err)
	n, err := response.Body.Read(make([]byte, 10))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, 1, replay.Open())
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, streamed[1:], string(rest))
	assert.Zero(t, replay.Open(), "a body that is read to its end holds nothing")
	require.NoError(t, response.Body.Close())
	assert.Zero(t, replay.Open())

	sent := replay.Sent()
	require.Len(t, sent, 1)
	assert.Equal(t, http.MethodPost, sent[0].Method)
	assert.Equal(t, asked, string(sent[0].Body))
	assert.Equal(t, "k", sent[0].Header.Get("X-Key"))
}

func TestInstead(t *testing.T) {
	t.Parallel()
	exchanges, err := httprr.Parse("TestChat", []byte(recording()))
	require.NoError(t, err)
	chats, err := httprr.Chats(exchanges)
	require.NoError(t, err)
	replay := httprr.NewReplay(0, exchanges[0])
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://elsewhere.test", http.NoBody)
	require.NoError(t, err)
	response, err := chats[0].Instead(replay).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, []httprr.Sent{{
		Method: http.MethodPost, URL: "https://api.test/v1/chat/completions?v=1",
		Header: http.Header{"X-Key": {"k"}}, Body: []byte(asked),
	}}, replay.Sent())
}

func TestReplayServes(t *testing.T) {
	t.Parallel()
	exchanges, err := httprr.Parse("x", []byte(recording()))
	require.NoError(t, err)
	server := httptest.NewServer(httprr.NewReplay(0, exchanges[2]))
	defer server.Close()
	for _, want := range []struct {
		status int
		body   string
	}{
		{http.StatusTooManyRequests, `{"error":"busy"}`},
		{http.StatusInternalServerError, httprr.ErrNoAnswer.Error() + "\n"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(asked))
		require.NoError(t, err)
		response, err := server.Client().Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, want.status, response.StatusCode)
		assert.Equal(t, want.body, string(body))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(recording()))
	f.Add([]byte("httprr trace v1\n2 3\nabxyz"))
	f.Fuzz(func(t *testing.T, data []byte) {
		exchanges, err := httprr.Parse("x", data)
		if err != nil {
			require.ErrorIs(t, err, httprr.ErrCorrupt)
			return
		}
		total := 0
		for _, e := range exchanges {
			total += len(e.Request) + len(e.Response)
		}
		require.Less(t, total, len(data))
		_, _ = httprr.Chats(exchanges) // must not panic
	})
}
