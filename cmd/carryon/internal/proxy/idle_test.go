package proxy

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

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
