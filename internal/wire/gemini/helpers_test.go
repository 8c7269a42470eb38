package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// The paths of the services.
const (
	studio = "/v1beta/models/gemini-2.5-pro"
	newest = "/v1beta/models/gemini-3-pro-preview"
	vertex = "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro"
	assist = "/v1internal"
)

const editFile = `{"name":"edit_file","description":"Edits a file.","parametersJsonSchema":{"type":"object","properties":{}}}`

// hello is the user's message in most tests.
const hello = `{"role":"user","parts":[{"text":"Write and test the parser."}]}`

// ask is a request, and the model that answers it.
type ask struct {
	path     string // without the method; the default is that of AI Studio
	query    string // instead of alt=sse
	members  string // more of the request, with a comma behind each
	contents string // instead of one of the user
	tools    string // instead of edit_file
	todos    todo.Provider
	options  []middleware.Option
	bare     bool // without carryon
	attempts int  // continuations in a row; the default is one for each turn but the first
	turns    []fakellm.Turn
}

// body returns the request.
func (a ask) body() string {
	contents, tools := a.contents, a.tools
	if contents == "" {
		contents = hello
	}
	if tools == "" {
		tools = `[{"functionDeclarations":[` + editFile + `]}]`
	}
	inner := `{` + a.members + `"systemInstruction":{"parts":[{"text":"You write code."}]},"contents":[` + contents + `],"tools":` + tools + `}`
	if a.path == assist {
		return `{"model":"gemini-2.5-pro","project":"p","user_prompt_id":"s########0","request":` + inner + `}`
	}
	return inner
}

func (a ask) url(stream bool) string {
	path, query := a.path, a.query
	if path == "" {
		path = studio
	}
	if !stream {
		return "http://gemini.test" + path + ":generateContent?" + query
	}
	if query == "" {
		query = "alt=sse"
	}
	return "http://gemini.test" + path + ":streamGenerateContent?" + query
}

// answer is the answer to a request, as a client reads it.
type answer struct {
	chunks   []chunk
	raw      string
	err      error
	requests []fakellm.Request
	outcome  middleware.Outcome
}

type chunk struct {
	Candidates []struct {
		Content *struct {
			Role  string
			Parts []json.RawMessage
		}
		FinishReason, FinishMessage json.RawMessage
		ContinuationToken           string
		GroundingMetadata           json.RawMessage
		CitationMetadata            json.RawMessage
	}
	UsageMetadata                        map[string]json.RawMessage
	ResponseID, ModelVersion, CreateTime string
	Response                             *chunk
	TraceID                              string
}

type part struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name     string
		Args         json.RawMessage
		WillContinue bool
		PartialArgs  json.RawMessage
	}
}

// play asks for an answer, and checks that it is one whose parts a client may send back.
func (a ask) play(t *testing.T, stream bool) answer {
	t.Helper()
	got := a.exchange(t, stream, 0)
	require.NoError(t, got.err)
	a.read(t, &got, stream)
	a.requireAccepted(t, &got)
	return got
}

// both plays a request streamed and not.
func (a ask) both(t *testing.T, check func(t *testing.T, got answer)) {
	t.Helper()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) { check(t, a.play(t, w.Stream)) })
}

// exchange asks for an answer. The client reads it in pieces of that size, or at once.
func (a ask) exchange(t *testing.T, stream bool, pieces int) answer {
	t.Helper()
	server := fakellm.NewServer(t, a.turns...)
	return a.over(t, server.Transport(), stream, pieces, func() []fakellm.Request { return server.Requests() })
}

