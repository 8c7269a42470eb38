package proxy

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
)

// echo answers with the exact bytes of the request, except for the host.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Upstream", "here")
	w.Header().Set("Date", "Tue, 01 Jan 2030 00:00:00 GMT")
	w.WriteHeader(http.StatusTeapot)
	_, _ = fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
	_ = r.Header.Write(w)
	_, _ = fmt.Fprintf(w, "length %d\n\n", r.ContentLength)
	_, _ = io.Copy(w, r.Body)
}

func TestWhatIsNotForCarryonPassesUntouched(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, echo)
	toolless := `{"model":"m" , "messages":[{"role":"user","content":"Hello é"}],"x":1e2}`
	tests := map[string]struct{ method, path, body string }{
		"models":                {http.MethodGet, "/models", ""},
		"a model":               {http.MethodDelete, "/models/ft:gpt?force", ""},
		"embeddings":            {http.MethodPost, "/embeddings", `{"input":"tea"}`},
		"the base URL":          {http.MethodGet, "/", ""},
		"escaped path":          {http.MethodGet, "/files/a%2Fb%20c/content", ""},
		"untidy path":           {http.MethodPost, "//a/../b/./c//", "x"},
		"query":                 {http.MethodGet, "/files?a=1&b=%20c&b", ""},
		"odd query":             {http.MethodGet, "/files?a=1;b=2&%zz", ""},
		"head":                  {http.MethodHead, "/models", ""},
		"another method":        {http.MethodGet, "/chat/completions", ""},
		"no tools":              {http.MethodPost, "/chat/completions", toolless},
		"not JSON":              {http.MethodPost, "/chat/completions", `{"messages":[`},
		"no body":               {http.MethodPost, "/chat/completions", ""},
		"nothing to go on with": {http.MethodPost, "/chat/completions", conversation{stream: true}.body()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			send := func(base string) reply {
				r := newRequest(t, test.method, base+test.path, test.body)
				r.Header.Set("Accept-Encoding", "identity")
				r.Header.Set("X-Request-Id", "42")
				if strings.HasSuffix(test.path, "/chat/completions") {
					r.Header.Del("Accept-Encoding")
				}
				return s.send(r)
			}
			want, got := send(s.direct), send(s.base)
			require.NoError(t, want.err)
			assert.Equal(t, want, got)
		})
	}
}

func TestHugeRequestPassesUntouched(t *testing.T) {
	t.Parallel()
	const size = transport.MaxBody + 1
	s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		_, _ = fmt.Fprint(w, n)
	})
	r := newRequest(t, http.MethodPost, s.base+"/chat/completions", "")
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(io.LimitReader(endless{}, size)), size, nil
	got := s.send(r)
	require.NoError(t, got.err)
	assert.Equal(t, strconv.Itoa(size), got.body)
	s.served.wait()
	assert.Equal(t, counts{Requests: 1}, s.report(t).Counts)
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Most clients ask for a compressed answer, which carryon could not read.
func TestClientThatAsksForCompressionIsContinued(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		script := carryontest.NewServer(t, carryontest.Text(plan), edit())
		s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", "gzip")
				zip := gzip.NewWriter(w)
				defer zip.Close()
				w = zipWriter{w, zip}
			}
			script.Handler().ServeHTTP(w, r)
		})
		r := post(t, s.base, conversation{stream: stream, header: map[string]string{"Accept-Encoding": "gzip, br"}})
		got := s.send(r)
		require.NoError(t, got.err)
		assert.Empty(t, got.header.Get("Content-Encoding"))
		assert.Contains(t, got.body, "edit_file")
	})
}

type zipWriter struct {
	http.ResponseWriter

	zip *gzip.Writer
}

func (w zipWriter) Write(p []byte) (int, error) { return w.zip.Write(p) }

// Answers from other paths may be compressed.
func TestCompressionPassesElsewhere(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, echo)
	r := newRequest(t, http.MethodGet, s.base+"/models", "")
	r.Header.Set("Accept-Encoding", "br")
	assert.Contains(t, s.send(r).body, "Accept-Encoding: br\r\n")
}

func TestKeysOfTheUpstreamsQueryAreAdded(t *testing.T) {
	t.Parallel()
	upstream := sceneOf(t, echo)
	s := sceneAt(t, upstream.direct+"/deployments/tea/?api-version=2&key=k")
	got := s.send(newRequest(t, http.MethodGet, s.base+"/models?limit=1", ""))
	assert.Contains(t, got.body, "GET /v1/deployments/tea/models?api-version=2&key=k&limit=1\n")
}

func TestFirstByteIsFlushedAtOnce(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	s := newScene(t)
	s.upstream.Append(carryontest.Text("Next, the parser.").GateAfter(2, open), edit())
	response, err := s.client.Do(post(t, s.base, conversation{stream: true}))
	require.NoError(t, err)
	defer response.Body.Close()

	first := make([]byte, 1<<10)
	var got string
	for !strings.Contains(got, `"Next, "`) {
		n, err := response.Body.Read(first)
		require.NoError(t, err)
		got += string(first[:n])
	}
	close(open)
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "edit_file")
}

// This also holds for answers that are not streams of events.
func TestFirstByteOfAFileIsFlushedAtOnce(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	s := sceneOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "1")
		_ = http.NewResponseController(w).Flush()
		<-open
		_, _ = io.WriteString(w, "2")
	})
	response, err := s.client.Do(newRequest(t, http.MethodGet, s.base+"/files/1/content", ""))
	require.NoError(t, err)
	defer response.Body.Close()
	first := make([]byte, 1)
	_, err = io.ReadFull(response.Body, first)
	require.NoError(t, err)
	close(open)
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "12", string(first)+string(rest))
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	got := s.get(t, "/healthz")
	require.NoError(t, got.err)
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, "ok\n", got.body)
	assert.Empty(t, s.report(t).Entries)
}

