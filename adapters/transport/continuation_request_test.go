package transport_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/middleware"
)

// Marks in a body, at the places where a continuation adds to it.
const (
	atMessages = "«messages»"
	atTools    = "«tools»"
	atAllowed  = "«allowed»"
)

// fill replaces the marks by the additions of a continuation, or by nothing for the caller's own body.
func fill(body, messages, tools, allowed string) string {
	return strings.NewReplacer(atMessages, messages, atTools, tools, atAllowed, allowed).Replace(body)
}

// The messages and tools of most bodies below.
const (
	someMessages = `"messages":[{"role":"user","content":"Write the parser."}` + atMessages + `]`
	someTools    = `"tools":[` + editFile + atTools + `]`
)

// Everything in the caller's body keeps its spelling and its place.
func TestContinuationSendsTheCallersBytesExtended(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string // with marks
		next string // that of the continuation, if it differs in more
	}{
		"plain":           {`{"model":"m",` + someMessages + `,` + someTools + `}`, ""},
		"tools first":     {`{` + someTools + `,"model":"m",` + someMessages + `}`, ""},
		"numbers":         {`{"temperature":1.0e2,"seed":12345678901234567890,"top_p":-0.10E-02,` + someMessages + `,` + someTools + `}`, ""},
		"unknown members": {`{"vendor":{"messages":[1],"tools":[2],"store":true,"prediction":3},` + someMessages + `,` + someTools + `,"x":[]}`, ""},
		"escapes":         {`{"user":"j\u00fc\/\u2028","me\u0073sages":[{"role":"user","content":"\ud83d\ude00"}` + atMessages + `],"\u0074ools":[` + editFile + atTools + `]}`, ""},
		"white space": {
			"\r\n\t{ \"messages\" : [ {\"role\" : \"user\", \"content\" : \"Hi.\"}" + atMessages + " \n] ,\n \"tools\" : [ " + editFile + atTools + "\n\t] }\n", "",
		},
		"twice": {
			`{"model":"a","model":"b",` + fill(someMessages, "", "", "") + `,` + someMessages + `,` + fill(someTools, "", "", "") + `,` + someTools + `}`, "",
		},
		"what must not be mistaken": {
			`{"a":"\"messages\":[]","b":"]}","c":["}",{"d":"\\"}],` + someMessages + `,` + someTools + `}`, "",
		},
		"store": {
			`{"store":true,` + someMessages + `,` + someTools + `}`, `{"store":false,` + someMessages + `,` + someTools + `}`,
		},
		"store, wide": {
			`{ "store" : true , ` + someMessages + `,` + someTools + `}`, `{ "store" : false , ` + someMessages + `,` + someTools + `}`,
		},
		"store with metadata": {
			`{"metadata":{"a":"b"},"store":true,` + someMessages + `,` + someTools + `}`, `{"store":false,` + someMessages + `,` + someTools + `}`,
		},
		"store, and metadata last": {
			`{"store":true,` + someMessages + `,` + someTools + `,"prediction":{},"metadata":{}}`, `{"store":false,` + someMessages + `,` + someTools + `}`,
		},
		"metadata that is not stored": {`{"metadata":{"a":"b"},"store":false,` + someMessages + `,` + someTools + `}`, ""},
		"metadata alone":              {`{"metadata":{"a":"b"},` + someMessages + `,` + someTools + `}`, ""},
		"stream options": {
			`{"stream_options":{"include_usage":true},"parallel_tool_calls":false,"logprobs":true,"top_logprobs":2,` + someMessages + `,` + someTools + `}`, "",
		},
		"not stored":       {`{"store":false,` + someMessages + `,` + someTools + `}`, ""},
		"store of null":    {`{"store":null,` + someMessages + `,` + someTools + `}`, ""},
		"prediction first": {`{"prediction":{"content":"x, }"},` + someMessages + `,` + someTools + `}`, `{` + someMessages + `,` + someTools + `}`},
		"prediction last":  {`{` + someMessages + `,` + someTools + `,"prediction":null}`, `{` + someMessages + `,` + someTools + `}`},
		"prediction between": {
			`{` + someMessages + `,"prediction":[1,{"a":2}],` + someTools + `}`, `{` + someMessages + `,` + someTools + `}`,
		},
		"prediction twice": {
			`{` + someMessages + `,"prediction":1,"prediction":2,` + someTools + `,"prediction":3,"prediction":4}`,
			`{` + someMessages + `,` + someTools + `}`,
		},
		"tool choice auto": {`{"tool_choice":"auto",` + someMessages + `,` + someTools + `}`, ""},
		"allowed tools": {
			`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",` +
				`"function":{"name":"edit_file"}}` + atAllowed + `]}},` + someMessages + `,` + someTools + `}`, "",
		},
		"allowed tools, other order": {
			`{` + someTools + `,"tool_choice":{"allowed_tools":{"tools":[{"type":"function","function":{"name":"edit_file"}}` +
				atAllowed + `],"mode":"auto"},"x":{"tools":[]},"type":"allowed_tools"},` + someMessages + `}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newQuietScene(t, twoTodos)
			own := fill(tt.body, "", "", "")
			got := s.send(t, s.request(t, own), texts("Nächstens:\t\"<parser>\"\u2028")[0], edit())
			require.NoError(t, got.Err)
			bodies := s.wire.bodies()
			require.Len(t, bodies, 2)
			assert.Equal(t, own, bodies[0])

			prompt := s.events.Started()[0].Prompt
			messages := `,{"role":"assistant","content":"Nächstens:\t\"<parser>\""},{"role":"user","content":` + quoted(t, prompt) + `}`
			if strings.Contains(tt.body, `"messages":[`+atMessages) {
				messages = messages[1:]
			}
			allowed := `,{"function":{"name":"todo_pause"},"type":"function"}`
			if tt.next == "" {
				tt.next = tt.body
			}
			assert.Equal(t, fill(tt.next, messages, ","+pauseTool(t, false), allowed), bodies[1])
		})
	}
}

// In an empty list of allowed tools, todo_pause becomes the only one.
func TestEmptyListOfAllowedToolsIsExtended(t *testing.T) {
	t.Parallel()
	s := newQuietScene(t, twoTodos)
	const body = `{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[ ` + atAllowed + `]}},` +
		someMessages + `,` + someTools + `}`
	require.NoError(t, s.send(t, s.request(t, fill(body, "", "", "")), texts(plan)[0], edit()).Err)
	assert.Contains(t, s.wire.bodies()[1], `"tools":[{"function":{"name":"todo_pause"},"type":"function"} ]}}`)
}

func TestContinuationKeepsHeadersAndAddress(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		s := newScene(t, twoTodos)
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		for _, home := range []string{s.url, "http://model.test"} { // clients have gone by either
			u, err := url.Parse(home)
			require.NoError(t, err)
			jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: "1"}})
		}
		s.client.Jar = jar
		request := s.request(t, bodyOf(w.stream))
		request.URL.RawQuery = "api-version=2024&x=%20"
		request.URL.User = url.UserPassword("me", "secret")
		request.Host = "model.test"
		for name, value := range map[string]string{
			"Api-Key": "k", "X-Stainless-Retry-Count": "0", "OpenAI-Organization": "o", "Idempotency-Key": "once", "Content-MD5": "x",
			"Digest": "x", "Content-Digest": "x", "User-Agent": "agent/1", "Accept": "text/event-stream", "Accept-Language": "de",
		} {
			request.Header.Set(name, value)
		}
		request.Header["X-Lower"] = []string{"a", "b"}
		requireReading(t, s.send(t, request, texts("One.", "Two.")[0], texts("Two.")[0], edit()), "One.\n\nTwo.", "tool_calls")

		seen := s.wire.seen()
		require.Len(t, seen, 3)
		want := seen[0].Header.Clone()
		assert.Equal(t, "session=1", want.Get("Cookie"))
		for _, dropped := range []string{"Idempotency-Key", "Content-Md5", "Digest", "Content-Digest"} {
			assert.NotEmpty(t, want.Get(dropped))
			want.Del(dropped)
		}
		for i, r := range seen[1:] {
			assert.Equal(t, want, r.Header)
			assert.Equal(t, seen[0].URL.String(), r.URL.String())
			assert.Equal(t, "model.test", r.Host)
			assert.Equal(t, http.MethodPost, r.Method)
			assert.Equal(t, int64(len(s.wire.bodies()[i+1])), r.ContentLength)
		}
	})
}

// A continuation's body has a length, however the caller's was sent.
func TestContinuationHasALength(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"of unknown length": func(r *http.Request) { r.ContentLength, r.GetBody = -1, nil },
		"chunked":           func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
		"told by a header":  func(r *http.Request) { r.Header.Set("Content-Length", "1") },
		"expecting":         func(r *http.Request) { r.Header.Set("Expect", "100-continue") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakellm.NewServer(t, texts(plan)[0], edit())
			url, tap := listening(t, server.Handler())
			s := sceneOf(t, server, &http.Transport{DisableKeepAlives: true}, url, twoTodos)
			request := s.request(t, bodyOf(true))
			change(request)
			requireReading(t, s.send(t, request), plan, "tool_calls")
			_, second, ok := strings.Cut(tap.take()[1:], "POST ")
			require.True(t, ok)
			head, body, ok := strings.Cut(second, "\r\n\r\n")
			require.True(t, ok)
			assert.Equal(t, s.wire.bodies()[1], body)
			assert.Equal(t, 1, strings.Count(head, "Content-Length:"))
			assert.NotContains(t, head, "Transfer-Encoding")
			assert.NotContains(t, head, "Expect")
			assert.True(t, strings.HasSuffix(body, "}"))
		})
	}
}

// A base that needs the body again, for a connection that was lost or a redirect, gets it.
func TestBodyOfAContinuationCanBeHadAgain(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]middleware.Option{
		"continuations only": nil, "always": {middleware.WithPauseTool(middleware.PauseToolAlways)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothWays(t, func(t *testing.T, w way) {
				s := newQuietScene(t, twoTodos, opts...)
				base := s.wire.base
				s.wire.base = roundTrip(func(r *http.Request) (*http.Response, error) {
					if _, err := io.CopyN(io.Discard, r.Body, 5); err != nil { // the connection is lost
						return nil, err
					}
					if err := r.Body.Close(); err != nil {
						return nil, err
					}
					again := r.Clone(r.Context())
					var err error
					again.Body, err = r.GetBody()
					if err != nil {
						return nil, err
					}
					return base.RoundTrip(again)
				})
				requireReading(t, s.ask(t, w, texts(plan)[0], edit()), plan, "tool_calls")
				requests := s.server.Requests()
				require.Len(t, requests, 2)
				for _, r := range requests {
					assert.Equal(t, "Write and test the parser.", r.Messages[1].Content)
				}
				assert.Len(t, requests[1].Messages, 4)
			})
		})
	}
}

// follower is a base that follows redirects, as some HTTP clients do.
type follower struct{ client http.Client }

func (f *follower) RoundTrip(r *http.Request) (*http.Response, error) { return f.client.Do(r) }

func TestRedirectBelowTheTransportIsFollowed(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		server := fakellm.NewServer(t, texts(plan)[0], edit())
		moved := 0
		url, _ := listening(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1/") {
				moved++
				http.Redirect(rw, r, "/v2/chat/completions", http.StatusTemporaryRedirect)
				return
			}
			server.Handler().ServeHTTP(rw, r)
		}))
		base := &follower{http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
		s := sceneOf(t, server, base, url, twoTodos)
		requireReading(t, s.ask(t, w), plan, "tool_calls")
		assert.Equal(t, 2, moved)
		assert.Len(t, server.Requests()[1].Messages, 4)
	})
}

// If redirects are followed above the transport, each hop is a call, and only the last one is answered. A continuation
// goes to the last address.
func TestRedirectAboveTheTransportIsNotRepeated(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		server := fakellm.NewServer(t, texts(plan)[0], edit())
		moved := 0
		url, _ := listening(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1/") {
				moved++
				http.Redirect(rw, r, "/v2/chat/completions", http.StatusTemporaryRedirect)
				return
			}
			server.Handler().ServeHTTP(rw, r)
		}))
		s := sceneOf(t, server, &http.Transport{DisableKeepAlives: true}, url, twoTodos)
		requireReading(t, s.ask(t, w), plan, "tool_calls")
		assert.Equal(t, 1, moved)
		assert.Len(t, server.Requests(), 2)
	})
}

func TestReasoningIsSentBackUnderTheNamesTheHistoryUses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ history, want string }{
		"none":             {`{"role":"assistant","content":"x"}`, ``},
		"null":             {`{"role":"assistant","content":"x","reasoning_content":null,"reasoning":[]}`, ``},
		"reasoning":        {`{"role":"assistant","content":"x","reasoning":"y"}`, `,"reasoning":"First \"the\" parser."`},
		"content":          {`{"role":"assistant","content":"x","reasoning_content":""}`, `,"reasoning_content":"First \"the\" parser."`},
		"both":             {`{"role":"assistant","content":"x","reasoning":"y","reasoning_content":"z"}`, `,"reasoning_content":"First \"the\" parser.","reasoning":"First \"the\" parser."`},
		"in several turns": {`{"role":"assistant","reasoning_content":"z"},{"role":"assistant","reasoning":"y","reasoning_content":"z"}`, `,"reasoning_content":"First \"the\" parser.","reasoning":"First \"the\" parser."`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothWays(t, func(t *testing.T, w way) {
				s := newQuietScene(t, twoTodos)
				body := strings.Replace(bodyOf(w.stream), `"messages":[`, `"messages":[`+tt.history+`,`, 1)
				got := s.send(t, s.request(t, body), fakellm.Text(plan).Reasoning(`First "the" parser.`), edit())
				require.NoError(t, got.Err)
				assert.Contains(t, s.wire.bodies()[1],
					`{"role":"assistant","content":`+quoted(t, plan)+tt.want+`},{"role":"user","content":`)
			})
		})
	}
}

func TestRejectedPauseIsAnsweredAsAToolResult(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		s := newQuietScene(t, twoTodos)
		got := s.ask(t, w, texts(plan)[0], fakellm.Pause("stuck").ID("call_7"), edit())
		requireReading(t, got, plan, "tool_calls")
		bodies := s.wire.bodies()
		require.Len(t, bodies, 3)
		rejected := s.events.Rejected()
		require.Len(t, rejected, 1)
		result := rejected[0].Err.Error() + "\n\nThe task that is still to be done:\n'Write the parser'"
		added := `,{"role":"assistant","content":` + quoted(t, plan) + `,"tool_calls":[{"id":"call_7","type":"function",` +
			`"function":{"name":"todo_pause","arguments":"{\"reason\":\"stuck\"}"}}]},` +
			`{"role":"tool","tool_call_id":"call_7","content":` + quoted(t, result) + `}]`
		assert.Contains(t, bodies[2], `{"role":"user","content":"Write and test the parser."}`+added)
		assert.Contains(t, bodies[2], ","+pauseTool(t, false)+"]")
		assert.NotContains(t, bodies[2], continuation.PromptPreamble, "there is no prompt")
	})
}

func TestStrictToolsGetAStrictPause(t *testing.T) {
	t.Parallel()
	const strictTool = `{"type":"function","function":{"name":"edit_file","strict":true,"parameters":{}}}`
	for tools, strict := range map[string]bool{
		strictTool: true, strictTool + "," + editFile: false, editFile: false,
		strings.Replace(strictTool, "true", "false", 1): false, strings.Replace(strictTool, "true", `"true"`, 1): false,
	} {
		s := newQuietScene(t, twoTodos)
		body := strings.Replace(bodyOf(true), editFile, tools, 1)
		require.NoError(t, s.send(t, s.request(t, body), texts(plan)[0], edit()).Err)
		assert.Contains(t, s.wire.bodies()[1], tools+","+pauseTool(t, strict)+"]", tools)
	}
}

func TestPauseToolIsDeclaredAlways(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		s := newQuietScene(t, twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		const choice = `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",` +
			`"function":{"name":"edit_file"}}]}}`
		body := bodyOf(w.stream, choice, `"store":true`, `"prediction":{}`)
		got := s.send(t, s.request(t, body), texts("One.")[0], texts("Two.")[0], edit())
		requireReading(t, got, "One.\n\nTwo.", "tool_calls")
		bodies := s.wire.bodies()
		require.Len(t, bodies, 3)
		declared := strings.NewReplacer(editFile, editFile+","+pauseTool(t, false),
			`"edit_file"}}]}}`, `"edit_file"}},{"function":{"name":"todo_pause"},"type":"function"}]}}`).Replace(body)
		assert.Equal(t, declared, bodies[0])
		assert.Equal(t, int64(len(declared)), s.wire.seen()[0].ContentLength)
		tools := func(body string) string { return body[strings.LastIndex(body, `"tools":`):] }
		for _, next := range bodies[1:] {
			assert.Equal(t, tools(declared), tools(next), "the tools are the same in every request")
		}
	})
}

