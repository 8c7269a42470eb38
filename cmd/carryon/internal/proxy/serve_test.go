package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// running is a proxy that is served.
type running struct {
	base string // URL for clients
	stop context.CancelFunc
	said *bufio.Reader
	err  <-chan error // the result of Serve
}

func start(t *testing.T, c *Config) *running {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, c, write)
		_ = write.Close()
	}()
	r := &running{stop: stop, said: bufio.NewReader(read), err: ended}
	t.Cleanup(func() {
		stop()
		_, _ = io.Copy(io.Discard, r.said) // until Serve returns
		_ = read.Close()
	})
	r.base = baseURL(t, r.said)
	return r
}

// A browser opens connections in advance, and the proxy must not wait for them.
func TestStopDoesNotWaitForUnusedConnections(t *testing.T) {
	t.Parallel()
	c := parsed(t, "-listen", "127.0.0.1:0")
	c.DrainTimeout = 4 * time.Second // less than net/http gives a connection that has sent nothing
	s, err := Start(t.Context(), c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	unused, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.Root(), "http://"))
	require.NoError(t, err)
	defer unused.Close()
	answer, err := newClient(t).Do(newRequest(t, http.MethodGet, s.Root()+"/healthz", "")) // accepted after the one before
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.NoError(t, s.Stop(t.Context()))
	_, err = unused.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestShutdownLetsAStreamEndAndRefusesNewOnes(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	upstream := carryontest.NewServer(t, carryontest.Text("Hello again").GateAfter(2, open), edit())
	r := start(t, parsed(t, "-listen", "127.0.0.1:0", "-upstream", upstream.URL(), "-v"))
	response, err := newClient(t).Do(post(t, r.base, conversation{stream: true}))
	require.NoError(t, err)
	defer response.Body.Close()
	body := bufio.NewReader(response.Body)
	readUntil(t, body, `"Hello "`)

	r.stop()
	readUntil(t, r.said, "Stopping. Open answers have 10s to finish.")
	for dial(t, r.base) == nil { // the listener will be closed soon
		continue
	}
	close(open)
	rest, err := io.ReadAll(body)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "data: [DONE]")
	assert.Len(t, upstream.Requests(), 1, "no continuation is begun")
	assert.Contains(t, readUntil(t, r.said, "msg=request"), "path=/v1/chat/completions answer=200")
	require.NoError(t, <-r.err)
}

func dial(t *testing.T, base string) error {
	t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(base, "http://"), prefix)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func TestShutdownCutsAnAnswerThatTakesTooLong(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, carryontest.Text(plan).HangAfter(2))
	c := parsed(t, "-listen", "127.0.0.1:0", "-upstream", upstream.URL())
	c.DrainTimeout = 1
	r := start(t, c)
	response, err := newClient(t).Do(post(t, r.base, conversation{stream: true}))
	require.NoError(t, err)
	defer response.Body.Close()

	r.stop()
	require.EqualError(t, <-r.err, "answers that were still open after 1ns were cut off")
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestServeUnderACtxThatHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said := newBuffer()
	require.NoError(t, Serve(ctx, parsed(t, "-listen", "127.0.0.1:0"), said))
	assert.Contains(t, said.String(), "Stopping.")
}

func TestServeSaysWhereEverythingIs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		at   net.Addr
		want string
	}{
		"loopback": {
			&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8787},
			"  base URL for clients: http://127.0.0.1:8787/v1\n" +
				"  off switch:           curl -u :s\n" +
				"  recent activity:      http://127.0.0.1:8787/debug/carryon\n",
		},
		"everywhere": {
			&net.TCPAddr{IP: net.IPv6unspecified, Port: 80},
			"  base URL for clients: http://localhost:80/v1\n" +
				"  off switch:           curl -u :s\n" +
				"  recent activity:      http://localhost:80/debug/carryon\n" +
				"  Anyone who can reach this machine can use the proxy, and see the activity.\n",
		},
		"a network": {
			&net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 80},
			"  base URL for clients: http://10.1.2.3:80/v1\n" +
				"  off switch:           curl -u :s\n" +
				"  recent activity:      http://10.1.2.3:80/debug/carryon\n" +
				"  Anyone who can reach this machine can use the proxy, and see the activity.\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := new(strings.Builder)
			(&console{w: said}).greet(parsed(t, "-upstream", "https://host/v1?key=sk-secret"), test.at, "curl -u :s")
			assert.Equal(t, "carryon is a proxy in front of https://host/v1\n"+test.want, said.String())
		})
	}
}

