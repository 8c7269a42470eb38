package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/rs/cors"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/agentlists"
	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

const (
	// prefix replaces the path of the upstream's base URL.
	prefix   = "/v1"
	pagePath = "/debug/carryon"
)

// newBase returns the transport for requests to the upstream. It has no limit on
// the time of an answer: the client decides how long to wait.
func newBase(c *Config) *http.Transport {
	via := http.ProxyFromEnvironment
	if c.Via != nil {
		via = func(r *http.Request) (*url.URL, error) { return c.Via(r.URL) }
	}
	return &http.Transport{
		Proxy:               via,
		TLSClientConfig:     &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 1000, // as many as may be busy at once: to dial costs more than an answer
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,     // only clients ask for compression
		WriteBufferSize:     8 << 10,  // sends a short request in one system call
		ReadBufferSize:      16 << 10, // reads much of an answer in one
	}
}

// Proxy is the handler of all requests: those for the upstream, the page, /healthz
// and the metrics.
type Proxy struct {
	http.Handler

	config     *Config
	forwarding http.Handler // of requests for an upstream alone
	journal    *journal
	middleware *middleware.Middleware
	logger     *slog.Logger
	hints      hints
	late       lateHeaders
	control    *control
	metrics    *metrics // nil without -metrics
}

// newProxy returns a proxy that reaches its upstream through base. If state is nil,
// the proxy keeps its state in memory.
func newProxy(c *Config, base http.RoundTripper, state records.Records, logger *slog.Logger) (*Proxy, error) {
	p := &Proxy{config: c, journal: newJournal(c), logger: logger}
	p.hints.logger = logger
	if c.Metrics {
		var err error
		p.metrics, err = newMetrics(p.journal)
		if err != nil {
			return nil, fmt.Errorf("-metrics: %w", err)
		}
	}
	p.middleware = p.newMiddleware(state)
	p.control = newControl(c, p.middleware, logger)
	p.control.start()
	p.forwarding = p.forward(base)
	guarded, err := newGuard(c, p.routes(p.forwarding))
	if err != nil {
		return nil, fmt.Errorf("-cors: %w", err)
	}
	p.Handler = guarded
	return p, nil
}

// forWebsites lets the websites of -cors read what next answers.
func (p *Proxy) forWebsites(next http.Handler) http.Handler {
	if len(p.config.CORS) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: p.config.CORS, AllowedHeaders: []string{"*"}, ExposedHeaders: []string{"*"},
		AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
	}).Handler(next)
}

func (p *Proxy) newMiddleware(state records.Records) *middleware.Middleware {
	c := p.config
	options := []middleware.Option{
		middleware.WithLogger(p.logger),
		middleware.WithObserver(p.journal.observer()),
		middleware.WithUsage(c.usage()),
	}
	if state != nil {
		options = append(options, middleware.WithRecords(state))
	}
	if p.metrics != nil {
		options = append(options, middleware.WithObserver(p.metrics.observer))
	}
	if c.Clock != nil {
		options = append(options, clock.Option[middleware.Option](c.Clock))
	}
	if c.Ask {
		options = append(options, middleware.WithClosingQuestion())
	}
	return middleware.New(todo.FromConversation(append(agentlists.Readers(), todo.WithToolNames(c.TodoTools...))...), options...)
}

// forward returns the handler that asks the upstream.
func (p *Proxy) forward(base http.RoundTripper) http.Handler {
	return p.refuseWebSockets(p.record(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			upstream, replaced, _ := p.config.routeOf(r.In)
			rewrite(r, upstream, replaced)
		},
		Transport:      decoding{transport.New(encoding{&workspaces{base: base, logger: p.logger, now: p.config.now}}, p.middleware)},
		BufferPool:     newBuffers(),
		ModifyResponse: p.answered,
		ErrorHandler:   p.unanswered,
		ErrorLog:       slog.NewLogLogger(p.logger.Handler(), slog.LevelWarn),
	}))
}

