package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
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
			inBothWays(t, func(t *testing.T, w way) {
				server := fakellm.NewServer(t, texts("One.", "Two.")...)
				url, tap := listening(t, server.Handler())
				var sent [2]string
				for i, mw := range []*middleware.Middleware{nil, middleware.New(todo.Static())} {
					base := new(http.Transport)
					t.Cleanup(base.CloseIdleConnections)
					rt := http.RoundTripper(base)
					if mw != nil {
						rt = transport.New(base, mw)
					}
					request := newRequest(t, t.Context(), url, bodyOf(w.stream))
					change(request)
					got := readReply(rt.RoundTrip(request))
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
	inBothWays(t, func(t *testing.T, w way) {
		s := newScene(t, twoTodos)
		request := s.request(t, "")
		reader, writer := io.Pipe()
		request.Body, request.GetBody, request.ContentLength = reader, nil, -1
		go func() {
			for _, c := range []byte(bodyOf(w.stream)) {
				if _, err := writer.Write([]byte{c}); err != nil {
					return
				}
			}
			_ = writer.Close() // never fails
		}()
		got := s.send(t, request, texts(plan)[0], edit())
		requireReading(t, got, plan, "tool_calls")
		bodies := s.wire.bodies()
		require.Len(t, bodies, 2)
		assert.Equal(t, bodyOf(w.stream), bodies[0])
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
	s := newScene(t, twoTodos)
	for _, length := range []int64{-1, 0, int64(len(bodyOf(true)))} {
		body := failingBody(bodyOf(true)[:50], broken)
		request := s.request(t, "")
		request.Body, request.GetBody, request.ContentLength = body, nil, length
		got := readReply(s.client.Do(request))
		require.ErrorIs(t, got.Err, broken)
		assert.NotZero(t, body.closes)
	}
	for _, sent := range s.wire.bodies() {
		assert.Equal(t, bodyOf(true)[:50], sent)
	}
	assert.Empty(t, s.server.Requests())
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
		padding := size - len(bodyOf(false))
		body := &watchedBody{Reader: io.MultiReader(strings.NewReader(bodyOf(false)), &endless{' ', padding})}
		request := newRequest(t, t.Context(), "http://model.test/v1", "")
		request.Body, request.GetBody, request.ContentLength = body, nil, -1
		asked, read := 0, 0
		base := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			n, err := io.Copy(io.Discard, r.Body)
			if asked == 1 {
				read = int(n)
				assert.Equal(t, int64(-1), r.ContentLength)
			}
			return answered(r, stalled), errors.Join(err, r.Body.Close())
		})
		response, err := transport.New(base, oneContinuation(twoTodos)).RoundTrip(request)
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
			inBothWays(t, func(t *testing.T, w way) {
				s := newQuietScene(t, twoTodos)
				request := s.request(t, bodyOf(w.stream))
				request.GetBody = getBody
				got := s.send(t, request, texts(plan)...)
				requireReading(t, got, plan, "stop")
				assert.Equal(t, []string{bodyOf(w.stream)}, s.wire.bodies())
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
			inBothWays(t, func(t *testing.T, w way) {
				s := newQuietScene(t, twoTodos)
				body := bodyOf(w.stream)
				request := s.request(t, body)
				getBody, times := request.GetBody, 0
				request.GetBody = func() (io.ReadCloser, error) {
					times++
					if times > 1 {
						return later(body)
					}
					return getBody()
				}
				got := s.send(t, request, texts(plan)...)
				requireReading(t, got, plan, "stop")
				assert.Len(t, s.server.Requests(), 1)
				require.Error(t, got.Outcome.Err)
				assert.Equal(t, 1, got.Outcome.Attempts)
			})
		})
	}
}

// A program may reuse its body's memory once it has the response.
func TestBodyOfTheRequestIsCopiedIfItCannotBeHadAgain(t *testing.T) {
	t.Parallel()
	s := newQuietScene(t, twoTodos)
	memory := []byte(bodyOf(true))
	request := s.request(t, "")
	request.Body, request.GetBody = io.NopCloser(bytes.NewReader(memory)), nil
	request.ContentLength = int64(len(memory))
	s.server.Append(texts(plan)[0], edit())
	response, err := s.client.Do(request)
	require.NoError(t, err)
	clear(memory)
	requireReading(t, readReply(response, nil), plan, "tool_calls")
	assert.Contains(t, s.wire.bodies()[1], "Write and test the parser.")
}

// The caller may read its own request at any time.
func TestCallersRequestIsNotChanged(t *testing.T) {
	t.Parallel()
	for name, getBody := range map[string]bool{"with a copy": true, "without a copy": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothWays(t, func(t *testing.T, w way) {
				s := newQuietScene(t, twoTodos, middleware.WithPauseTool(middleware.PauseToolAlways))
				text := []byte(bodyOf(w.stream, `"store":true`, `"prediction":{}`))
				request := s.request(t, "")
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
				s.server.Append(texts(plan)[0], fakellm.Pause("stuck"), edit())
				response, err := transport.New(s.wire, s.mw).RoundTrip(request)
				require.NoError(t, err)
				requireSame(t, request, response.Request, "the response is one to the caller's request")
				requireReading(t, readReply(response, nil), plan, "tool_calls")
				close(stop)
				<-looked

				assert.Len(t, s.server.Requests(), 3)
				before.GetBody, request.GetBody = nil, nil
				assert.Equal(t, before, *request)
				assert.Equal(t, header, request.Header)
				assert.Equal(t, url, request.URL.String())
				assert.Equal(t, bodyOf(w.stream, `"store":true`, `"prediction":{}`), string(text))
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
				inBothWays(t, func(t *testing.T, w way) {
					s := newQuietScene(t, twoTodos, opts...)
					request := s.request(t, bodyOf(w.stream))
					body := &watchedBody{Reader: strings.NewReader(bodyOf(w.stream))}
					var copies []*watchedBody
					request.Body = body
					request.GetBody = nil
					if getBody {
						request.GetBody = func() (io.ReadCloser, error) {
							copies = append(copies, &watchedBody{Reader: strings.NewReader(bodyOf(w.stream))})
							return copies[len(copies)-1], nil
						}
					}
					requireReading(t, s.send(t, request, texts(plan)[0], edit()), plan, "tool_calls")
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
	inBothWays(t, func(t *testing.T, w way) {
		s := newQuietScene(t, twoTodos)
		s.ctx = context.WithValue(s.ctx, key{}, "value")
		requireReading(t, s.ask(t, w, texts("One.", "Two.")[0], edit()), "One.", "tool_calls")
		marks := []bool{}
		for _, r := range s.wire.seen() {
			assert.Equal(t, "value", r.Context().Value(key{}))
			marks = append(marks, isContinuation(r))
		}
		assert.Equal(t, []bool{false, true}, marks)
	})
}

// Cookies and redirects are handled above the transport, and proxies and connections below it: neither sees a
// difference in the first request.
func TestFirstRequestIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, w way) {
		s := newQuietScene(t, twoTodos)
		request := s.request(t, bodyOf(w.stream))
		request.Header.Set("Idempotency-Key", "once")
		request.Host = "model.test"
		requireReading(t, s.send(t, request, texts(plan)[0], edit()), plan, "tool_calls")
		first := s.wire.seen()[0]
		assert.Equal(t, request.Header, first.Header)
		assert.Equal(t, request.Host, first.Host)
		requireSame(t, request.URL, first.URL, "the same address")
		assert.Equal(t, request.ContentLength, first.ContentLength)
		assert.NotNil(t, first.GetBody)
		assert.True(t, slices.Equal([]string{bodyOf(w.stream)}, s.wire.bodies()[:1]))
	})
}
