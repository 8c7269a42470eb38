package main

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
	// prefix stands for the path of the upstream's base URL.
	prefix   = "/v1"
	pagePath = "/debug/carryon"

	// sessionHeader names the conversation that a request belongs to. It is for
	// the proxy alone.
	sessionHeader = "X-Carryon-Session"
)

// newBase returns what requests to the upstream go through. How long an answer
// may take is for the client to say.
func newBase() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 100, // there is but one host
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // it is for the client to ask for it
	}
}

// newProxy returns the handler for all that the proxy serves.
func newProxy(c config, base http.RoundTripper, logger *slog.Logger) http.Handler {
	journal := newJournal(c.content)
	forward := record(journal, logger, &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { rewrite(r, c.upstream) },
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
		// A mux would redirect what it takes for an untidy path.
		if path := r.URL.Path; path == prefix || strings.HasPrefix(path, prefix+"/") {
			// An upstream may answer before the request is all in. The server
			// would first take away what is left of it, as unread.
			_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/1 has it
			forward.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

func newMiddleware(c config, logger *slog.Logger, journal *journal) *middleware.Middleware {
	options := []middleware.Option{
		middleware.WithLimits(c.limits()),
		middleware.WithLogger(logger),
		middleware.WithObserver(journal.observer()),
	}
	if c.yolo {
		options = append(options, middleware.WithApprovalMode(continuation.ApprovalYOLO))
	}
	if c.dryRun {
		options = append(options, middleware.WithDryRun())
	}
	return middleware.New(todo.FromConversation(), options...)
}

// rewrite turns a request to the proxy into one to the upstream.
func rewrite(r *httputil.ProxyRequest, upstream *url.URL) {
	r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, prefix)
	r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, prefix)
	r.Out.URL.RawQuery = r.In.URL.RawQuery // whatever ReverseProxy thinks of it
	r.SetURL(upstream)
	r.Out.Header.Del(sessionHeader)
	if strings.HasSuffix(r.Out.URL.Path, "/chat/completions") {
		// carryon leaves compressed answers alone, and most clients ask for them.
		r.Out.Header.Del("Accept-Encoding")
	}
}

// record puts a request into the journal, and into its session.
func record(journal *journal, logger *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, outcomes := middleware.Capture(r.Context())
		if session := r.Header.Get(sessionHeader); session != "" {
			ctx = continuation.WithSession(ctx, session)
		}
		e := journal.begin(r)
		whole := false // also if next panics, as a ReverseProxy does to cut an answer short
		defer func() {
			shown := journal.end(e, whole, outcomes)
			logger.DebugContext(ctx, "request", slog.String("method", shown.Method), slog.String("path", shown.Path),
				slog.String("answer", shown.Answer()), slog.Duration("took", shown.Took()))
		}()
		next.ServeHTTP(w, r.WithContext(withEntry(ctx, e)))
		whole = true
	})
}

// unanswered answers in place of an upstream that does not.
func unanswered(w http.ResponseWriter, r *http.Request, err error, journal *journal, logger *slog.Logger) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		panic(http.ErrAbortHandler) // the client has left
	}
	logger.WarnContext(r.Context(), "no answer from the upstream", slog.Any("error", err))
	journal.answered(r, http.StatusBadGateway)
	refuse(w, http.StatusBadGateway, fmt.Sprintf("no answer from %s://%s: %v", r.URL.Scheme, r.URL.Host, err))
}

// refuse answers with an error in the form that clients of the protocol read.
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