// routes sends requests to their upstream, and serves the proxy's own paths, which tell
// of all clients: no website reads those.
func (p *Proxy) routes(forward http.Handler) http.Handler {
	own := http.NewServeMux()
	own.HandleFunc("GET "+healthPath, p.control.healthy)
	own.Handle("GET "+continuingPath, p.control)
	own.Handle("POST "+continuingPath, p.control)
	own.Handle("GET "+pagePath, p.journal)
	if p.metrics != nil {
		own.Handle("GET "+metricsPath, p.metrics)
	}
	forWebsites := p.forWebsites(forward)
	own.Handle("/", p.forWebsites(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && isNavigation(r) {
			w.Header().Set("Cache-Control", "no-store")
			http.Redirect(w, r, pagePath, http.StatusSeeOther)
			return
		}
		if upstream, _, _ := p.config.routeOf(r); upstream != nil {
			forward.ServeHTTP(w, r)
			return
		}
		p.hints.misdirected(r)
		refuse(w, r, http.StatusNotFound, fmt.Sprintf("no such path: %s %s; the base URL for clients is %s",
			r.Method, short(r.URL.Path, maxName), baseOf(r)))
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A mux would redirect paths such as "//a/../b".
		if _, _, certain := p.config.routeOf(r); certain {
			forWebsites.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

// isNavigation reports whether somebody has typed an address into a browser, or
// followed a link: no API's client sends such a request.
func isNavigation(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// baseOf returns the base URL that the client of a request should have.
func baseOf(r *http.Request) string { return "http://" + short(r.Host, maxName) + prefix }

// rewrite turns a request to the proxy into one to the upstream.
// The base URL of the upstream replaces that prefix of the path.
func rewrite(r *httputil.ProxyRequest, upstream *url.URL, replaced string) {
	r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, replaced)
	r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, replaced)
	r.Out.URL.RawQuery = r.In.URL.RawQuery // ReverseProxy would drop parts that it cannot parse
	r.SetURL(upstream)
	r.Out.Header.Del(sessionHeader)
	if speaks(r.Out.URL.Path) {
		// carryon cannot read compressed answers, and most clients accept them.
		r.Out.Header.Del("Accept-Encoding")
	}
}

// record adds requests to the journal and sets their session.
func (p *Proxy) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, outcomes := middleware.Capture(r.Context())
		name, from := sessionOf(r.Header, p.config.SessionHeader), caller{}
		if name != "" {
			from = callerOf(r)
			ctx = continuation.WithSession(ctx, from.sessionKey(name))
		}
		if r.Header.Get("X-Initiator") == "agent" { // Copilot says so
			ctx = continuation.Automatic(ctx)
		}
		if wait := p.config.maxWait(r); wait > 0 {
			ctx = continuation.WithDeadline(ctx, time.Now().Add(wait))
		}
		e := p.journal.begin(r, name, &from)
		how := cutShort // unless next returns: ReverseProxy panics to cut an answer short
		defer func() {
			if how == cutShort && r.Context().Err() != nil {
				how = clientLeft
			}
			shown := p.journal.end(e, how, outcomes)
			if shown.outcome.reason == reasons.Encoded {
				p.logger.WarnContext(ctx, "the body of a request is encoded in a way that carryon cannot read",
					slog.String("path", shown.Path), slog.String("encoding", short(r.Header.Get("Content-Encoding"), maxName)))
			}
			p.remember(r, &shown)
			if p.metrics != nil {
				p.metrics.ended(&shown)
			}
			if p.logger.Enabled(ctx, slog.LevelDebug) {
				p.logger.DebugContext(ctx, "request", slog.String("method", shown.Method), slog.String("path", shown.Path),
					slog.String("answer", shown.Answer()), slog.Float64("took_ms", milliseconds(shown.Took())))
			}
		}()
		answer := &answerWriter{ResponseWriter: w, late: &p.late}
		forwarded, done := p.fullDuplex(w, r, withWriter(withEntry(ctx, e), answer))
		defer done()
		defer answer.sendHeaders()
		next.ServeHTTP(answer, forwarded)
		how = whole
	})
}

// remember notes that carryon was at work in a session, for those who judge transcripts.
func (p *Proxy) remember(r *http.Request, e *entry) {
	if p.config.AtWork == "" || len(e.turns) < 2 {
		return
	}
	var names []string
	for _, h := range agentHeaders() {
		if name := r.Header.Get(h); name != "" {
			names = append(names, name)
		}
	}
	if err := atwork.Add(p.config.AtWork, names, e.Began, e.Ended); err != nil {
		p.logger.DebugContext(r.Context(), "carryon audit will not know of a continuation", slog.Any("error", err))
	}
}

// answered records an upstream answer.
func (p *Proxy) answered(r *http.Response) error {
	p.journal.answered(r.Request, r.StatusCode)
	p.hints.answered(r)
	if r.StatusCode == http.StatusSwitchingProtocols {
		p.journal.count(func(c *counts) { c.WebSockets++ })
		p.logger.WarnContext(r.Request.Context(), "a WebSocket passes carryon unread", slog.String("path", shownPath(r.Request.URL.Path)))
	}
	closeUnread(r.Request.Context(), r.Header)
	if r.StatusCode != http.StatusSwitchingProtocols { // whose body is also written to
		r.Body = quotingBody{r.Body, r.Request.Context(), p.journal}
	}
	if len(p.config.CORS) > 0 { // the proxy sets these, and browsers refuse duplicates
		for name := range r.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				r.Header.Del(name)
			}
		}
	}
	if passesAtOnce(r) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			r.Header.Set("X-Accel-Buffering", "no") // nginx would send it in lumps
		}
		flushEach(r)
	}
	return nil
}

// unanswered answers with an error if the upstream does not answer.
func (p *Proxy) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	closeUnread(r.Context(), w.Header())
	switch {
	case isLate(r.Context()):
		p.journal.answered(r, http.StatusRequestTimeout)
		refuse(w, r, http.StatusRequestTimeout, fmt.Sprintf("the rest of the request did not arrive within %v", p.config.bodyPatience))
		return
	case errors.Is(r.Context().Err(), context.Canceled):
		panic(http.ErrAbortHandler) // the client has left
	}
	p.hints.unanswered(r, err)
	err = p.journal.withoutSecrets(r.Context(), err)
	p.logger.WarnContext(r.Context(), "no answer from the upstream", slog.Any("error", err))
	p.journal.answered(r, http.StatusBadGateway)
	refuse(w, r, http.StatusBadGateway, fmt.Sprintf("no answer from %s://%s: %v", r.URL.Scheme, r.URL.Host, err))
}
