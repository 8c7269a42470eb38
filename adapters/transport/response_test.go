package transport_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// protocols are the versions of HTTP that answers are read over.
var protocols = map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true}

// serving starts a server for a handler, and returns a client of it and its address.
func serving(t *testing.T, handler http.Handler, http2 bool) (http.RoundTripper, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	client := server.Client()
	t.Cleanup(client.CloseIdleConnections)
	return client.Transport, server.URL + "/v1"
}

// full is everything that a program can see of a response.
type full struct {
	Status, Proto    string
	StatusCode       int
	ProtoMajor       int
	Header, Trailer  http.Header
	Length           int64
	TransferEncoding []string
	Close            bool
	Uncompressed     bool
	TLS              bool
	Body             string
	Err              string
}

// fully sends a request and reads all of the response.
func fully(t *testing.T, rt http.RoundTripper, request *http.Request) full {
	t.Helper()
	r, err := rt.RoundTrip(request)
	require.NoError(t, err)
	requireSame(t, request, r.Request, "the response is one to the caller's request")
	body, err := io.ReadAll(r.Body)
	require.NoError(t, r.Body.Close())
	return full{
		r.Status, r.Proto, r.StatusCode, r.ProtoMajor, r.Header, r.Trailer, r.ContentLength, r.TransferEncoding, r.Close,
		r.Uncompressed, r.TLS != nil, string(body), fmt.Sprint(err),
	}
}

// forgetLength removes the length from a header, and other values that depend on the body's bytes. carryon removes them
// from streams that may be continued.
func (f *full) forgetLength() {
	if f.Header.Get("Content-Type") == "text/event-stream" {
		f.Length = -1
		for _, name := range []string{"Content-Length", "Etag", "Digest"} {
			f.Header.Del(name)
		}
	}
}

// strange are answers that are never continued, whatever the model's text.
var strange = map[string]http.HandlerFunc{
	"a refusal":             respond(http.StatusUnauthorized, "application/json", `{"error":{"message":"no"}}`),
	"a refusal to a stream": respond(http.StatusTooManyRequests, "text/event-stream", "data: "+wiretest.SaysError+"\n\n"),
	"a page of a proxy":     respond(http.StatusBadGateway, "text/html", "<html>"),
	"another success":       respond(http.StatusAccepted, "application/json", stalled),
	"a part":                respond(http.StatusPartialContent, "text/event-stream", "data: "+wiretest.SaysText+"\n\ndata: "+wiretest.SaysFinish+"\n\n"),
	"nothing":               respond(http.StatusNoContent, "", ""),
	"a page":                respond(http.StatusOK, "text/html; charset=utf-8", "<html>"+stalled),
	"text":                  respond(http.StatusOK, "text/plain", stalled),
	"an unreadable type":    respond(http.StatusOK, "a b c;;", stalled),
	"an error":              respond(http.StatusOK, "application/json", wiretest.SaysError),
	"an error in a stream":  respond(http.StatusOK, "text/event-stream", "data: "+wiretest.SaysError+"\n\n"),
	"broken JSON":           respond(http.StatusOK, "application/json", stalled[:len(stalled)-5]),
	"JSON and more":         respond(http.StatusOK, "application/json", stalled+"x"),
	"two answers":           respond(http.StatusOK, "application/json", stalled+stalled),
	"JSON of another kind":  respond(http.StatusOK, "application/json", "[1]"),
	"an empty body":         respond(http.StatusOK, "application/json", ""),
	"an empty stream":       respond(http.StatusOK, "text/event-stream", ""),
	"an empty object":       respond(http.StatusOK, "application/json", "{}"),
	"white space":           respond(http.StatusOK, "application/json", " \r\n"),
	"a broken stream":       respond(http.StatusOK, "text/event-stream", "data: "+wiretest.SaysText+"\n\ndata: {\"id\n\ndata: "+wiretest.SaysFinish+"\n\n"),
	"compressed JSON":       respond(http.StatusOK, "application/json", compressed(stalled), "Content-Encoding", "gzip"),
	"a compressed stream":   respond(http.StatusOK, "text/event-stream", compressed("data: "+wiretest.SaysFinish+"\n\n"), "Content-Encoding", "gzip"),
	"more encodings":        respond(http.StatusOK, "application/json", compressed(stalled), "Content-Encoding", "identity, GZIP"),
	"a redirect":            respond(http.StatusFound, "text/html", "<html>", "Location", "/v2/"),
}

