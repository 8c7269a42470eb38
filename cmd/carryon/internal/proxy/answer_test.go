package proxy

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// timed is a body that comes in parts, each some time after the one before.
type timed struct {
	parts []string
	after []time.Duration
}

func (b *timed) Read(p []byte) (int, error) {
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	<-time.After(b.after[0])
	n := copy(p, b.parts[0])
	b.parts, b.after = b.parts[1:], b.after[1:]
	return n, nil
}

func (*timed) Close() error { return nil }

// answers is a base transport that gives the same answer to every request.
type answers func(r *http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return a(r), nil
}

// written is a write to a client's connection.
type written struct {
	at   time.Duration
	text string
}

// writesOf returns what a server writes to its client for a conversation, and when.
func writesOf(t *testing.T, base http.RoundTripper) []written {
	t.Helper()
	handler := handlerOf(t, parsed(t, "-upstream", "http://upstream/v1"), base, slog.New(slog.DiscardHandler))
	listener := pipes{make(chan net.Conn)}
	served := make(chan error)
	go func() { served <- newServer(handler, slog.New(slog.DiscardHandler)).Serve(listener) }()
	client, connection := net.Pipe()
	listener.connections <- connection
	r := post(t, "http://localhost"+prefix, conversation{stream: true})
	r.Close = true
	began := time.Now()
	go func() { _ = r.Write(client) }()
	var all []written
	for room := make([]byte, 64<<10); ; {
		n, err := client.Read(room)
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		all = append(all, written{time.Since(began), string(room[:n])})
	}
	close(listener.connections)
	require.ErrorIs(t, <-served, net.ErrClosed)
	return all
}

// The headers of a stream leave with its first event, or alone if that is late.
func TestHeadersLeaveWithTheFirstEvent(t *testing.T) {
	t.Parallel()
	const (
		event = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n"
		done  = "data: [DONE]\n\n"
		soon  = headerPatience / 2
	)
	for name, tt := range map[string]struct {
		parts []string
		after []time.Duration
		want  []string // a part of each write
		at    []time.Duration
	}{
		"soon": {
			[]string{event, done},
			[]time.Duration{soon, time.Second},
			[]string{event, done},
			[]time.Duration{soon, soon + time.Second},
		},
		"late": {
			[]string{event, done},
			[]time.Duration{time.Minute, time.Second},
			[]string{"text/event-stream", event, done},
			[]time.Duration{headerPatience, time.Minute, time.Minute + time.Second},
		},
		"none": {nil, nil, []string{"text/event-stream"}, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got := writesOf(t, answers(func(r *http.Request) *http.Response {
					return &http.Response{
						StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
						Body: &timed{tt.parts, tt.after}, ContentLength: -1, Request: r,
					}
				}))
				require.GreaterOrEqual(t, len(got), len(tt.want))
				assert.True(t, strings.HasPrefix(got[0].text, "HTTP/1.1 200 OK\r\n"), got[0].text)
				for i, want := range tt.want {
					assert.Contains(t, got[i].text, want)
					assert.Equal(t, tt.at[i], got[i].at)
				}
			})
		})
	}
}

// The client of an answer that breaks off before its first event knows the headers,
// as it would without a proxy.
func TestHeadersOfAnAnswerWithoutAnEvent(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	got := s.send(post(t, s.base, conversation{stream: true}))
	require.ErrorIs(t, got.err, io.ErrUnexpectedEOF)
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, "text/event-stream", got.header.Get("Content-Type"))
}

// stuck is a writer whose flush waits until it is released.
type stuck struct {
	*httptest.ResponseRecorder

	flushed  chan time.Time
	released chan struct{}
}

func (s stuck) FlushError() error {
	s.flushed <- time.Now()
	<-s.released
	return nil
}

// A client that does not read keeps only its own headers.
func TestHeadersOfOneClientDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var late lateHeaders
		began, released := time.Now(), make(chan struct{})
		open := func() chan time.Time {
			s := stuck{httptest.NewRecorder(), make(chan time.Time, 1), released}
			w := &answerWriter{ResponseWriter: s, late: &late, flushes: true}
			w.WriteHeader(http.StatusOK)
			return s.flushed
		}
		first, second := open(), open()
		<-time.After(headerPatience + time.Millisecond)
		third := open()
		assert.Equal(t, headerPatience, (<-first).Sub(began))
		assert.Equal(t, headerPatience, (<-second).Sub(began))
		assert.Equal(t, 2*headerPatience+time.Millisecond, (<-third).Sub(began))
		close(released)
	})
}

