// Package proxy puts carryon in front of an endpoint that speaks a protocol carryon
// knows. It serves clients in any language: they change their base URL and
// nothing else.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve listens and answers until ctx ends, and then waits for unfinished answers.
func Serve(ctx context.Context, c *Config, w io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("%w (-listen sets the address)", err)
	}
	logger := newLogger(c, w)
	base := newBase()
	defer base.CloseIdleConnections()
	p, err := newProxy(c, base, logger)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := newServer(p, logger)
	greet(w, c, listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	say(w, "Stopping. Open answers have %v to finish.", c.patience)
	return p.shutdown(context.WithoutCancel(ctx), server)
}

// newServer returns the server for a proxy. No time limit on a connection cuts a
// long answer: see body.
func newServer(p *Proxy, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    128 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

func newLogger(c *Config, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	if c.Verbose {
		options.Level = slog.LevelDebug
	}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// greet prints the addresses.
func greet(w io.Writer, c *Config, listening net.Addr) {
	at := listening.String()
	tcp, ok := listening.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		at = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	upstream := *c.Upstream
	upstream.RawQuery = "" // it may contain a key
	say(w, "carryon stands in front of %s", &upstream)
	say(w, "  base URL for clients: http://%s%s", at, prefix)
	say(w, "  what it does lately:  http://%s%s", at, pagePath)
	if ok && !tcp.IP.IsLoopback() {
		say(w, "  Both are open to everybody who can reach this machine.")
	}
}

// say writes a line to w.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // the reader may be gone
}

// shutdown refuses new requests and waits for unfinished answers. None of them is
// continued any more, as a continuation might not end in time.
func (p *Proxy) shutdown(ctx context.Context, server *http.Server) error {
	patience := p.config.patience
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.drain(ctx, patience/drainShare)
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("answers that were still open after %v were cut off", patience)
		_ = server.Close() // err says it
	}
	return err
}

// drainShare is the part of the patience that continuations have to end in: they
// do at once, unless a client does not read.
const drainShare = 4

func (p *Proxy) drain(ctx context.Context, atMost time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	if err := p.middleware.Drain(ctx); err != nil {
		p.logger.Debug("continuations were cut off", slog.Any("error", err))
	}
}
