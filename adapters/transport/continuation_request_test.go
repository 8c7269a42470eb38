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
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

func TestContinuationKeepsHeadersAndAddress(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewHTTPScene(t, wiretest.TwoTodos)
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		for _, home := range []string{s.URL, "http://model.test"} { // clients have gone by either
			u, err := url.Parse(home)
			require.NoError(t, err)
			jar.SetCookies(u, []*http.Cookie{{Name: "session", Value: "1"}})
		}
		s.Client.Jar = jar
		request := s.Request(t, wiretest.ChatBody(w.Stream))
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
		wiretest.RequireChat(t, s.Send(t, request, wiretest.Texts("One.", "Two.")[0], wiretest.Texts("Two.")[0], wiretest.Edit()), "One.\n\nTwo.", "tool_calls")

		seen := s.Wire.Seen()
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
			assert.Equal(t, int64(len(s.Wire.Bodies()[i+1])), r.ContentLength)
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
			server := fakellm.NewServer(t, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
			url, tap := listening(t, server.Handler())
			s := wiretest.Upstream{Server: server, Base: &http.Transport{DisableKeepAlives: true}, URL: url}.NewScene(t, wiretest.TwoTodos)
			request := s.Request(t, wiretest.ChatBody(true))
			change(request)
			wiretest.RequireChat(t, s.Send(t, request), wiretest.Plan, "tool_calls")
			_, second, ok := strings.Cut(tap.take()[1:], "POST ")
			require.True(t, ok)
			head, body, ok := strings.Cut(second, "\r\n\r\n")
			require.True(t, ok)
			assert.Equal(t, s.Wire.Bodies()[1], body)
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
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				s := wiretest.NewScene(t, wiretest.TwoTodos, opts...)
				base := s.Wire.Base
				s.Wire.Base = wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
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
				wiretest.RequireChat(t, s.Ask(t, w, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()), wiretest.Plan, "tool_calls")
				requests := s.Server.Requests()
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

// A redirect may be followed below the transport, each time. If it is followed above, each hop is a call, and only the
// last one is answered: a continuation goes to the last address.
func TestRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	for want, base := range map[int]http.RoundTripper{
		2: &follower{http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}, 1: &http.Transport{DisableKeepAlives: true},
	} {
		wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
			server := fakellm.NewServer(t, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
			moved := 0
			url, _ := listening(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/v1/") {
					moved++
					http.Redirect(rw, r, "/v2/chat/completions", http.StatusTemporaryRedirect)
					return
				}
				server.Handler().ServeHTTP(rw, r)
			}))
			s := wiretest.Upstream{Server: server, Base: base, URL: url}.NewScene(t, wiretest.TwoTodos)
			wiretest.RequireChat(t, s.Ask(t, w), wiretest.Plan, "tool_calls")
			assert.Equal(t, want, moved)
			require.Len(t, server.Requests(), 2)
			assert.Len(t, server.Requests()[1].Messages, 4)
		})
	}
}

// Digests of the caller's own body are dropped for a body with an additional tool.
func TestDeclaredPauseToolDropsTheDigestsOfTheBody(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
	request := s.Request(t, wiretest.ChatBody(true))
	for _, name := range []string{"Content-MD5", "Digest", "Content-Digest"} {
		request.Header.Set(name, "x")
	}
	request.Header.Set("Idempotency-Key", "once")
	wiretest.RequireChat(t, s.Send(t, request, wiretest.Edit()), "", "tool_calls")
	first := s.Wire.Seen()[0].Header
	assert.Equal(t, "once", first.Get("Idempotency-Key"), "it is still the caller's own request")
	for _, name := range []string{"Content-MD5", "Digest", "Content-Digest"} {
		assert.Empty(t, first.Get(name))
	}
}

// A program may change its request or body while a continuation is sent.
func TestContinuationIsIndependentOfTheCallersRequest(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	request := s.Request(t, wiretest.ChatBody(true))
	s.Server.Append(wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
	response, err := transport.New(s.Wire, s.Middleware).RoundTrip(request)
	require.NoError(t, err)
	wiretest.RequireChat(t, wiretest.ReadReply(response, nil), wiretest.Plan, "tool_calls")
	first, second := s.Wire.Seen()[0], s.Wire.Seen()[1]
	second.Header.Set("Authorization", "changed by a base")
	second.URL.Path = "/changed"
	assert.Equal(t, "Bearer no key", request.Header.Get("Authorization"))
	assert.Equal(t, "/v1/chat/completions", request.URL.Path)
	assert.Equal(t, "Bearer no key", first.Header.Get("Authorization"))
}

// A request whose body fails is not continued, also if it fails when a continuation is made from it.
func TestContinuationThatCannotBeMadeCostsNothing(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	request := s.Request(t, wiretest.ChatBody(true))
	getBody := request.GetBody
	s.Server.Append(wiretest.Texts(wiretest.Plan)...)
	response, err := transport.New(s.Wire, s.Middleware).RoundTrip(request)
	require.NoError(t, err)
	request.GetBody = func() (io.ReadCloser, error) { return nil, gone } // theirs to change by now
	got := wiretest.ReadReply(response, nil)
	wiretest.RequireChat(t, got, wiretest.Plan, "stop")
	assert.Len(t, carryontest.Recorded[middleware.Failed](s.Events), 1)
	_, err = getBody()
	require.NoError(t, err)
	assert.False(t, bytes.Contains([]byte(got.Body), []byte("gone")))
}