// respond returns a handler of one answer, with more headers if there are any.
func respond(status int, kind, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header()["Date"] = nil
		w.Header()["X-Odd"] = []string{"a", "", "b"}
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Digest", "x")
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		if status != http.StatusNoContent {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func compressed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// Answers that carryon leaves alone are the same as without it, except for the length of a stream, which is unknown
// when its header is read.
func TestStrangeAnswersAreNotTouched(t *testing.T) {
	t.Parallel()
	for name, handler := range strange {
		for protocol, http2 := range protocols {
			t.Run(name+" over "+protocol, func(t *testing.T) {
				t.Parallel()
				wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
					asked := 0
					base, url := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; handler(w, r) }), http2)
					ask := func(ctx *http.Request) *http.Request { ctx.Header.Set("Accept-Encoding", "gzip"); return ctx }
					want := fully(t, base, ask(wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(w.Stream))))
					ctx, outcomes := middleware.Capture(t.Context())
					mw := middleware.New(wiretest.TwoTodos, wiretest.Unhurried)
					got := fully(t, transport.New(base, mw), ask(wiretest.NewChatRequest(t, ctx, url, wiretest.ChatBody(w.Stream))))
					assert.Equal(t, protocol, got.Proto)
					if w.Stream && want.StatusCode == http.StatusOK && want.Header.Get("Content-Encoding") == "" {
						want.forgetLength()
					}
					assert.Equal(t, want, got)
					assert.Equal(t, 2, asked)
					outcome := outcomes.Last()
					assert.True(t, outcome.Ended)
					assert.Equal(t, 1, outcome.Turns)
					assert.Contains(t, []continuation.Reason{
						reasons.BrokeOff, reasons.NotEnded,
					}, outcome.Reason)
				})
			})
		}
	}
}

// The outcome says why carryon left the answer alone.
func TestWhyAnAnswerIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ unary, stream error }{
		"a refusal": {transport.ErrStatus, transport.ErrStatus}, "another success": {transport.ErrStatus, transport.ErrStatus},
		"a page": {transport.ErrKind, transport.ErrKind}, "compressed JSON": {transport.ErrEncoded, transport.ErrEncoded},
		"a compressed stream": {transport.ErrEncoded, transport.ErrEncoded}, "an error in a stream": {transport.ErrKind, nil},
		"broken JSON": {transport.ErrUnreadable, transport.ErrKind}, "an error": {nil, transport.ErrKind},
		"a broken stream": {transport.ErrKind, transport.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, url := serving(t, strange[name], false)
			for stream, want := range map[bool]error{false: tt.unary, true: tt.stream} {
				ctx, outcomes := middleware.Capture(t.Context())
				request := wiretest.NewChatRequest(t, ctx, url, wiretest.ChatBody(stream))
				request.Header.Set("Accept-Encoding", "gzip")
				got := wiretest.ReadReply(transport.New(base, middleware.New(wiretest.TwoTodos)).RoundTrip(request))
				require.NoError(t, got.Err)
				err := outcomes.Last().Err
				if want != nil {
					require.ErrorIs(t, err, want, "stream: %v", stream)
					continue
				}
				var reported *transport.ProviderError
				require.ErrorAs(t, err, &reported)
				assert.Equal(t, transport.ProviderError{Type: "server_error", Message: "overloaded"}, *reported)
			}
		})
	}
}