// over asks for an answer of base.
func (a ask) over(tb testing.TB, base http.RoundTripper, stream bool, pieces int, requests func() []fakellm.Request) answer {
	tb.Helper()
	todos := a.todos
	if todos == nil {
		todos = wiretest.TwoTodos
	}
	attempts := a.attempts
	if attempts == 0 {
		attempts = max(len(a.turns)-1, 1)
	}
	mw := middleware.New(todos, slices.Concat([]middleware.Option{
		wiretest.Continuations(attempts),
	}, a.options)...)
	ctx, outcomes := middleware.Capture(continuation.WithSession(tb.Context(), "s"))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url(stream), strings.NewReader(a.body()))
	require.NoError(tb, err)
	r.Header.Set("Content-Type", "application/json")
	client := transport.New(base, mw)
	if a.bare {
		client = base
	}
	response, err := client.RoundTrip(r)
	require.NoError(tb, err)
	reader := io.Reader(response.Body)
	if pieces == 1 {
		reader = iotest.OneByteReader(reader)
	}
	body, err := io.ReadAll(reader)
	require.NoError(tb, response.Body.Close())
	return answer{raw: string(body), err: err, requests: requests(), outcome: outcomes.Last()}
}

// read reads the answer as the strictest clients do, and fails on what one of them fails on.
func (a ask) read(t *testing.T, got *answer, stream bool) {
	t.Helper()
	datas := []string{got.raw}
	if stream {
		datas = eventsOf(t, got.raw)
	}
	finishes := 0
	for i, data := range datas {
		var c chunk
		require.NoError(t, json.Unmarshal([]byte(data), &c), data)
		if a.path == assist {
			require.NotNil(t, c.Response, data)
			require.Equal(t, traceOf(got), traceOr(got, c.TraceID), data)
			inner := *c.Response
			inner.TraceID = c.TraceID
			c = inner
		}
		require.Len(t, c.Candidates, 1, data)
		one := c.Candidates[0]
		require.NotNil(t, one.Content, data)
		require.Equal(t, "model", one.Content.Role, data)
		require.NotEmpty(t, one.Content.Parts, data)
		require.Empty(t, one.ContinuationToken, data)
		got.chunks = append(got.chunks, c)
		require.Equal(t, got.chunks[0].ResponseID, c.ResponseID, data)
		require.Equal(t, got.chunks[0].ModelVersion, c.ModelVersion, data)
		require.Equal(t, got.chunks[0].CreateTime, c.CreateTime, data)
		require.Equal(t, got.chunks[0].UsageMetadata != nil, c.UsageMetadata != nil, data)
		for _, p := range c.parts(t) {
			if p.Text != nil && *p.Text == "" && p.FunctionCall == nil {
				require.Len(t, one.Content.Parts, 1, "an empty text stands alone: %s", data)
			}
		}
		if one.FinishReason != nil {
			finishes++
			require.Equal(t, len(datas)-1, i, "the finish is in the last chunk: %s", got.raw)
		}
	}
	require.Equal(t, 1, finishes, got.raw)
}

func traceOf(got *answer) string {
	if len(got.chunks) == 0 {
		return ""
	}
	return got.chunks[0].TraceID
}

func traceOr(got *answer, own string) string {
	if len(got.chunks) == 0 {
		return ""
	}
	return own
}

// eventsOf returns the data of the events of a stream, which has one kind of line ends and nothing but data.
func eventsOf(t *testing.T, raw string) []string {
	t.Helper()
	end := "\r\n\r\n"
	if !strings.Contains(raw, end) {
		end = "\n\n"
	}
	require.True(t, strings.HasSuffix(raw, end), "%q", raw)
	var datas []string
	for event := range strings.SplitSeq(strings.TrimSuffix(raw, end), end) {
		data, ok := strings.CutPrefix(event, "data: ")
		require.True(t, ok && !strings.ContainsAny(data, "\r\n"), "%q", raw)
		datas = append(datas, data)
	}
	return datas
}

func (c chunk) parts(t *testing.T) []part {
	t.Helper()
	var parts []part
	for _, raw := range c.Candidates[0].Content.Parts {
		var p part
		require.NoError(t, json.Unmarshal(raw, &p))
		parts = append(parts, p)
	}
	return parts
}

