package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

const (
	// prefix replaces the path of the upstream's base URL.
	prefix   = "/v1"
	pagePath = "/debug/carryon"

	// sessionHeader names the session of a request. The upstream does not
	// receive it.
	sessionHeader = "X-Carryon-Session"
)

// newBase returns the transport for requests to the upstream. It has no limit on
// the time of an answer: the client decides how long to wait.
func newBase() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 100, // the upstream is the only host
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // unless the client asks for it
	}
}

// newProxy returns the handler for everything that the proxy serves.
func newProxy(c *Config, base http.RoundTripper, logger *slog.Logger) http.Handler {
	journal := newJournal(c.Content)
	forward := record(journal, logger, &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { rewrite(r, c.Upstream) },
		Transport:     transport.New(base, newMiddleware(c, logger, journal)),
		FlushInterval: -1, // at once
		ModifyResponse: func(r *http.Response) error {
			journal.answered(r.Request, r.StatusCode)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { unanswered(w, r, err, journal, logger) },
		ErrorLog:     slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	})
	own := http.NewServeMux()
	own.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	own.Handle("GET "+pagePath, journal)
	own.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fmt.Sprintf("nothing at %s %s; the base URL for clients is http://%s%s",
			r.Method, short(r.URL.Path, maxName), r.Host, prefix))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A mux would redirect paths such as "//a/../b".
		if path := r.URL.Path; path == prefix || strings.HasPrefix(path, prefix+"/") {
			// An upstream may answer before it has read the whole request. Without
			// full duplex, the server would discard the rest of the request first.
			_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 supports it
			forward.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

func newMiddleware(c *Config, logger *slog.Logger, journal *journal) *middleware.Middleware {
	options := []middleware.Option{
		middleware.WithLimits(c.limits()),
		middleware.WithLogger(logger),
		middleware.WithObserver(journal.observer()),
	}
	if c.YOLO {
		options = append(options, middleware.WithApprovalMode(continuation.ApprovalYOLO))
	}
	if c.DryRun {
		options = append(options, middleware.WithDryRun())
	}
	return middleware.New(todo.FromConversation(), options...)
}

// rewrite turns a request to the proxy into one to the upstream.
func rewrite(r *httputil.ProxyRequest, upstream *url.URL) {
	r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, prefix)
	r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, prefix)
	r.Out.URL.RawQuery = r.In.URL.RawQuery // ReverseProxy would drop parts that it cannot parse
	r.SetURL(upstream)
	r.Out.Header.Del(sessionHeader)
	if strings.HasSuffix(r.Out.URL.Path, "/chat/completions") {
		// carryon cannot read compressed answers, and most clients accept them.
		r.Out.Header.Del("Accept-Encoding")
	}
}

// record adds requests to the journal and sets their session.
func record(journal *journal, logger *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, outcomes := middleware.Capture(r.Context())
		if session := r.Header.Get(sessionHeader); session != "" {
			ctx = continuation.WithSession(ctx, session)
		}
		e := journal.begin(r)
		whole := false // stays false if next panics: ReverseProxy does to cut an answer short
		defer func() {
			shown := journal.end(e, whole, outcomes)
			logger.DebugContext(ctx, "request", slog.String("method", shown.Method), slog.String("path", shown.Path),
				slog.String("answer", shown.Answer()), slog.Duration("took", shown.Took()))
		}()
		next.ServeHTTP(w, r.WithContext(withEntry(ctx, e)))
		whole = true
	})
}

// unanswered answers with an error if the upstream does not answer.
func unanswered(w http.ResponseWriter, r *http.Request, err error, journal *journal, logger *slog.Logger) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		panic(http.ErrAbortHandler) // the client has left
	}
	logger.WarnContext(r.Context(), "no answer from the upstream", slog.Any("error", err))
	journal.answered(r, http.StatusBadGateway)
	refuse(w, http.StatusBadGateway, fmt.Sprintf("no answer from %s://%s: %v", r.URL.Scheme, r.URL.Host, err))
}

// refuse answers with an error in the form of the OpenAI API.
func refuse(w http.ResponseWriter, status int, message string) {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	body.Error.Message, body.Error.Type = "carryon proxy: "+message, "proxy_error"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}