func TestRefusedContinuationCanBeInspected(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewHTTPScene(t, wiretest.TwoTodos)
		got := s.Ask(t, w, wiretest.Texts(wiretest.Plan)[0],
			fakellm.Status(http.StatusTeapot, `{"error":{"message":"the secret","type":"odd","code":"e7"}}`))
		wiretest.RequireChat(t, got, wiretest.Plan, "stop")
		var status *adapter.StatusError
		require.ErrorAs(t, got.Outcome.Err, &status)
		assert.Equal(t, http.StatusTeapot, status.Status)
		var reported *transport.ProviderError
		require.ErrorAs(t, got.Outcome.Err, &reported)
		assert.Equal(t, transport.ProviderError{Type: "odd", Code: "e7", Message: "the secret"}, *reported)
		assert.NotContains(t, got.Body, "secret")

		s = wiretest.NewHTTPScene(t, wiretest.TwoTodos) // nothing more is sent in the user turn of a refusal
		failure := fakellm.Status(http.StatusBadGateway, `<html>`)
		got = s.Ask(t, w, wiretest.Texts(wiretest.Plan)[0], failure, failure, failure)
		require.ErrorIs(t, got.Outcome.Err, transport.ErrStatus)
	})
}

// With nothing to do an answer is the same over every version of HTTP, trailers included.
func TestAnswersWithNothingToDoAreTheSame(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				base, url := serving(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					rw.Header()["Date"] = nil
					rw.Header().Set("Trailer", "X-Cost")
					rw.Header().Set("X-Request-Id", "1")
					rw.Header().Set("Content-Type", "application/json")
					if w.Stream {
						rw.Header().Set("Content-Type", "text/event-stream")
						_, _ = io.WriteString(rw, "data: "+wiretest.SaysText+"\n\n: x\n\ndata: "+wiretest.SaysFinish+"\n\ndata: [DONE]\n\nmore")
					} else {
						_, _ = io.WriteString(rw, "\n\n"+stalled+"\n")
					}
					rw.Header().Set("X-Cost", "7")
				}), http2)
				want := fully(t, base, wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(w.Stream)))
				assert.Equal(t, http.Header{"X-Cost": {"7"}}, want.Trailer)
				for _, provider := range []todo.Provider{todo.Static(), todo.Static(todo.Todo{Content: "x", Status: todo.Completed})} {
					got := fully(t, transport.New(base, middleware.New(provider)), wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(w.Stream)))
					if w.Stream {
						want.forgetLength()
					}
					assert.Equal(t, want, got)
				}
			})
		})
	}
}

// Headers about a body's bytes are dropped for a longer body.
func TestHeaderOfAJoinedAnswer(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		first := map[string][]string{
			"Etag": {`"1"`}, "Digest": {"x"}, "Content-Digest": {"x"}, "Content-Md5": {"x"}, "X-Request-Id": {"one"}, "X-Ratelimit": {"9"},
		}
		var shared http.Header
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, r.Body)
			body := stalled
			if wiretest.IsContinuation(r) {
				body = strings.Replace(stalled, "Next.", "Done.", 1)
			}
			response := wiretest.Answered(r, body)
			if w.Stream {
				text := "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
				if wiretest.IsContinuation(r) {
					text = strings.Replace(text, "So,", "Now,", 1)
				}
				response = wiretest.Streamed(r, io.NopCloser(strings.NewReader(text)))
				response.ContentLength = int64(len(text))
			}
			response.Header.Set("Content-Length", strconv.FormatInt(response.ContentLength, 10))
			maps.Copy(response.Header, first)
			if wiretest.IsContinuation(r) {
				response.Header.Set("X-Request-Id", "two")
			} else {
				shared = response.Header // as a base that answers from memory may have it
			}
			return response, err
		})
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(w.Stream))
		got := wiretest.ReadReply(transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(request))
		require.NoError(t, got.Err)
		assert.Contains(t, got.Chat(t).Text, "\n\n")
		for name, values := range first {
			assert.Equal(t, values, shared[name], "the base's own header is not changed")
		}
		want := http.Header{"Content-Type": shared["Content-Type"], "X-Request-Id": {"one"}, "X-Ratelimit": {"9"}}
		if w.Stream {
			assert.Equal(t, int64(-1), got.Length)
		} else {
			want.Set("Content-Length", strconv.Itoa(len(got.Body)))
			assert.Len(t, got.Body, int(got.Length))
		}
		assert.Equal(t, want, got.Header)
		assert.NotEmpty(t, shared.Get("Content-Length"))
	})
}