// Digests of the caller's own body are dropped for a body with an additional tool.
func TestDeclaredPauseToolDropsTheDigestsOfTheBody(t *testing.T) {
	t.Parallel()
	s := newQuietScene(t, twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
	request := s.request(t, bodyOf(true))
	for _, name := range []string{"Content-MD5", "Digest", "Content-Digest"} {
		request.Header.Set(name, "x")
	}
	request.Header.Set("Idempotency-Key", "once")
	requireReading(t, s.send(t, request, edit()), "", "tool_calls")
	first := s.wire.seen()[0].Header
	assert.Equal(t, "once", first.Get("Idempotency-Key"), "it is still the caller's own request")
	for _, name := range []string{"Content-MD5", "Digest", "Content-Digest"} {
		assert.Empty(t, first.Get(name))
	}
}

// If carryon has declared todo_pause, the caller does not see a pause in the caller's own turn.
func TestDeclaredPauseToolPausesTheFirstTurn(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		s := newQuietScene(t, twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
		got := s.ask(t, w, fakellm.Text("I can't.").AndCall("todo_pause", `{"reason":"`+blocked+`"}`))
		requireReading(t, got, "I can't.\n\nTask paused: "+blocked, "stop")
		assert.Empty(t, got.reading(t).Calls)
		assert.NotContains(t, got.Body, "todo_pause")
		assert.Len(t, s.server.Requests(), 1)
	})
}