// shown returns the parts in short: text, (thought), name{args}, with "!" and its signature behind a part that is signed.
func (g answer) shown(t *testing.T) []string {
	t.Helper()
	var shown []string
	for _, c := range g.chunks {
		for i, p := range c.parts(t) {
			text := "<" + string(c.Candidates[0].Content.Parts[i]) + ">"
			switch {
			case p.FunctionCall != nil:
				text = p.FunctionCall.Name + string(p.FunctionCall.Args)
			case p.Text != nil && p.Thought:
				text = "(" + *p.Text + ")"
			case p.Text != nil:
				text = *p.Text
			}
			if p.ThoughtSignature != "" {
				text += "!" + p.ThoughtSignature
			}
			if text != "" {
				shown = append(shown, text)
			}
		}
	}
	return shown
}

// text returns the text of the answer.
func (g answer) text(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, c := range g.chunks {
		for _, p := range c.parts(t) {
			if p.Text != nil && !p.Thought {
				text.WriteString(*p.Text)
			}
		}
	}
	return text.String()
}

// finish returns the finish reason.
func (g answer) finish() string {
	return strings.Trim(string(g.chunks[len(g.chunks)-1].Candidates[0].FinishReason), `"`)
}

// usage returns the usage at the end, as JSON.
func (g answer) usage(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(g.chunks[len(g.chunks)-1].UsageMetadata)
	require.NoError(t, err)
	return string(raw)
}

// requireAccepted sends the request again with the answer, one content for each chunk as the chats of the SDKs keep it,
// and after it the results of its calls or another message of the user. The scripted server checks it as the API does.
func (a ask) requireAccepted(t *testing.T, got *answer) {
	t.Helper()
	contents := a.contents
	if contents == "" {
		contents = hello
	}
	var results []string
	var all strings.Builder
	all.WriteString(contents)
	for _, c := range got.chunks {
		content, err := json.Marshal(map[string]any{"role": "model", "parts": c.Candidates[0].Content.Parts})
		require.NoError(t, err)
		all.WriteString("," + string(content))
		for _, p := range c.parts(t) {
			if p.FunctionCall != nil {
				result, err := json.Marshal(map[string]any{"functionResponse": map[string]any{
					"id": p.FunctionCall.ID, "name": p.FunctionCall.Name, "response": map[string]string{"output": "ok"},
				}})
				require.NoError(t, err)
				results = append(results, string(result))
			}
		}
	}
	if len(results) == 0 {
		results = []string{`{"text":"Go on."}`}
	}
	next := a
	next.contents = all.String() + `,{"role":"user","parts":[` + strings.Join(results, ",") + `]}`
	next.todos, next.options = todo.Static(), nil
	next.turns = []fakellm.Turn{fakellm.Text("Yes.")}
	again := next.exchange(t, false, 0)
	assert.Contains(t, again.raw, "Yes.", "the API refuses the answer in a history")
}

// whole is the stream of chunks, with CRLF.
func whole(chunks []string) string {
	var all strings.Builder
	for _, c := range chunks {
		all.WriteString("data: " + c + "\r\n\r\n")
	}
	return all.String()
}

// raw is an answer of these chunks.
func raw(chunks ...string) fakellm.Turn { return fakellm.Raw(whole(chunks)) }

// of is a chunk with parts. The members follow those of the candidate.
func of(parts string, members ...string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + strings.Join(append([]string{""}, members...), ",") +
		`,"index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},"modelVersion":"m","responseId":"r"}`
}

const stop = `"finishReason":"STOP"`

func says(text string) string { return `{"text":"` + text + `"}` }

// edits is a call of edit_file.
const edits = `{"functionCall":{"name":"edit_file","args":{}}}`

// pauses is a call of todo_pause.
const pauses = `{"functionCall":{"name":"todo_pause","args":{"reason":"` + wiretest.Blocked + `"}}}`

// signed returns a part with a signature.
func signed(part, signature string) string {
	return strings.TrimSuffix(part, "}") + `,"thoughtSignature":"` + signature + `"}`
}
