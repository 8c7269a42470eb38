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
	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	base := newBase()
	defer base.CloseIdleConnections()
	server := &http.Server{
		Handler:           newProxy(c, base, logger),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	greet(w, c, listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	say(w, "Stopping. Open answers have %v to finish.", c.patience)
	return shutdown(context.WithoutCancel(ctx), server, c.patience)
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

// shutdown refuses new requests and waits for unfinished answers.
func shutdown(ctx context.Context, server *http.Server, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("answers that were still open after %v were cut off", patience)
		_ = server.Close() // err says it
	}
	return err
}
