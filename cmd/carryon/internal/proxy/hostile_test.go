package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// Requests that no client sends by accident are refused before the model sees them, or
// are passed on as what they are. None of them takes more than a line of the log, and the next
// request is answered as ever.
func TestHostileHeaders(t *testing.T) {
	t.Parallel()
	const ask = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	body := conversation{}.body()
	length := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	tests := map[string]struct {
		request string
		status  int
	}{
		"a header that is too large":      {ask + length + "X-Large: " + strings.Repeat("x", 256<<10) + "\r\n\r\n" + body, http.StatusRequestHeaderFieldsTooLarge},
		"very many headers":               {ask + length + strings.Repeat("X-Many: x\r\n", 20_000) + "\r\n" + body, http.StatusRequestHeaderFieldsTooLarge},
		"a control character in a value":  {ask + length + "X-Control: a\x01b\r\n\r\n" + body, http.StatusBadRequest},
		"a zero byte in a session":        {ask + length + sessionHeader + ": a\x00b\r\n\r\n" + body, http.StatusBadRequest},
		"a blank in a name":               {ask + length + "X Blank: a\r\n\r\n" + body, http.StatusBadRequest},
		"a line without a colon":          {ask + length + "nonsense\r\n\r\n" + body, http.StatusBadRequest},
		"two lengths":                     {ask + length + "Content-Length: 1\r\n\r\n" + body, http.StatusBadRequest},
		"a length that is no number":      {ask + "Content-Length: many\r\n\r\n" + body, http.StatusBadRequest},
		"a length below zero":             {ask + "Content-Length: -1\r\n\r\n" + body, http.StatusBadRequest},
		"an unknown transfer encoding":    {ask + "Transfer-Encoding: gzip\r\n\r\n" + body, http.StatusNotImplemented},
		"two hosts":                       {ask + length + "Host: example.com\r\n\r\n" + body, http.StatusBadRequest},
		"a very long path":                {strings.Replace(ask, "/v1/chat", "/v1/"+strings.Repeat("x", 256<<10)+"/chat", 1) + length + "\r\n" + body, http.StatusRequestHeaderFieldsTooLarge},
		"two sessions":                    {ask + length + sessionHeader + ": a\r\n" + sessionHeader + ": b\r\n\r\n" + body, http.StatusOK},
		"a session that is no text":       {ask + length + sessionHeader + ": \xff\xfe\r\n\r\n" + body, http.StatusOK},
		"a session that is large":         {ask + length + sessionHeader + ": " + strings.Repeat("s", 64<<10) + "\r\n\r\n" + body, http.StatusOK},
		"headers of the connection":       {ask + length + "Connection: X-Api-Key, Content-Type\r\nX-Api-Key: k\r\n\r\n" + body, http.StatusOK},
		"a request to become another one": {ask + length + "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n" + body, http.StatusOK},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := carryontest.NewServer(t, carryontest.Call("edit_file", `{}`), carryontest.Call("edit_file", `{}`))
			r := start(t, parsed(t, "-listen", "127.0.0.1:0", "-upstream", upstream.URL(), "-v"))
			assert.Equal(t, test.status, raw(t, r.base, test.request))
			if test.status != http.StatusOK {
				assert.Empty(t, upstream.Requests())
			}
			assert.Equal(t, http.StatusOK, raw(t, r.base, ask+length+"\r\n"+body))
			assert.Equal(t, http.StatusOK, raw(t, r.base, "GET "+pagePath+"?format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"))
			r.stop()
			require.NoError(t, <-r.err)
			for {
				line, err := r.said.ReadString('\n')
				if err != nil {
					break
				}
				assert.Less(t, len(line), 2<<10)
			}
		})
	}
}

// raw sends bytes on a connection of its own, and returns the status of the answer.
func raw(t *testing.T, base, request string) int {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(strings.TrimSuffix(base, prefix), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }() // the proxy need not read all of it
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	return response.StatusCode
}