// What costs money or goes wrong is logged, and nothing else unless it is asked for.
func TestLogAtItsDefaultLevel(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t, edit(), carryontest.Text(plan), edit(),
		carryontest.Status(http.StatusTooManyRequests, "{}"), carryontest.Status(http.StatusInternalServerError, "{}"))
	r := start(t, parsed(t, "-listen", "127.0.0.1:0", "-upstream", upstream.URL()))
	client := newClient(t)
	for range 4 {
		response, err := client.Do(post(t, r.base, conversation{session: "a"}))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	r.stop()
	require.NoError(t, <-r.err)
	rest, err := io.ReadAll(r.said)
	require.NoError(t, err)
	assert.Regexp(t, `^time=\S+ level=INFO msg="carryon: continuation started" closing_question=false todo_id=1 attempt=1 session=\S+ turn=2
time=\S+ level=WARN msg="the upstream refused a request" status=429 method=POST path=/v1/chat/completions
time=\S+ level=WARN msg="the upstream refused a request" status=500 method=POST path=/v1/chat/completions
Stopping. Open answers have 10s to finish.
carryon: sent 1 continuation, for 15 tokens; what came of that is not known
$`, string(rest))
}

// pipes is a listener whose connections are pipes.
type pipes struct{ connections chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p.connections
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8787} }

// A connection on which nothing comes is not kept for ever, wherever its client
// has stopped.
func TestConnectionOnWhichNothingComesIsClosed(t *testing.T) {
	t.Parallel()
	const request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, tt := range map[string]struct {
		sent  string
		after time.Duration
	}{
		"before the request":  {"", 10 * time.Second},
		"within the header":   {request[:30], 10 * time.Second},
		"between two":         {request, 2 * time.Minute},
		"in the next request": {request + request[:9], 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				upstream := carryontest.NewServer(t)
				handler := handlerOf(t, parsed(t, "-upstream", carryontest.BaseURL), upstream.Transport(), slog.New(slog.DiscardHandler))
				server := newServer(handler, slog.New(slog.DiscardHandler))
				listener := pipes{make(chan net.Conn)}
				served := make(chan error)
				go func() { served <- server.Serve(listener) }()
				client, connection := net.Pipe()
				listener.connections <- connection
				began := time.Now()
				go func() { _, _ = io.WriteString(client, tt.sent) }()
				answers := bufio.NewReader(client)
				if len(tt.sent) >= len(request) {
					response, err := http.ReadResponse(answers, nil)
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, response.Body)
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
				}
				_, err := io.Copy(io.Discard, answers)
				require.NoError(t, err)
				assert.Equal(t, tt.after, time.Since(began))
				close(listener.connections)
				require.ErrorIs(t, <-served, net.ErrClosed)
			})
		})
	}
}

// With -log json, a line is JSON whoever writes it: the server about a handler that panics or misuses its answer, or go-redis.
func TestJSONLogOfOthers(t *testing.T) {
	t.Parallel()
	logs := newBuffer()
	c := parsed(t, "-listen", "127.0.0.1:0", "-log", "json", "-v")
	logger := c.Logger(logs)
	p, err := newProxy(c, newBase(new(Config)), nil, logger)
	require.NoError(t, err)
	p.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.WriteHeader(http.StatusTeapot) // the server complains
		panic("a \"fault\" in\n" + r.URL.Path)
	})
	server := newServer(p, logger)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", c.Listen)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	_, err = newClient(t).Do(newRequest(t, http.MethodGet, rootOf(listener.Addr())+"/models", "")) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, io.EOF, "the server has logged the panic and then closed the connection")
	require.NoError(t, server.Close())
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
	redisLog{logger}.Printf(t.Context(), "redis: pool: %v\n\tat %q", io.EOF, "redis:6379")

	var messages []string
	for line := range strings.Lines(logs.String()) {
		var one struct{ Level, Msg string }
		require.NoError(t, json.Unmarshal([]byte(line), &one), line)
		messages = append(messages, one.Level+" "+one.Msg)
	}
	require.Len(t, messages, 3)
	assert.Contains(t, messages[0], "WARN http: superfluous response.WriteHeader call")
	assert.Contains(t, messages[1], "WARN http: panic serving")
	assert.Contains(t, messages[1], "a \"fault\" in\n/models\ngoroutine")
	assert.Equal(t, "DEBUG redis: pool: EOF\n\tat \"redis:6379\"", messages[2])
}
