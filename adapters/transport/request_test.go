package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// wiretap is a listener that records the bytes that its connections receive.
type wiretap struct {
	net.Listener

	mu       sync.Mutex
	received bytes.Buffer
}

func (w *wiretap) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tappedConn{conn, w}, nil
}

// take returns what was received since it was called last.
func (w *wiretap) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	received := w.received.String()
	w.received.Reset()
	return received
}

type tappedConn struct {
	net.Conn

	tap *wiretap
}

func (c *tappedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	c.tap.received.Write(p[:n])
	return n, err
}

// listening returns a server that keeps what it is sent.
func listening(t *testing.T, handler http.Handler) (url string, tap *wiretap) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	tap = &wiretap{Listener: server.Listener}
	server.Listener = tap
	server.Start()
	t.Cleanup(server.Close)
	return server.URL + "/v1", tap
}

// If there is nothing to do, any request sends the same bytes over the wire as without carryon.
func TestRequestsWithNothingToDoAreTheSameOnTheWire(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"as clients send it": func(*http.Request) {},
		"without a copy":     func(r *http.Request) { r.GetBody = nil },
		"of unknown length":  func(r *http.Request) { r.ContentLength = -1 },
		"of unknown length, without a copy": func(r *http.Request) {
			r.ContentLength, r.GetBody = -1, nil
		},
		"of a length of 0, without a copy": func(r *http.Request) { r.ContentLength, r.GetBody = 0, nil },
		"chunked":                          func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
		"chunked, without a copy": func(r *http.Request) {
			r.TransferEncoding, r.GetBody = []string{"chunked"}, nil
		},
		"on a connection of its own": func(r *http.Request) { r.Close = true },
		"with trailers": func(r *http.Request) {
			r.ContentLength, r.Trailer = -1, http.Header{"X-Checksum": {"1"}}
		},
		"with expectations": func(r *http.Request) { r.Header.Set("Expect", "100-continue") },
		"with odd headers": func(r *http.Request) {
			r.Header["x-lower"] = []string{"a", "", "b"}
			r.Header.Set("Content-Length", "5")
			r.Header.Set("Idempotency-Key", "once")
			r.Header.Set("Content-MD5", "x")
			r.Header.Set("User-Agent", "")
			r.URL.RawQuery = "api-version=1&b=%20c"
			r.Host = "model.test"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				server := fakellm.NewServer(t, wiretest.Texts("One.", "Two.")...)
				url, tap := listening(t, server.Handler())
				var sent [2]string
				for i, mw := range []*middleware.Middleware{nil, middleware.New(todo.Static())} {
					base := new(http.Transport)
					t.Cleanup(base.CloseIdleConnections)
					rt := http.RoundTripper(base)
					if mw != nil {
						rt = transport.New(base, mw)
					}
					request := wiretest.NewChatRequest(t, t.Context(), url, wiretest.ChatBody(w.Stream))
					change(request)
					got := wiretest.ReadReply(rt.RoundTrip(request))
					require.NoError(t, got.Err)
					sent[i] = tap.take()
				}
				assert.NotEmpty(t, sent[0])
				assert.Equal(t, sent[0], sent[1])
			})
		})
	}
}

// A body that arrives in pieces is sent whole, whatever the pieces.
func TestUploadInPiecesIsContinued(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewHTTPScene(t, wiretest.TwoTodos)
		request := s.Request(t, "")
		reader, writer := io.Pipe()
		request.Body, request.GetBody, request.ContentLength = reader, nil, -1
		go func() {
			for _, c := range []byte(wiretest.ChatBody(w.Stream)) {
				if _, err := writer.Write([]byte{c}); err != nil {
					return
				}
			}
			_ = writer.Close() // never fails
		}()
		got := s.Send(t, request, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
		wiretest.RequireChat(t, got, wiretest.Plan, "tool_calls")
		bodies := s.Wire.Bodies()
		require.Len(t, bodies, 2)
		assert.Equal(t, wiretest.ChatBody(w.Stream), bodies[0])
		assert.Contains(t, bodies[1], "todo_pause")
	})
}

// failingBody is a body that fails midway.
func failingBody(text string, err error) *watchedBody {
	return &watchedBody{Reader: io.MultiReader(strings.NewReader(text), iotest.ErrReader(err))}
}

