package proxy

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/carryontest"
)

// nobody returns an address at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func TestUpstreamThatIsDown(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		address := nobody(t)
		s := sceneAt(t, "http://"+address+"/v1")
		got := s.send(post(t, s.base, conversation{stream: stream}))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusBadGateway, got.status)
		assert.Equal(t, "application/json", got.header.Get("Content-Type"))
		assert.JSONEq(t, `{"error":{"type":"proxy_error","message":"carryon: no answer from http://`+address+
			`: dial tcp `+address+`: connect: connection refused"}}`, got.body)
		s.served.wait()
		entry := s.report(t).Entries[0]
		assert.Equal(t, "502", entry.Answer())
		assert.Contains(t, s.logs.String(), "connection refused")
	})
}

func TestUpstreamThatIsDownIsAnErrorOfTheSDK(t *testing.T) {
	t.Parallel()
	s := sceneAt(t, "http://"+nobody(t)+"/v1")
	config := openai.DefaultConfig("sk-secret-key")
	config.BaseURL, config.HTTPClient = s.base, s.client
	_, err := openai.NewClientWithConfig(config).CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m"})
	var api *openai.APIError
	require.ErrorAs(t, err, &api)
	assert.Equal(t, http.StatusBadGateway, api.HTTPStatusCode)
	assert.Contains(t, api.Message, "carryon: no answer from http://127.0.0.1")
}

func TestErrorsOfTheUpstreamPass(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t)
		const body = `{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}`
		s.upstream.Append(carryontest.Status(http.StatusTooManyRequests, body).Header("Retry-After", "7"))
		got := s.send(post(t, s.base, conversation{stream: stream}))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusTooManyRequests, got.status)
		assert.Equal(t, "7", got.header.Get("Retry-After"))
		assert.Equal(t, body, got.body)
	})
}

func TestStreamThatIsCutIsCutForTheClient(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.upstream.Append(carryontest.Text(plan).CutAfter(3))
	got := s.send(post(t, s.base, conversation{stream: true}))
	require.ErrorIs(t, got.err, io.ErrUnexpectedEOF)
	assert.Contains(t, got.body, `"Next, "`)
	s.served.wait()
	entry := s.report(t).Entries[0]
	assert.Equal(t, "200, cut short", entry.Answer())
	assert.Equal(t, []string{"1 failed: unexpected EOF", "1 go on false: broke_off"}, lines(entry))
}

// leaving is an upstream that reports when the proxy closes the connection.
func leaving(left chan<- struct{}, answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r)
		<-r.Context().Done()
	}
}

// If the client leaves, the proxy cancels the request to the upstream, whatever
// state that is in.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		left, arrived := make(chan struct{}), make(chan struct{})
		s := sceneOf(t, leaving(left, func(http.ResponseWriter, *http.Request) { close(arrived) }))
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go func() {
			<-arrived
			leave()
		}()
		got := s.send(post(t, s.base, conversation{stream: stream}).WithContext(ctx))
		require.ErrorIs(t, got.err, context.Canceled)
		<-left
		s.served.wait()
		entry := s.report(t).Entries[0]
		assert.Equal(t, "the client left", entry.Answer())
		assert.NotContains(t, s.logs.String(), "WARN")
	})
}

func TestClientThatLeavesAStreamThatStalls(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	s := sceneOf(t, leaving(left, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
	}))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	response, err := s.client.Do(post(t, s.base, conversation{stream: true}).WithContext(ctx))
	require.NoError(t, err)
	defer response.Body.Close()
	readUntil(t, bufio.NewReader(response.Body), "Hello")
	leave()
	<-left
	s.served.wait()
	entry := s.report(t).Entries[0]
	assert.Equal(t, "200, cut short", entry.Answer())
	assert.Equal(t, "The call broke off", entry.Outcome.Explanation)
	assert.NotContains(t, s.logs.String(), "WARN")
}

