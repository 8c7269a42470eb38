package gemini_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// In a recording, *.sse is a stream as it came, *.chunks.txt has one chunk a line, *.responses one call a line with its
// chunks, and *.json is a whole answer.
var recordings = flag.String("recordings", "", "a directory with recorded answers")

// recording is an answer that Google has given.
type recording struct {
	name   string
	stream bool
	body   string
}

// recorded returns the recordings of the flag, or skips the test.
func recorded(t *testing.T) (list []recording) {
	t.Helper()
	if *recordings == "" {
		t.Skip("no -recordings")
	}
	files, err := filepath.Glob(filepath.Join(*recordings, "*"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		switch name := filepath.Base(file); {
		case strings.HasSuffix(name, ".sse"):
			list = append(list, recording{name, true, string(data)})
		case strings.HasSuffix(name, ".chunks.txt"):
			list = append(list, recording{name, true, streamOf(bytes.Split(bytes.TrimSpace(data), []byte("\n")))})
		case strings.HasSuffix(name, ".responses"):
			list = append(list, calls(t, name, data)...)
		case strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".request.json") && !strings.HasSuffix(name, ".array.json"):
			list = append(list, recording{name, false, string(data)})
		}
	}
	require.NotEmpty(t, list)
	return list
}

// calls returns the calls that gemini-cli has made of its SDK.
func calls(t *testing.T, name string, data []byte) (list []recording) {
	t.Helper()
	for line := range strings.Lines(string(data)) {
		var call struct {
			Method   string          `json:"method"`
			Response json.RawMessage `json:"response"`
		}
		if json.Unmarshal([]byte(line), &call) != nil || len(call.Response) == 0 {
			continue
		}
		var chunks [][]byte
		var raw []json.RawMessage
		if json.Unmarshal(call.Response, &raw) != nil {
			continue
		}
		for _, chunk := range raw {
			chunks = append(chunks, chunk)
		}
		list = append(list, recording{name, true, streamOf(chunks)})
	}
	return list
}

func streamOf(chunks [][]byte) string {
	var all strings.Builder
	for _, chunk := range chunks {
		all.WriteString("data: " + string(bytes.TrimSpace(chunk)) + "\r\n\r\n")
	}
	return all.String()
}

// replay answers requests with recordings, and then with an error.
type replay struct {
	answers []recording
	asked   int
}

func (r *replay) RoundTrip(request *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.asked++
	if r.asked > len(r.answers) {
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: http.NoBody, Request: request}, nil
	}
	answer := r.answers[r.asked-1]
	kind := "application/json; charset=UTF-8"
	if answer.stream {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Request: request,
		Body: io.NopCloser(strings.NewReader(answer.body)), ContentLength: -1,
	}, nil
}

// ask sends a request, and returns the body of the answer.
func ask(t *testing.T, base http.RoundTripper, stream bool, todos todo.Provider) string {
	t.Helper()
	method := "generateContent"
	if stream {
		method = "streamGenerateContent?alt=sse"
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gemini.test/v1beta/models/m:"+method,
		strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"Go."}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`))
	require.NoError(t, err)
	if todos != nil {
		base = transport.New(base, middleware.New(todos, unhurried))
	}
	response, err := base.RoundTrip(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return string(body)
}

// Alone, every recorded answer is the same bytes.
func TestRecordingsAlone(t *testing.T) {
	t.Parallel()
	done := todo.Static(todo.Todo{ID: "1", Content: "a", Status: todo.Completed})
	for _, r := range recorded(t) {
		assert.Equal(t, r.body, ask(t, &replay{answers: []recording{r}}, r.stream, done), r.name)
	}
}

// read reads recordings with the official SDK, in a chat. It returns false if the SDK fails on them.
func read(t *testing.T, todos todo.Provider, answers ...recording) (got reading, ok bool, kept int, asked int) {
	t.Helper()
	base := &replay{answers: answers}
	client := newClient(t, base, todos, genai.BackendGeminiAPI)
	config := tools()
	config.AutomaticContinuation = new(bool)
	chat, err := client.Chats.Create(t.Context(), "m", config, nil)
	require.NoError(t, err)
	ctx := t.Context()
	if answers[0].stream {
		for answer, err := range chat.SendMessageStream(ctx, genai.Part{Text: "Go."}) {
			if err != nil {
				return got, false, 0, base.asked
			}
			got.add(answer)
		}
	} else {
		answer, err := chat.SendMessage(ctx, genai.Part{Text: "Go."})
		if err != nil {
			return got, false, 0, base.asked
		}
		got.add(answer)
	}
	return got, true, len(chat.History(true)), base.asked
}

// Joined, the SDK reads of two recorded answers what it reads of them alone, and its chat keeps the turn if it keeps both.
func TestRecordingsJoined(t *testing.T) {
	t.Parallel()
	all, joined := recorded(t), map[bool]int{}
	done := todo.Static(todo.Todo{ID: "1", Content: "a", Status: todo.Completed})
	for _, first := range all {
		one, ok, keptFirst, _ := read(t, done, first)
		_, _, _, asked := read(t, open(), first, first)
		if !ok || asked == 1 {
			continue // it is not continued
		}
		for _, second := range all {
			if first.stream != second.stream {
				continue
			}
			two, ok, keptSecond, _ := read(t, done, second)
			if !ok || two.finish != genai.FinishReasonStop && two.finish != genai.FinishReasonMaxTokens {
				continue
			}
			got, ok, kept, _ := read(t, open(), first, second)
			require.True(t, ok, "%s and %s", first.name, second.name)
			joined[first.stream]++
			want := one.text + separator(one.text, two.text) + two.text
			require.Equal(t, withoutBreaks(want), withoutBreaks(got.text), "%s and %s", first.name, second.name)
			require.Equal(t, two.calls, got.calls, "%s and %s", first.name, second.name)
			require.Equal(t, two.finish, got.finish, "%s and %s", first.name, second.name)
			require.Equal(t, one.id, got.id, "%s and %s", first.name, second.name)
			if one.usage != nil && two.usage != nil {
				require.Equal(t, one.usage.PromptTokenCount, got.usage.PromptTokenCount, "%s and %s", first.name, second.name)
				require.Equal(t, one.usage.CandidatesTokenCount+two.usage.CandidatesTokenCount, got.usage.CandidatesTokenCount, "%s and %s", first.name, second.name)
			}
			if keptFirst > 0 && keptSecond > 0 {
				require.Positive(t, kept, "%s and %s: the chat has dropped the turn", first.name, second.name)
			}
		}
	}
	t.Logf("joined: %d streams, %d whole answers", joined[true], joined[false])
	require.Greater(t, joined[true], 100)
	require.Greater(t, joined[false], 100)
}

func separator(first, second string) string {
	if first == "" || second == "" {
		return ""
	}
	return "\n\n"
}

// withoutBreaks leaves out line breaks: a text may end in some of those between two turns.
func withoutBreaks(text string) string { return strings.ReplaceAll(text, "\n", "") }