// An answer without a length gets none.
func TestJoinedAnswerOfUnknownLength(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			server := fakellm.NewServer(t, wiretest.Texts("One.")[0], wiretest.Edit())
			base, url := serving(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				server.Handler().ServeHTTP(noLength{rw}, r)
			}), http2)
			got := fully(t, transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)), wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(false)))
			assert.Equal(t, int64(-1), got.Length)
			assert.Empty(t, got.Header.Get("Content-Length"))
			assert.Contains(t, got.Body, "edit_file")
		})
	}
}

// carryon and the program read an answer that net/http decompresses as plain text.
func TestAnswerDecompressedByTheBaseIsContinued(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				var mu sync.Mutex
				texts := []string{"Done.", "Next."}
				base, url := serving(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					mu.Lock()
					text := texts[len(texts)-1]
					texts = texts[:len(texts)-1]
					mu.Unlock()
					body, kind := strings.Replace(stalled, "Next.", text, 1), "application/json"
					if w.Stream {
						kind = "text/event-stream"
						body = "data: " + strings.Replace(wiretest.SaysText, `So, \"yes\" `, text, 1) + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
					}
					assert.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
					respond(http.StatusOK, kind, compressed(body), "Content-Encoding", "gzip")(rw, r)
				}), http2)
				mw := middleware.New(wiretest.TwoTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
				got := fully(t, transport.New(base, mw), wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(w.Stream)))
				assert.True(t, got.Uncompressed)
				assert.Equal(t, "Next.\n\nDone.", wiretest.Reply{Body: got.Body}.Chat(t).Text)
				assert.Equal(t, int64(-1), got.Length)
			})
		})
	}
}

// Only a whole answer can be continued: an answer that breaks off is read up to there, and then fails as without
// carryon.
func TestAnswerThatBreaksOffFailsTheSame(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		for n := range 9 {
			for _, turn := range []fakellm.Turn{
				fakellm.Text("One two three.").CutAfter(n), fakellm.Text("One two three.").EndAfter(n),
				fakellm.Text("One two three.").ErrorAfter(n, "overloaded"),
			} {
				server := fakellm.NewServer(t, turn)
				base := new(http.Transport)
				t.Cleanup(base.CloseIdleConnections)
				want := wiretest.ReadReply(base.RoundTrip(wiretest.NewChatRequest(t, t.Context(), server.URL(), wiretest.ChatBody(w.Stream))))
				s := wiretest.NewHTTPScene(t, todo.Static())
				got := s.Ask(t, w, turn)
				assert.Equal(t, want.Body, got.Body, "after %d", n)
				assert.Equal(t, problem(want.Err), problem(got.Err), "after %d", n)
				assert.Equal(t, want.Status, got.Status)
				if want.Err != nil && !strings.Contains(want.Body, "[DONE]") {
					require.ErrorIs(t, got.Outcome.Err, problem(want.Err))
				}
			}
		}
	})
}