// A client that leaves while carryon waits, or during a continuation, ends the
// call.
func TestClientThatLeavesAContinuation(t *testing.T) {
	t.Parallel()
	first := carryontest.Text("First the lexer:")
	tests := map[string]struct {
		interval string
		turn     carryontest.Turn
		until    string // this is logged
	}{
		"during it":      {"0", first.HangAfter(1), `msg="carryon: continuation started"`},
		"while it opens": {"0", first.Hang(), `msg="carryon: continuation started"`},
		"before it":      {"1h", first, `reason="Too soon since last continuation attempt"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, stream bool) {
				s := newScene(t, "-min-interval", test.interval)
				arrived := make(chan struct{})
				s.upstream.Append(carryontest.Text(plan), carryontest.Func(func(carryontest.Request) carryontest.Turn {
					close(arrived)
					return test.turn
				}))
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				go func() {
					s.logs.await(test.until)
					<-arrived
					leave()
				}()
				got := s.send(post(t, s.base, conversation{session: "a", stream: stream}).WithContext(ctx))
				require.ErrorIs(t, got.err, context.Canceled)
				s.served.wait() // returns, so the call has ended
				assert.True(t, s.report(t).Entries[0].Cut)

				s.ask(t, conversation{session: "a", user: "Go on."}, edit()) // the session is free
			})
		})
	}
}

func TestUpstreamThatAnswersBeforeTheRequestIsIn(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.ReadFull(r.Body, make([]byte, 4))
		w.WriteHeader(http.StatusUnauthorized)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(w, r.Body)
	})
	read, write := io.Pipe()
	r := newRequest(t, http.MethodPost, s.base+"/files", "")
	r.Body, r.ContentLength = read, 8
	go func() { _, _ = io.WriteString(write, "this") }()
	response, err := s.client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
	_, err = io.WriteString(write, "rest")
	require.NoError(t, err)
	require.NoError(t, write.Close())
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, "rest", string(rest))
}

// A client that breaks off its request gets no answer.
func TestClientThatLeavesItsRequest(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(strings.TrimSuffix(s.base, prefix), "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"messages\":")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	s.logs.await("msg=request")
	assert.Empty(t, s.upstream.Requests())
	assert.Zero(t, s.report(t).Counts.Calls)
}

// The journal shows the failure of a continuation, and the answer does not.
func TestContinuationThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		turn carryontest.Turn
		want string
	}{
		"status":  {carryontest.Status(http.StatusTooManyRequests, `{"error":{"message":"Slow down"}}`), "HTTP status 429"},
		"cut":     {carryontest.Text("First").CutAfter(0), "unexpected EOF"},
		"refused": {carryontest.Text("").Cut(), "EOF"},
		"error":   {carryontest.Text("First").ErrorAfter(1, "No more than 5 calls"), "the provider reported an error"},
		"page":    {carryontest.Status(http.StatusOK, "<html>Hello</html>"), transport.ErrKind.Error()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			got := s.ask(t, conversation{stream: true}, carryontest.Text(plan), test.turn, test.turn, test.turn)
			assert.Contains(t, got.body, `"finish_reason":"stop"`)
			assert.True(t, strings.HasSuffix(got.body, "data: [DONE]\n\n"))
			report := s.report(t)
			assert.Equal(t, []string{
				"1 text, finish reason stop, tokens 15", "1 go on true: satisfied",
				"2 failed, attempt 1: " + test.want, "2 go on true: satisfied", "2 failed: the answer goes on without this turn",
				"3 failed, attempt 1: " + test.want, "3 go on true: satisfied", "3 failed: the answer goes on without this turn",
				"4 failed, attempt 1: " + test.want, "4 failed: the answer goes on without this turn",
			}, lines(report.Entries[0]))
			assert.Equal(t, 3, report.Counts.Failed)
			assert.Equal(t, results{Failed: 3}, report.Counts.Results)
			assert.Equal(t, stateFailed, report.Entries[0].State)
			assert.Equal(t, "200", report.Entries[0].Answer())
		})
	}
}

// A request that carryon does not read is still being sent when the upstream
// refuses it. The server must not be asked for more of its body then.
func TestLargeRequestToAnUpstreamThatIsDown(t *testing.T) {
	t.Parallel()
	s := sceneAt(t, "http://"+nobody(t)+"/v1")
	for range 20 {
		got := s.send(newRequest(t, http.MethodPost, s.base+"/embeddings", strings.Repeat("x", 4<<20)))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusBadGateway, got.status)
	}
}

// A client that stops in the middle of a request gets an error, if the upstream has
// not answered, and its connection is closed, whatever the upstream does.
func TestRequestThatStopsHalfWayIsClosed(t *testing.T) {
	t.Parallel()
	early := func(w http.ResponseWriter) { // otherwise the upstream reads the body before it answers
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Connection", "close")
	}
	answers := func(w http.ResponseWriter, _ *http.Request) {
		early(w)
		_, _ = io.WriteString(w, "early")
	}
	waits := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answers(w, r)
	}
	refuses := func(w http.ResponseWriter, _ *http.Request) {
		early(w)
		w.WriteHeader(http.StatusUnauthorized)
	}
	streams := func(w http.ResponseWriter, _ *http.Request) {
		early(w)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = io.WriteString(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
	const half = `{"model":"m","input":"`
	for name, test := range map[string]struct {
		upstream http.HandlerFunc // nil: nothing listens
		request  string
		want     int
	}{
		"before a call":               {waits, "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n", http.StatusRequestTimeout},
		"in a chunk":                  {waits, "POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", http.StatusRequestTimeout},
		"of HTTP 1.0":                 {waits, "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: 100\r\n", http.StatusRequestTimeout},
		"while the upstream waits":    {waits, "POST /v1/embeddings HTTP/1.1\r\nContent-Length: 100\r\n", http.StatusRequestTimeout},
		"while the upstream answers":  {answers, "POST /v1/embeddings HTTP/1.1\r\nContent-Length: 100\r\n", http.StatusOK},
		"while the upstream streams":  {streams, "POST /v1/embeddings HTTP/1.1\r\nContent-Length: 100\r\n", http.StatusOK},
		"while the upstream refuses":  {refuses, "POST /v1/embeddings HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", http.StatusUnauthorized},
		"of a large request":          {answers, "POST /v1/files HTTP/1.1\r\nContent-Length: 100000000\r\n", http.StatusOK},
		"while the upstream is down":  {nil, "POST /v1/embeddings HTTP/1.1\r\nContent-Length: 100\r\n", http.StatusBadGateway},
		"at a path that is not there": {answers, "POST /nothing HTTP/1.1\r\nContent-Length: 100\r\n", http.StatusNotFound},
		"of a website":                {answers, "POST /v1/embeddings HTTP/1.1\r\nOrigin: https://a\r\nContent-Length: 100\r\n", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := "http://" + nobody(t)
			if test.upstream != nil {
				server := httptest.NewServer(test.upstream)
				t.Cleanup(server.Close)
				upstream = server.URL
			}
			c := parsed(t, "-listen", "127.0.0.1:0", "-upstream", upstream+"/v1")
			c.bodyPatience = 300 * time.Millisecond
			r := start(t, c)
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(strings.TrimSuffix(r.base, prefix), "http://"))
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second))) // for a proxy that never closes it
			body := half
			if strings.Contains(test.request, "chunked") {
				body = "64\r\n" + half
			}
			_, err = io.WriteString(conn, test.request+"Host: localhost\r\nContent-Type: application/json\r\n\r\n"+body)
			require.NoError(t, err)
			answer, err := io.ReadAll(conn)
			require.NoError(t, err, "the proxy closes the connection")
			response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
			require.NoError(t, err)
			assert.Equal(t, test.want, response.StatusCode)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err, "the answer is whole")
			require.NoError(t, response.Body.Close())
		})
	}
}