func TestCallersOwnTodoPauseIsTheirs(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		for _, own := range []string{
			`{"type":"function","function":{"name":"TODO_Pause"}}`, `{"type":"custom","custom":{"name":"todo_pause"}}`,
		} {
			s := newQuietScene(t, twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
			body := strings.Replace(bodyOf(w.stream), editFile, editFile+","+own, 1)
			got := s.send(t, s.request(t, body), texts(plan)[0], fakellm.Pause(blocked))
			requireReading(t, got, plan, "tool_calls")
			assert.Len(t, got.reading(t).Calls, 1)
			for _, sent := range s.wire.bodies() {
				assert.Equal(t, 1, strings.Count(strings.ToLower(sent), `"todo_pause"`))
			}
		}
	})
}

// A program may change its request or body while a continuation is sent.
func TestContinuationIsIndependentOfTheCallersRequest(t *testing.T) {
	t.Parallel()
	s := newQuietScene(t, twoTodos)
	request := s.request(t, bodyOf(true))
	s.server.Append(texts(plan)[0], edit())
	response, err := transport.New(s.wire, s.mw).RoundTrip(request)
	require.NoError(t, err)
	requireReading(t, readReply(response, nil), plan, "tool_calls")
	first, second := s.wire.seen()[0], s.wire.seen()[1]
	second.Header.Set("Authorization", "changed by a base")
	second.URL.Path = "/changed"
	assert.Equal(t, "Bearer no key", request.Header.Get("Authorization"))
	assert.Equal(t, "/v1/chat/completions", request.URL.Path)
	assert.Equal(t, "Bearer no key", first.Header.Get("Authorization"))
}