// So does an answer whose server resets the connection.
func TestConnectionThatIsResetFailsTheSame(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = rw.WriteString(head + "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysFinish + "\n\n")
		_ = rw.Flush()
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	server := httptest.NewServer(http.HandlerFunc(handler))
	t.Cleanup(server.Close)
	base := new(http.Transport)
	t.Cleanup(base.CloseIdleConnections)
	mw := middleware.New(wiretest.TwoTodos, wiretest.Unhurried)
	got := wiretest.ReadReply(transport.New(base, mw).RoundTrip(wiretest.NewChatRequest(t, t.Context(), server.URL+"/v1", wiretest.ChatBody(true))))
	require.Error(t, got.Err)
	require.NotErrorIs(t, got.Err, io.EOF)
	assert.True(t, strings.HasPrefix("data: "+wiretest.SaysText+"\n\ndata: "+wiretest.SaysFinish+"\n\n", got.Body), got.Body)
}

// A continuation that fails at any byte does not change the turn before it, and the answer ends.
func TestContinuationThatDiesAnywhereCostsNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("reset")
	const first = "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysUsage + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	for name, second := range map[string]string{
		"text":           "data: " + wiretest.SaysRole + "\n\n: x\n\ndata: " + wiretest.SaysMore + "\n\ndata: " + wiretest.SaysLast + "\n\ndata: [DONE]\n\n",
		"call":           "data: " + wiretest.SaysMore + "\r\n\r\ndata: " + wiretest.SaysCall + "\r\n\r\ndata: " + wiretest.SaysFinish + "\r\n\r\n",
		"pause":          "data: " + wiretest.SaysMore + "\n\ndata: " + wiretest.SaysPause + "\n\ndata: [DONE]\n\n",
		"printed pause":  `data: {"id":"b","choices":[{"delta":{"content":"todo_pause('` + wiretest.Blocked + `')"}}]}` + "\n\ndata: " + wiretest.SaysFinish + "\n\n",
		"error":          "data: " + wiretest.SaysMore + "\n\ndata: " + wiretest.SaysError + "\n\n",
		"multiple lines": "data: {\"id\":\"b\",\ndata: \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"}}]}\n\ndata: " + wiretest.SaysFinish + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; n <= len(second); n += wiretest.OneIn(4) {
				for _, end := range []error{io.EOF, broken, io.ErrUnexpectedEOF} {
					for _, size := range []int{1 << 16, 1 + n%50} {
						as := wiretest.Split{Come: wiretest.Always(size), Read: wiretest.Always(1 << 16), End: io.EOF}
						got := joinEnding(t, first, second[:n], as, end)
						came := strings.Count(got.Body, `"finish_reason":"`)
						require.True(t, strings.HasPrefix(got.Body, "data: "+wiretest.SaysText+"\n\n"), got.Body)
						if got.Err != io.EOF { //nolint:errorlint // it comes as it is
							require.Contains(t, got.Body, `"tool_calls"`, "only half a call is an error")
							require.Zero(t, came, "and has no end")
							continue
						}
						require.Equal(t, 1, came, got.Body)
						require.Equal(t, 1, strings.Count(got.Body, "data: [DONE]"), got.Body)
						h := wiretest.Reply{Body: got.Body}.Chat(t)
						require.True(t, strings.HasPrefix(h.Text, `So, "yes" `), h.Text)
						require.GreaterOrEqual(t, h.Prompt, 3, "the usage of the good turns")
					}
				}
			}
		})
	}
}

// joinEnding is join, where turn 2 ends with an error.
func joinEnding(t *testing.T, first, second string, as wiretest.Split, end error) wiretest.Joined {
	t.Helper()
	var got wiretest.Joined
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		got.Requests = append(got.Requests, string(body))
		text := &wiretest.Pieces{Text: first, Next: as.Come, End: io.EOF}
		if len(got.Requests) > 1 {
			text = &wiretest.Pieces{Text: second, Next: as.Come, End: end, With: as.With}
		}
		return wiretest.Streamed(r, text), err
	})
	request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(true))
	response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var body strings.Builder
	for p := make([]byte, as.Read()); got.Err == nil; {
		var n int
		n, got.Err = response.Body.Read(p)
		body.Write(p[:n])
	}
	got.Body = body.String()
	return got
}

