package tunnel

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"
)

// newPlain returns the handler of requests for plain HTTP. No variable of a run sends
// them here; a program may do so all the same. They pass as they are.
func newPlain(t *Tunnel) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery // ReverseProxy would drop parts that it cannot parse
			name, port := r.In.URL.Hostname(), 80
			if text := r.In.URL.Port(); text != "" {
				port, _ = strconv.Atoi(text)
			}
			t.seen.of(name, port)
		},
		Transport: &http.Transport{
			Proxy: func(r *http.Request) (*url.URL, error) { return t.dialer.via(r.URL) }, DialContext: t.dialer.direct,
			TLSClientConfig: t.dialer.trusted, DisableCompression: true, IdleConnTimeout: idlePatience,
			TLSHandshakeTimeout: handshakePatience, ResponseHeaderTimeout: 0, ExpectContinueTimeout: time.Second,
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil && !errors.Is(err, errItself) {
				panic(http.ErrAbortHandler) // the client has left
			}
			refused(w, err)
		},
		ErrorLog: slog.NewLogLogger(t.log.Handler(), slog.LevelDebug),
	}
}