func TestBodyThatFailsMidwayFailsAsWithoutCarryon(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	s := wiretest.NewHTTPScene(t, wiretest.TwoTodos)
	for _, length := range []int64{-1, 0, int64(len(wiretest.ChatBody(true)))} {
		body := failingBody(wiretest.ChatBody(true)[:50], broken)
		request := s.Request(t, "")
		request.Body, request.GetBody, request.ContentLength = body, nil, length
		got := wiretest.ReadReply(s.Client.Do(request))
		require.ErrorIs(t, got.Err, broken)
		assert.NotZero(t, body.closes)
	}
	for _, sent := range s.Wire.Bodies() {
		assert.Equal(t, wiretest.ChatBody(true)[:50], sent)
	}
	assert.Empty(t, s.Server.Requests())
}

// endless is a long body that costs no memory.
type endless struct {
	of   byte
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	p[0] = e.of
	for i := 1; i < n; i *= 2 { // not byte by byte, which the race detector makes slow
		copy(p[i:n], p[:i])
	}
	e.left -= n
	return n, nil
}

// carryon learns that a body is over the limit when it has read that much of it. The body is still sent whole.
func TestBodyOverTheLimitPassesUntouched(t *testing.T) {
	t.Parallel()
	const most = transport.MaxBody
	for _, size := range []int{most, most + 1} {
		padding := size - len(wiretest.ChatBody(false))
		body := &watchedBody{Reader: io.MultiReader(strings.NewReader(wiretest.ChatBody(false)), &endless{' ', padding})}
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", "")
		request.Body, request.GetBody, request.ContentLength = body, nil, -1
		asked, read := 0, 0
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			n, err := io.Copy(io.Discard, r.Body)
			if asked == 1 {
				read = int(n)
				assert.Equal(t, int64(-1), r.ContentLength)
			}
			return wiretest.Answered(r, stalled), errors.Join(err, r.Body.Close())
		})
		response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, size, read)
		assert.NotZero(t, body.closes)
		if size > most {
			assert.Equal(t, 1, asked)
		} else {
			assert.Greater(t, asked, 1, "it is continued")
		}
	}
}

func TestGetBodyThatFailsPassesTheRequest(t *testing.T) {
	t.Parallel()
	for name, getBody := range map[string]func() (io.ReadCloser, error){
		"at once":           func() (io.ReadCloser, error) { return nil, errors.New("no copy") },
		"while it is read":  func() (io.ReadCloser, error) { return failingBody("{", errors.New("no copy")), nil },
		"with another body": func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("?")), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				s := wiretest.NewScene(t, wiretest.TwoTodos)
				request := s.Request(t, wiretest.ChatBody(w.Stream))
				request.GetBody = getBody
				got := s.Send(t, request, wiretest.Texts(wiretest.Plan)...)
				wiretest.RequireChat(t, got, wiretest.Plan, "stop")
				assert.Equal(t, []string{wiretest.ChatBody(w.Stream)}, s.Wire.Bodies())
			})
		})
	}
}

// A continuation needs the body that was sent. Without it, the call is not continued.
func TestGetBodyThatChangesCostsTheContinuation(t *testing.T) {
	t.Parallel()
	gone := errors.New("file was removed")
	for name, later := range map[string]func(body string) (io.ReadCloser, error){
		"gone":    func(string) (io.ReadCloser, error) { return nil, gone },
		"cut":     func(body string) (io.ReadCloser, error) { return failingBody(body[:20], gone), nil },
		"shorter": func(body string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body[1:])), nil },
		"longer":  func(body string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body + " ")), nil },
		"other": func(body string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Replace(body, "parser", "broker", 1))), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				s := wiretest.NewScene(t, wiretest.TwoTodos)
				body := wiretest.ChatBody(w.Stream)
				request := s.Request(t, body)
				getBody, times := request.GetBody, 0
				request.GetBody = func() (io.ReadCloser, error) {
					times++
					if times > 1 {
						return later(body)
					}
					return getBody()
				}
				got := s.Send(t, request, wiretest.Texts(wiretest.Plan)...)
				wiretest.RequireChat(t, got, wiretest.Plan, "stop")
				assert.Len(t, s.Server.Requests(), 1)
				require.Error(t, got.Outcome.Err)
				assert.Equal(t, 1, got.Outcome.Attempts)
			})
		})
	}
}