// The same for answers in one piece.
func TestUnaryContinuationThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	for name, handler := range strange {
		if name == "white space" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			base, url := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if asked == 1 {
					respond(http.StatusOK, "application/json", stalled)(w, r)
					return
				}
				handler(w, r)
			}), false)
			request := wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(false))
			request.Header.Set("Accept-Encoding", "gzip")
			got := fully(t, transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)), request)
			assert.Equal(t, stalled, got.Body)
			assert.Equal(t, int64(len(stalled)), got.Length)
			assert.Equal(t, `"1"`, got.Header.Get("Etag"), "the body is the same")
			want := 4 // it is sent twice more
			switch name {
			case "a refusal", "a redirect", "another success", "a part", "nothing": // which will be the same again
				want = 2
			}
			assert.Equal(t, want, asked)
		})
	}
}

// Bytes before and after an answer in one piece pass with it, but not with a joined answer.
func TestWhiteSpaceAroundAnAnswer(t *testing.T) {
	t.Parallel()
	padded := " \r\n\t\n" + stalled + "\n\n"
	for _, todos := range []todo.Provider{todo.Static(), wiretest.TwoTodos} {
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) { return wiretest.Answered(r, padded), r.Body.Close() })
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(false))
		got := wiretest.ReadReply(transport.New(base, wiretest.OneContinuation(todos)).RoundTrip(request))
		require.NoError(t, got.Err)
		if len(got.Body) == len(padded) {
			assert.Equal(t, padded, got.Body)
			continue
		}
		assert.Equal(t, "Next.\n\nNext.", got.Chat(t).Text)
	}
}

// An answer over the limit passes unchanged, and so does one that breaks off before the limit.
func TestAnswerOverTheLimitPassesAsItComes(t *testing.T) {
	t.Parallel()
	broken := errors.New("reset")
	for _, tt := range []struct {
		text      string
		size      int
		end       error
		continued bool
	}{
		{stalled, transport.MaxBody, nil, true},
		{stalled, transport.MaxBody + 1, nil, false},
		{stalled, transport.MaxBody + 1<<20, broken, false},
		{stalled[:50], 1 << 10, broken, false},
		{stalled, 1 << 10, broken, true}, // all of it has come, and most readers do not ask for more
	} {
		asked, closed := 0, 0
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			if asked > 1 {
				return wiretest.Answered(r, "{}"), nil
			}
			response := wiretest.Answered(r, tt.text)
			body := io.MultiReader(strings.NewReader(tt.text), &endless{' ', tt.size - len(tt.text)})
			if tt.end != nil {
				body = io.MultiReader(body, iotest.ErrReader(tt.end))
			}
			response.Body = closer{body, &closed}
			response.ContentLength = -1
			return response, nil
		})
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(false))
		response, err := transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(request)
		require.NoError(t, err)
		n, err := io.CopyBuffer(new(ending), response.Body, make([]byte, 1<<20))
		assert.Equal(t, tt.end, err)
		assert.Equal(t, int64(tt.size), n)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, 1, min(closed, 1))
		assert.Equal(t, tt.continued, asked > 1, "%d", tt.size)
	}
}

// closer is a body that counts how often it is closed.
type closer struct {
	io.Reader

	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

// A continuation reuses the connection, because the turn before it was read to its end.
func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		server := fakellm.NewServer(t, wiretest.Texts("One.", "Two.", "Three.")[0], wiretest.Texts("Two.")[0], wiretest.Edit())
		var mu sync.Mutex
		conns := map[net.Conn]bool{}
		listener := httptest.NewUnstartedServer(server.Handler())
		listener.Config.ConnState = func(c net.Conn, _ http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			conns[c] = true
		}
		listener.Start()
		t.Cleanup(listener.Close)
		base := new(http.Transport)
		t.Cleanup(base.CloseIdleConnections)
		// The clock stands still, so that carryon waits for the end of an answer on any slow machine.
		s := wiretest.Upstream{Server: server, Base: base, URL: listener.URL + "/v1"}.NewScene(t, wiretest.TwoTodos, testclock.Option[middleware.Option](testclock.New()))
		wiretest.RequireChat(t, s.Ask(t, w), "One.\n\nTwo.", "tool_calls")
		mu.Lock()
		defer mu.Unlock()
		assert.Len(t, conns, 1)
	})
}

