package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStream measures a streamed call with nothing to continue, against a
// reverse proxy without carryon.
func BenchmarkStream(b *testing.B) {
	const chunks = 100
	const head = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1893456001,"model":"test-model",`
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		for i := range chunks {
			_, _ = fmt.Fprintf(w, "data: "+head+`"choices":[{"index":0,"delta":{"content":"word %d "},"finish_reason":null}]}`+"\n\n", i)
			_ = flush()
		}
		_, _ = io.WriteString(w, "data: "+head+`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	c, err := parse("-upstream", upstream.URL+prefix)
	require.NoError(b, err)
	base := newBase(new(Config))
	defer base.CloseIdleConnections()
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { rewrite(r, c.Upstream, prefix) }, Transport: base, FlushInterval: -1,
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		forward.ServeHTTP(w, r)
	})
	body := conversation{todos: `{"todos":[{"content":"Write the parser","status":"completed"}]}`, stream: true}.body()
	for _, proxy := range []struct {
		name    string
		handler http.Handler
	}{{"bare", bare}, {"carryon", handlerOf(b, c, base, slog.New(slog.DiscardHandler))}} {
		b.Run(proxy.name, func(b *testing.B) {
			server := httptest.NewServer(proxy.handler)
			defer server.Close()
			client := server.Client()
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(body))
				require.NoError(b, err)
				r.Header.Set("Content-Type", "application/json")
				response, err := client.Do(r)
				require.NoError(b, err)
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(b, err)
				_ = response.Body.Close()
			}
		})
	}
}
