// Command proxy puts carryon in front of any OpenAI-compatible endpoint, for
// programs in any language: they change their base URL and nothing else.
//
//	go run ./examples/proxy -upstream https://api.openai.com/v1
//	curl http://127.0.0.1:8787/v1/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" ...
//
// The todo list is read from the conversation itself. What carryon did lately
// is shown at /debug/carryon.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	c, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, c, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and then lets the answers that are under way end.
func run(ctx context.Context, c config, w io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return fmt.Errorf("%w (-listen sets the address)", err)
	}
	level := slog.LevelWarn
	if c.verbose {
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
	say(w, "Stopping. Answers that are under way have %v to end.", c.patience)
	return shutdown(context.WithoutCancel(ctx), server, c.patience)
}

// greet says where everything is.
func greet(w io.Writer, c config, listening net.Addr) {
	at := listening.String()
	tcp, ok := listening.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		at = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	upstream := *c.upstream
	upstream.RawQuery = "" // there may be a key in it
	say(w, "carryon stands in front of %s", &upstream)
	say(w, "  base URL for clients: http://%s%s", at, prefix)
	say(w, "  what it does lately:  http://%s%s", at, pagePath)
	if ok && !tcp.IP.IsLoopback() {
		say(w, "  Both are open to everybody who can reach this machine.")
	}
}

// say writes a line to the terminal.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // there may be nobody to read it
}

// shutdown refuses new requests and gives those that are under way some time.
func shutdown(ctx context.Context, server *http.Server, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("answers that were still under way after %v have been cut short", patience)
		_ = server.Close() // as has been said
	}
	return err
}