// A joined answer is the same over every version of HTTP.
func TestJoinedAnswerIsTheSameOverEveryProtocol(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		turns := []fakellm.Turn{
			fakellm.Text("One.").Header("X-Request-Id", "one").Comments(),
			fakellm.Text("Two. ").AndCall("todo_pause", `{"reason":"stuck"}`).ID("p"), wiretest.Edit().ID("c"),
		}
		want := wiretest.NewScene(t, wiretest.TwoTodos).Ask(t, w, turns...)
		for protocol, http2 := range protocols {
			server := fakellm.NewServer(t, turns...)
			base, url := serving(t, server.Handler(), http2)
			s := wiretest.Upstream{Server: server, Base: base, URL: url}.NewScene(t, wiretest.TwoTodos)
			got := fully(t, s.Client.Transport, s.Request(t, wiretest.ChatBody(w.Stream)))
			assert.Equal(t, protocol, got.Proto)
			assert.Equal(t, want.Body, got.Body)
			assert.Equal(t, "one", got.Header.Get("X-Request-Id"))
			assert.Len(t, server.Requests(), 3)
		}
	})
}

// The caller gets the trailers of its own turn, even if a continuation follows.
func TestTrailersOfAJoinedAnswer(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				server := fakellm.NewServer(t, wiretest.Texts("One.")[0], wiretest.Edit())
				asked := 0
				base, url := serving(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					asked++
					rw.Header().Set("Trailer", "X-Cost")
					server.Handler().ServeHTTP(noLength{rw}, r)
					rw.Header().Set("X-Cost", strconv.Itoa(asked))
				}), http2)
				// Again a clock that stands still.
				s := wiretest.Upstream{Server: server, Base: base, URL: url}.NewScene(t, wiretest.TwoTodos, testclock.Option[middleware.Option](testclock.New()))
				got := fully(t, s.Client.Transport, s.Request(t, wiretest.ChatBody(w.Stream)))
				assert.Contains(t, got.Body, "edit_file")
				assert.Equal(t, http.Header{"X-Cost": {"1"}}, got.Trailer)
			})
		})
	}
}

// noLength leaves out the length.
type noLength struct{ http.ResponseWriter }

func (n noLength) WriteHeader(status int) {
	n.Header().Del("Content-Length")
	n.ResponseWriter.WriteHeader(status)
	n.Flush() // or else it would be added
}

func (n noLength) Flush() { _ = http.NewResponseController(n.ResponseWriter).Flush() }

// The encoding "identity" counts as none.
func TestIdentityIsNoEncoding(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"identity", "Identity", " identity , identity", ""} {
		wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
			asked := 0
			base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				asked++
				response := wiretest.Answered(r, `{"choices":[{"message":{"content":"Next."},"finish_reason":"stop"}]}`)
				if w.Stream {
					response = wiretest.Streamed(r, io.NopCloser(strings.NewReader("data: "+wiretest.SaysText+"\n\ndata: "+wiretest.SaysFinish+"\n\ndata: [DONE]\n\n")))
				}
				response.Header.Set("Content-Encoding", encoding)
				return response, r.Body.Close()
			})
			r := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(w.Stream))
			r.Header.Set("Content-Encoding", encoding)
			response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(r)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, 2, asked, "%q", encoding)
			assert.Equal(t, []string{encoding}, response.Header["Content-Encoding"])
		})
	}
}
