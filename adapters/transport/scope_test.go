package transport_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// watchedBody records the calls of its methods.
type watchedBody struct {
	io.Reader

	reads, closes int
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.reads++
	return b.Reader.Read(p)
}

func (b *watchedBody) Close() error {
	b.closes++
	return nil
}

// stalled is an answer that would be continued.
const stalled = `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"Next."},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`

// keeper is an [http.RoundTripper] that records requests and answers. Its answers are ones that would be continued.
type keeper struct {
	requests  []*http.Request
	bodies    []string
	responses []*http.Response
}

func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	k.requests = append(k.requests, r)
	if w, ok := r.Body.(*watchedBody); ok {
		k.bodies = append(k.bodies, "unread") // so that only the transport's own reads are counted
		if err := w.Close(); err != nil {
			return nil, err
		}
	} else if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		k.bodies = append(k.bodies, string(body))
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	response := wiretest.Answered(r, stalled)
	k.responses = append(k.responses, response)
	return response, nil
}

// outside are requests that carryon leaves alone. Those with headers set are recognized without their body.
var outside = []struct {
	name    string
	headers bool // recognized by method, path, header or ctx
	change  func(*http.Request) *http.Request
	body    string
}{
	{"another method", true, func(r *http.Request) *http.Request { r.Method = http.MethodPut; return r }, wiretest.ChatBody(false)},
	{"no method, which is GET", true, func(r *http.Request) *http.Request { r.Method = ""; return r }, wiretest.ChatBody(false)},
	{"another path", true, path("/v1/completions"), wiretest.ChatBody(false)},
	{"a path below", true, path("/v1/chat/completions/chatcmpl-1"), wiretest.ChatBody(false)},
	{"a path that only ends alike", true, path("/v1/xchat/completions"), wiretest.ChatBody(false)},
	{"embeddings", true, path("/v1/embeddings"), wiretest.ChatBody(false)},
	{"a form", true, header("Content-Type", "multipart/form-data; boundary=x"), wiretest.ChatBody(false)},
	{"plain text", true, header("Content-Type", "text/plain"), wiretest.ChatBody(false)},
	{"a type that cannot be read", true, header("Content-Type", "a b c;;=json"), wiretest.ChatBody(false)},
	{"a compressed body", true, header("Content-Encoding", "gzip"), wiretest.ChatBody(false)},
	{"an AWS signature", true, header("Authorization", "AWS4-HMAC-SHA256 Credential=x"), wiretest.ChatBody(false)},
	{"an AWS signature of the newer kind", true, header("Authorization", "AWS4-ECDSA-P256-SHA256 Credential=x"), wiretest.ChatBody(false)},
	{"an AWS signature in the address", true, func(r *http.Request) *http.Request {
		r.URL.RawQuery = "X-Amz-Signature=00ff"
		return r
	}, wiretest.ChatBody(false)},
	{"a length over the limit", true, func(r *http.Request) *http.Request {
		r.ContentLength = transport.MaxBody + 1
		return r
	}, wiretest.ChatBody(false)},

	{"a ctx that suppresses it", true, func(r *http.Request) *http.Request {
		return r.WithContext(continuation.Suppress(r.Context()))
	}, wiretest.ChatBody(false)},
	{"no tools", false, nil, `{"messages":[{"role":"user","content":"Hi."}]}`},
	{"an empty list of tools", false, nil, strings.Replace(wiretest.ChatBody(false), wiretest.ChatTool, "", 1)},
	{"tools that are null", false, nil, strings.Replace(wiretest.ChatBody(false), "["+wiretest.ChatTool+"]", "null", 1)},
	{"several answers", false, nil, wiretest.ChatBody(false, `"n":2`)},
	{"a JSON object", false, nil, wiretest.ChatBody(false, `"response_format":{"type":"json_object"}`)},
	{"a JSON schema", false, nil, wiretest.ChatBody(false, `"response_format":{"type":"json_schema","json_schema":{}}`)},
	{"legacy functions", false, nil, wiretest.ChatBody(false, `"functions":[{"name":"edit_file"}]`)},
	{"a legacy function call", false, nil, wiretest.ChatBody(false, `"function_call":"auto"`)},
	{"no tool allowed", false, nil, wiretest.ChatBody(false, `"tool_choice":"none"`)},
	{"a tool required", false, nil, wiretest.ChatBody(false, `"tool_choice":"required"`)},
	{"some tool required", false, nil, wiretest.ChatBody(false, `"tool_choice":"any"`)},
	{"a named tool", false, nil, wiretest.ChatBody(false, `"tool_choice":{"type":"function","function":{"name":"edit_file"}}`)},
	{"a tool of some required", false, nil, wiretest.ChatBody(false,
		`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}`)},
	{"not JSON", false, nil, `model=test-model`},
	{"JSON that is no object", false, nil, `[` + wiretest.ChatBody(false) + `]`},
	{"JSON with more behind it", false, nil, wiretest.ChatBody(false) + `{}`},
	{"half of the JSON", false, nil, wiretest.ChatBody(false)[:60]},
	{"JSON behind a byte order mark", false, nil, "\ufeff" + wiretest.ChatBody(false)},
	{"a string for the messages' end", false, nil, `{"tools":[` + wiretest.ChatTool + `],"messages":"`},
}

