// Command proxy puts carryon in front of any OpenAI-compatible endpoint, for
// programs in any language: they change their base URL and nothing else.
//
//	go run ./examples/proxy -upstream https://api.openai.com/v1
//	curl http://127.0.0.1:8787/v1/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" ...
//
// carryon reads the todo list from the conversation itself. /debug/carryon shows
// what it did with the latest requests.
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

// run serves until ctx ends, and then waits for unfinished answers.
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
	say(w, "Stopping. Open answers have %v to finish.", c.patience)
	return shutdown(context.WithoutCancel(ctx), server, c.patience)
}

// greet prints the addresses.
func greet(w io.Writer, c config, listening net.Addr) {
	at := listening.String()
	tcp, ok := listening.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		at = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	upstream := *c.upstream
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