// carryon adds no tool to a request without tools, because the provider refuses tools for some models.
func TestToollessCallGetsNoTool(t *testing.T) {
	t.Parallel()
	s := newQuietScene(t, twoTodos, middleware.WithToollessCalls())
	const body = `{"messages":[{"role":"user","content":"Write."}],"stream":true}`
	got := s.send(t, s.request(t, body), texts(plan)[0], texts("Done.\ntodo_pause('" + blocked + "')")[0])
	require.NoError(t, got.Err)
	assert.Equal(t, plan+"\n\nDone.\n\nTask paused: "+blocked, got.reading(t).Text)
	assert.NotContains(t, s.wire.bodies()[1], `"tools"`)
}

// A request whose body fails is not continued, also if it fails when a continuation is made from it.
func TestContinuationThatCannotBeMadeCostsNothing(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	s := newQuietScene(t, twoTodos)
	request := s.request(t, bodyOf(true))
	getBody := request.GetBody
	s.server.Append(texts(plan)...)
	response, err := transport.New(s.wire, s.mw).RoundTrip(request)
	require.NoError(t, err)
	request.GetBody = func() (io.ReadCloser, error) { return nil, gone } // theirs to change by now
	got := readReply(response, nil)
	requireReading(t, got, plan, "stop")
	assert.Len(t, s.events.Failures(), 1)
	_, err = getBody()
	require.NoError(t, err)
	assert.False(t, bytes.Contains([]byte(got.Body), []byte("gone")))
}