func path(to string) func(*http.Request) *http.Request {
	return func(r *http.Request) *http.Request {
		r.URL = &url.URL{Scheme: "http", Host: "model.test", Path: to}
		return r
	}
}

func header(name, value string) func(*http.Request) *http.Request {
	return func(r *http.Request) *http.Request {
		r.Header.Set(name, value)
		return r
	}
}

func TestRequestsThatAreNotOursAreNotTouched(t *testing.T) {
	t.Parallel()
	for _, tt := range outside {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", tt.body)
			if tt.change != nil {
				request = tt.change(request)
			}
			body := &watchedBody{Reader: strings.NewReader(tt.body)}
			request.Body = body
			getBody, copies := request.GetBody, 0
			request.GetBody = func() (io.ReadCloser, error) { copies++; return getBody() }
			before, header := *request, request.Header.Clone()
			before.GetBody = nil

			base := new(keeper)
			response, err := transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(request)
			require.NoError(t, err)
			defer wiretest.Closed(t, response)
			require.Len(t, base.requests, 1)
			requireSame(t, request, base.requests[0], "the request")
			requireSame(t, base.responses[0], response, "the response")
			requireSame(t, request, response.Request, "the request of the response")
			assert.Zero(t, body.reads, "the body is the base's to read")
			assert.Equal(t, 1, body.closes, "and to close")
			if tt.headers {
				assert.Zero(t, copies)
			}
			after := *request
			after.GetBody = nil
			assert.Equal(t, before, after)
			assert.Equal(t, header, request.Header)
		})
	}
}

// A body without GetBody must be read for the decision. The bytes sent are the same.
func TestRequestsThatAreNotOursAreSentAsTheyAreWithoutACopy(t *testing.T) {
	t.Parallel()
	for _, tt := range outside {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", tt.body)
			if tt.change != nil {
				request = tt.change(request)
			}
			body := &watchedBody{Reader: strings.NewReader(tt.body)}
			request.Body, request.GetBody = body, nil
			length, header := request.ContentLength, request.Header.Clone()

			base := new(keeper)
			response, err := transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(request)
			require.NoError(t, err)
			defer wiretest.Closed(t, response)
			require.Len(t, base.requests, 1)
			sent := base.requests[0]
			requireSame(t, base.responses[0], response, "the response")
			requireSame(t, request, response.Request, "the response is one to the caller's request")
			if tt.headers {
				requireSame(t, request, sent, "the request")
				assert.Zero(t, body.reads)
				return
			}
			assert.Equal(t, tt.body, base.bodies[0])
			assert.Equal(t, 1, body.closes)
			assert.Nil(t, sent.GetBody)
			assert.Equal(t, length, sent.ContentLength)
			assert.Equal(t, header, sent.Header)
			assert.Equal(t, header, request.Header)
			assert.Same(t, body, request.Body, "the caller's own is not changed")
		})
	}
}

// A ctx that suppresses continuations is recognized before the body is read.
func TestSuppressedAndNestedRequestsAreNotBuffered(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(context.Context) context.Context{
		"suppressed": continuation.Suppress, "nested": scope.EnterLayer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := wiretest.NewChatRequest(t, mark(t.Context()), "http://model.test/v1", wiretest.ChatBody(false))
			body := &watchedBody{Reader: strings.NewReader(wiretest.ChatBody(false))}
			request.Body, request.GetBody = body, nil
			base := new(keeper)
			response, err := transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Zero(t, body.reads)
			requireSame(t, request, base.requests[0], "the caller's own request is sent")
		})
	}
}

// Of two layers of any kind, the outer one acts.
func TestNestedLayerStandsAside(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		s.Client.Transport = transport.New(transport.New(s.Wire, s.Middleware), s.Middleware)
		got := s.Ask(t, w, wiretest.Edit().AndText("Done."))
		wiretest.RequireChat(t, got, "Done.", "tool_calls")
		got = s.Ask(t, w, wiretest.Texts("One.", "Two.", "Three.", "Four.")...)
		require.NoError(t, got.Err)
		assert.Equal(t, "One.\n\nTwo.\n\nThree.\n\nFour.", got.Chat(t).Text)
		assert.Len(t, s.Server.Requests(), 5, "not squared")
	})
}