// After its handler has returned, a writer is net/http's.
func TestHeadersAreLeftAloneAfterTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var late lateHeaders
		recorder := httptest.NewRecorder()
		w := &answerWriter{ResponseWriter: recorder, late: &late, flushes: true}
		w.WriteHeader(http.StatusOK)
		w.sendHeaders()
		assert.True(t, recorder.Flushed)
		recorder.Flushed = false
		<-time.After(2 * headerPatience)
		assert.False(t, recorder.Flushed)
	})
}

// departed is a writer whose client has left.
type departed struct{ *httptest.ResponseRecorder }

var errLeft = errors.New("the client has left")

func (departed) FlushError() error { return errLeft }

func TestErrorOfAFlushIsTheWrites(t *testing.T) {
	t.Parallel()
	var late lateHeaders
	w := &answerWriter{ResponseWriter: departed{httptest.NewRecorder()}, late: &late, flushes: true}
	w.WriteHeader(http.StatusOK)
	defer w.sendHeaders()
	_, err := io.WriteString(w, "data: 1\n\n")
	require.ErrorIs(t, err, errLeft)
	require.ErrorIs(t, http.NewResponseController(w).Flush(), errLeft)
}

// Headers pass as they are, also those by which a proxy knows a stream.
func TestHeadersPass(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header()["Content-Type"] = r.Header["X-Type"]
		w.Header().Set("Date", "Tue, 01 Jan 2030 00:00:00 GMT")
		switch {
		case r.Header.Get("X-Status") == "204":
			w.WriteHeader(http.StatusNoContent)
			return
		case r.Method != http.MethodHead:
			w.Header().Set("Trailer", "X-Cost")
		}
		_, _ = io.WriteString(w, r.Header.Get("X-Text"))
		w.Header().Set("X-Cost", "7")
	})
	for name, header := range map[string]map[string]string{
		"a stream":         {"X-Type": "text/event-stream; charset=utf-8", "X-Text": "data: 1"},
		"an odd stream":    {"X-Type": "Text/Event-Stream", "X-Text": "data: 1"},
		"an empty stream":  {"X-Type": "text/event-stream"},
		"a stream of none": {"X-Type": "text/event-stream", "X-Status": "204"},
		"text":             {"X-Type": "text/plain", "X-Text": "1"},
		"no type":          {"X-Text": "<html>"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodHead} {
			for _, path := range []string{"/chat/completions", "/files/1"} {
				if path == "/chat/completions" && header["X-Type"] == "" {
					continue // net/http guesses a type
				}
				send := func(base string) (reply, http.Header) {
					r := newRequest(t, method, base+path, "")
					for key, value := range header {
						r.Header.Set(key, value)
					}
					response, err := s.client.Do(r)
					require.NoError(t, err)
					defer response.Body.Close()
					body, err := io.ReadAll(response.Body)
					return reply{response.StatusCode, response.Header, string(body), err}, response.Trailer
				}
				want, wantTrailer := send(s.direct)
				got, trailer := send(s.base)
				if name == "a stream" && method != http.MethodHead {
					assert.Equal(t, "no", got.header.Get("X-Accel-Buffering"), "for nginx: %s %s", method, path)
				}
				if strings.HasPrefix(header["X-Type"], "text/event-stream") {
					got.header.Del("X-Accel-Buffering")
				}
				assert.Equal(t, want, got, "%s: %s %s", name, method, path)
				assert.Equal(t, wantTrailer, trailer, "%s: %s %s", name, method, path)
			}
		}
	}
}

// A connection that becomes another one, such as a WebSocket, passes.
func TestUpgradePasses(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nContent-Type: text/event-stream\r\n\r\n")
		_ = both.Flush()
		line, _ := both.ReadString('\n')
		_, _ = both.WriteString("heard " + line)
		_ = both.Flush()
	})
	r := newRequest(t, http.MethodGet, s.base+"/realtime", "")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	response, err := s.client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	assert.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	both, ok := response.Body.(io.ReadWriter)
	require.True(t, ok)
	_, err = io.WriteString(both, "hello\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(both).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "heard hello\n", line)
}