// A continuation uses the body that the decision has just read, unless the garbage collector has freed it.
func TestBodyIsReadAgainOnlyOnceItIsGone(t *testing.T) { //nolint:paralleltest // stops the garbage collector
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for freed, want := range map[bool]int{false: 2, true: 3} {
		s := wiretest.NewScene(t, todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			todo.ConversationFrom(ctx)(func(todo.Call) bool { return false })
			if freed {
				runtime.GC()
			}
			return wiretest.TwoTodos.Todos(ctx)
		}))
		request, times := s.Request(t, wiretest.ChatBody(true)), 0
		getBody := request.GetBody
		request.GetBody = func() (io.ReadCloser, error) {
			times++
			return getBody()
		}
		got := s.Send(t, request, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
		wiretest.RequireChat(t, got, wiretest.Plan, "tool_calls")
		assert.Equal(t, want, times, "freed: %t", freed)
	}
}

// A body of unknown length is read again into one buffer, because its length is known then.
func TestBodyIsReadAgainAtItsLength(t *testing.T) { //nolint:paralleltest // measures memory
	const size = 4 << 20
	body := wiretest.ChatBody(false, `"metadata":{"x":"`+strings.Repeat("x", size)+`"}`)
	allocated := func(reads int) int64 {
		todos := todo.ProviderFunc(func(ctx context.Context) ([]todo.Todo, error) {
			for range reads {
				runtime.GC()
				todo.ConversationFrom(ctx)(func(todo.Call) bool { return false })
			}
			return nil, nil
		})
		rt := transport.New(wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			return wiretest.Answered(r, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), r.Body.Close()
		}), middleware.New(todos, middleware.WithLimits(continuation.Limits{TodoTimeout: time.Hour}))) // a collection may take long
		return int64(measure.Allocated(func() { //nolint:gosec // far below the limit
			r := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", body)
			r.ContentLength = 0
			response, err := rt.RoundTrip(r)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}))
	}
	assert.InDelta(t, 2*size, allocated(3)-allocated(1), size/4)
}

// A program may reuse its body's memory once it has the response.
func TestBodyOfTheRequestIsCopiedIfItCannotBeHadAgain(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	memory := []byte(wiretest.ChatBody(true))
	request := s.Request(t, "")
	request.Body, request.GetBody = io.NopCloser(bytes.NewReader(memory)), nil
	request.ContentLength = int64(len(memory))
	s.Server.Append(wiretest.Texts(wiretest.Plan)[0], wiretest.Edit())
	response, err := s.Client.Do(request)
	require.NoError(t, err)
	clear(memory)
	wiretest.RequireChat(t, wiretest.ReadReply(response, nil), wiretest.Plan, "tool_calls")
	assert.Contains(t, s.Wire.Bodies()[1], "Write and test the parser.")
}

// The caller may read its own request at any time.
func TestCallersRequestIsNotChanged(t *testing.T) {
	t.Parallel()
	for name, getBody := range map[string]bool{"with a copy": true, "without a copy": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
				s := wiretest.NewScene(t, wiretest.TwoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
				text := []byte(wiretest.ChatBody(w.Stream, `"store":true`, `"prediction":{}`))
				request := s.Request(t, "")
				request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				request.Header.Set("Content-Length", strconv.Itoa(len(text)))
				request.Header.Set("Idempotency-Key", "once")
				request.TransferEncoding = []string{"identity"}
				request.GetBody = nil
				if getBody {
					request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
				}
				before, header, url := *request, request.Header.Clone(), request.URL.String()
				stop := make(chan struct{})
				looked := meanwhile(func() int {
					for n := 0; ; n++ {
						select {
						case <-stop:
							return n
						default:
							_ = request.Header.Get("Idempotency-Key") + request.URL.Path + request.Method
							_ = bytes.Count(text, []byte("x"))
						}
					}
				})
				s.Server.Append(wiretest.Texts(wiretest.Plan)[0], fakellm.Pause("stuck"), wiretest.Edit())
				response, err := transport.New(s.Wire, s.Middleware).RoundTrip(request)
				require.NoError(t, err)
				requireSame(t, request, response.Request, "the response is one to the caller's request")
				wiretest.RequireChat(t, wiretest.ReadReply(response, nil), wiretest.Plan, "tool_calls")
				close(stop)
				<-looked

				assert.Len(t, s.Server.Requests(), 3)
				before.GetBody, request.GetBody = nil, nil
				assert.Equal(t, before, *request)
				assert.Equal(t, header, request.Header)
				assert.Equal(t, url, request.URL.String())
				assert.Equal(t, wiretest.ChatBody(w.Stream, `"store":true`, `"prediction":{}`), string(text))
			})
		})
	}
}