// A call that is out of scope is reported once.
func TestRequestOutOfScopeHasAnOutcome(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		got := s.Send(t, s.Request(t, wiretest.ChatBody(w.Stream, `"tool_choice":"none"`)), wiretest.Texts(wiretest.Plan)...)
		wiretest.RequireChat(t, got, wiretest.Plan, "stop")
		assert.True(t, got.Outcome.Ended)
		assert.Equal(t, reasons.ToolChoice, got.Outcome.Reason)
		assert.Empty(t, got.Outcome.Usage)
	})
}

// Requests with these unusual parts are still in scope.
func TestRequestsInScope(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*http.Request) *http.Request
		more   string
	}{
		"azure":                        {path("/openai/deployments/x/chat/completions"), ""},
		"no content type":              {func(r *http.Request) *http.Request { r.Header.Del("Content-Type"); return r }, ""},
		"a charset":                    {header("Content-Type", "application/json; charset=utf-8"), ""},
		"a charset said wrongly":       {header("Content-Type", "Application/JSON;;"), ""},
		"a kind of JSON":               {header("Content-Type", "application/problem+json"), ""},
		"one answer":                   {nil, `"n":1`},
		"null everywhere":              {nil, `"n":null,"tool_choice":null,"functions":null,"function_call":null,"response_format":null`},
		"tool choice auto":             {nil, `"tool_choice":"auto"`},
		"some tools allowed":           {nil, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`},
		"text format":                  {nil, `"response_format":{"type":"text"}`},
		"no legacy functions":          {nil, `"functions":[]`},
		"another signature":            {header("Authorization", "Bearer AWS4-HMAC-SHA256"), ""},
		"a vendor's member":            {nil, `"vendor":{"tools":[],"n":5,"tool_choice":"none","messages":null}`},
		"content type in another case": {header("Content-Type", "APPLICATION/JSON"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				s := wiretest.NewScene(t, wiretest.TwoTodos)
				body := wiretest.ChatBody(w.Stream)
				if tt.more != "" {
					body = wiretest.ChatBody(w.Stream, tt.more)
				}
				request := s.Request(t, body)
				if tt.change != nil {
					request = tt.change(request)
				}
				got := s.Send(t, request, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
				wiretest.RequireChat(t, got, wiretest.Plan, "tool_calls")
				assert.Len(t, s.Server.Requests(), 2)
			})
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	mw := middleware.New(wiretest.TwoTodos)
	assert.PanicsWithValue(t, "carryon/adapters/transport: nil middleware", func() { transport.New(new(http.Transport), nil) })
	require.NotNil(t, transport.New(nil, mw))

	s := wiretest.NewHTTPScene(t, wiretest.TwoTodos) // over HTTP, as the default transport would
	s.Client.Transport = transport.New(nil, s.Middleware)
	t.Cleanup((&http.Client{}).CloseIdleConnections)
	wiretest.RequireChat(t, s.Ask(t, wiretest.Way{Stream: true}, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()), wiretest.Plan, "tool_calls")
	assert.Empty(t, s.Wire.Seen())
}

// idle is a base that counts how often its idle connections are closed.
type idle struct {
	http.RoundTripper

	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

func TestCloseIdleConnectionsReachesTheBase(t *testing.T) {
	t.Parallel()
	mw := middleware.New(wiretest.TwoTodos)
	base := &idle{RoundTripper: new(keeper)}
	client := &http.Client{Transport: transport.New(transport.New(base, mw), mw)}
	client.CloseIdleConnections()
	assert.Equal(t, 1, base.closed)
	client.Transport = transport.New(new(keeper), mw)
	assert.NotPanics(t, client.CloseIdleConnections, "a base may have none")
}

// A transport passes even an invalid request to its base, which must refuse it.
func TestIncompleteRequestsReachTheBase(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]*http.Request{
		"nothing at all": {}, "no address": {Method: http.MethodPost, Body: io.NopCloser(strings.NewReader("{}"))},
		"no header": {
			Method: http.MethodPost, URL: &url.URL{Path: "/chat/completions"}, Body: io.NopCloser(strings.NewReader("{}")),
		},
		"no body": {Method: http.MethodPost, URL: &url.URL{Path: "/chat/completions"}},
		"a body that is none": {
			Method: http.MethodPost, URL: &url.URL{Path: "/chat/completions"}, Body: http.NoBody,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := new(keeper)
			response, err := transport.New(base, middleware.New(wiretest.TwoTodos)).RoundTrip(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Len(t, base.requests, 1)
		})
	}
}