// A program may add /v1 to its base URL, or expect it there, or both.
func TestPathsWithAndWithoutVersion(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) })
	root := strings.TrimSuffix(s.base, prefix)
	for path, want := range map[string]string{
		"/chat/completions":            "/v1/chat/completions",
		"/v1/chat/completions":         "/v1/chat/completions",
		"/v1/v1/chat/completions":      "/v1/chat/completions",
		"/responses":                   "/v1/responses",
		"/responses/resp_1/cancel":     "/v1/responses/resp_1/cancel",
		"/v1/v1/responses":             "/v1/responses",
		"/messages?beta=true":          "/v1/messages?beta=true",
		"/messages/count_tokens":       "/v1/messages/count_tokens",
		"/v1/v1/messages/count_tokens": "/v1/messages/count_tokens",
		"/models":                      "/v1/models",
		"/v1/v1/models/a%2Fb":          "/v1/models/a%2Fb",
		"/models/a%2Fb":                "/v1/models/a%2Fb",
		"/v1":                          "/v1/",
		"/v1/v1":                       "/v1/v1",
		"/v1/v1/files":                 "/v1/v1/files",
		"/v1/v1beta/models":            "/v1/v1beta/models",
		"/v1/v1/v1/models":             "/v1/v1/v1/models",
	} {
		got := s.send(newRequest(t, http.MethodPost, root+path, "{}"))
		require.NoError(t, got.err)
		assert.Equal(t, want, got.body, path)
	}
}

// The paths of Google's API keep their own version, with and without a /v1 before it.
func TestPathsOfGoogle(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) }))
	t.Cleanup(upstream.Close)
	s := sceneAt(t, upstream.URL)
	root := strings.TrimSuffix(s.base, prefix)
	for _, path := range []string{
		"/v1beta/models/gemini-3-pro:generateContent?key=k", "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", "/v1/models/m:generateContent",
		"/v1/models/m:countTokens", "/v1beta1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
		"/v1/projects/p/locations/l/endpoints/e:generateContent", "/v1internal:streamGenerateContent?alt=sse", "/v1internal:loadCodeAssist",
		"/v1beta/models?pageSize=50", "/v1alpha/cachedContents", "/v1beta/files/a%2Fb",
	} {
		for _, base := range []string{root, root + prefix} {
			got := s.send(newRequest(t, http.MethodPost, base+path, "{}"))
			require.NoError(t, got.err)
			assert.Equal(t, path, got.body, base)
		}
	}
	for path, want := range map[string]string{"/v1/models": "/models", "/v1/models/ft:gpt": "/models/ft:gpt", "/v1/chat/completions": "/chat/completions"} {
		got := s.send(newRequest(t, http.MethodPost, root+path, "{}"))
		require.NoError(t, got.err)
		assert.Equal(t, want, got.body)
	}
}

// A stall on Google's API is continued through the proxy, with a key in the query or a Google login, and the page has
// neither.
func TestGeminiThroughTheProxy(t *testing.T) {
	t.Parallel()
	todos := func(status string) string {
		return `{"role":"model","parts":[{"functionCall":{"name":"write_todos","args":{"todos":[{"description":"Write the lexer","status":"` + status + `"}]}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"write_todos","response":{"output":"ok"}}}]}`
	}
	inner := `{"contents":[{"role":"user","parts":[{"text":"Go."}]},` + todos("pending") + `],"tools":[{"functionDeclarations":[{"name":"write_todos"}]}]}`
	for name, request := range map[string]struct{ path, body string }{
		"a key":          {"/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=AIzaSecretKey", inner},
		"a Google login": {"/v1internal:streamGenerateContent?alt=sse", `{"model":"gemini-2.5-pro","project":"p","request":` + inner + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.upstream.Append(carryontest.Text(plan), carryontest.Call("edit_file", "{}"))
			got := s.send(newRequest(t, http.MethodPost, strings.TrimSuffix(s.base, prefix)+request.path, request.body))
			require.NoError(t, got.err)
			assert.Equal(t, http.StatusOK, got.status)
			assert.Contains(t, got.body, "edit_file")
			assert.Len(t, s.upstream.Requests(), 2)
			report := s.report(t)
			assert.Equal(t, "tool_calls", report.Entries[0].Outcome.Code)
			assert.NotContains(t, s.get(t, pagePath).body, "AIzaSecretKey")
			assert.NotContains(t, s.logs.String(), "AIzaSecretKey")
		})
	}
}

func TestWrongPathsAreExplained(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	root := strings.TrimSuffix(s.base, prefix)
	for request, path := range map[string]string{
		http.MethodPost + " /api/chat/completions": "/api/chat/completions",
		http.MethodGet + " /":                      "/",
		http.MethodGet + " /favicon.ico":           "/favicon.ico",
		http.MethodGet + " /v12/models":            "/v12/models",
		http.MethodPost + " /healthz":              "/healthz",
		http.MethodPost + " " + pagePath:           pagePath,
	} {
		method, _, _ := strings.Cut(request, " ")
		got := s.send(newRequest(t, method, root+path, ""))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusNotFound, got.status, request)
		assert.JSONEq(t, `{"error":{"type":"proxy_error","message":"carryon: no such path: `+request+
			`; the base URL for clients is `+s.base+`"}}`, got.body)
	}
	assert.Contains(t, s.logs.String(), "a client asked for /api/chat/completions: its base URL should be "+s.base)
	assert.NotContains(t, s.logs.String(), "favicon")
}