// The caller's body is closed, even if another body is sent in its place.
func TestBodyOfTheRequestIsClosed(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]middleware.Option{
		"continuations only": nil, "always": {middleware.WithPauseTool(middleware.PauseToolAlways)},
	} {
		for _, getBody := range []bool{true, false} {
			t.Run(name+" "+strconv.FormatBool(getBody), func(t *testing.T) {
				t.Parallel()
				wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
					s := wiretest.NewScene(t, wiretest.TwoTodos, opts...)
					request := s.Request(t, wiretest.ChatBody(w.Stream))
					body := &watchedBody{Reader: strings.NewReader(wiretest.ChatBody(w.Stream))}
					var copies []*watchedBody
					request.Body = body
					request.GetBody = nil
					if getBody {
						request.GetBody = func() (io.ReadCloser, error) {
							copies = append(copies, &watchedBody{Reader: strings.NewReader(wiretest.ChatBody(w.Stream))})
							return copies[len(copies)-1], nil
						}
					}
					wiretest.RequireChat(t, s.Send(t, request, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()), wiretest.Plan, "tool_calls")
					assert.NotZero(t, body.closes)
					for i, c := range copies {
						assert.NotZero(t, c.closes, "copy %d", i)
					}
				})
			})
		}
	}
}

// Layers below get the values of the program's ctx.
func TestContextReachesTheBase(t *testing.T) {
	t.Parallel()
	type key struct{}
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		s.Ctx = context.WithValue(s.Ctx, key{}, "value")
		wiretest.RequireChat(t, s.Ask(t, w, wiretest.Texts("One.", "Two.")[0], wiretest.Edit()), "One.", "tool_calls")
		marks := []bool{}
		for _, r := range s.Wire.Seen() {
			assert.Equal(t, "value", r.Context().Value(key{}))
			marks = append(marks, wiretest.IsContinuation(r))
		}
		assert.Equal(t, []bool{false, true}, marks)
	})
}

// Cookies and redirects are handled above the transport, and proxies and connections below it: neither sees a
// difference in the first request.
func TestFirstRequestIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		request := s.Request(t, wiretest.ChatBody(w.Stream))
		request.Header.Set("Idempotency-Key", "once")
		request.Host = "model.test"
		wiretest.RequireChat(t, s.Send(t, request, wiretest.Texts(wiretest.Plan)[0], wiretest.Edit()), wiretest.Plan, "tool_calls")
		first := s.Wire.Seen()[0]
		assert.Equal(t, request.Header, first.Header)
		assert.Equal(t, request.Host, first.Host)
		requireSame(t, request.URL, first.URL, "the same address")
		assert.Equal(t, request.ContentLength, first.ContentLength)
		assert.NotNil(t, first.GetBody)
		assert.True(t, slices.Equal([]string{wiretest.ChatBody(w.Stream)}, s.Wire.Bodies()[:1]))
	})
}

// requireSame checks that two values are equal, without printing them.
func requireSame[T any](t *testing.T, want, got *T, what string) {
	t.Helper()
	if want != got {
		require.Fail(t, "not the same: "+what)
	}
}

// meanwhile runs a function on another goroutine.
func meanwhile[T any](f func() T) <-chan T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	return done
}

// problem is the kind of an error that ended a body, which must be the same with and without the transport.
func problem(err error) error {
	for _, kind := range []error{
		io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded, http.ErrBodyReadAfterClose, middleware.ErrIncomplete,
	} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}
