// Command replicas runs two carryon proxies that share their state, behind a small round-robin balancer:
//
//	make demo DEMO=replicas ARGS='-state redis://localhost:6379'
//
// It prints a curl command, and the process ids, so that you can kill a replica. The replicas share the budget of a
// user turn. A replica that is killed loses only its open answers. Without -state, each replica has its own budget.
//
// The model is scripted: it announces its next step and does not take it. With -upstream, the proxies use a real model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	switch err := run(ctx, os.Args[1:], os.Stdout); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "replicas:", err)
		os.Exit(1)
	}
}

// settings are the values of the command line.
type settings struct {
	listen, upstream, state, program string
	replicas                         int
	think                            time.Duration
}

func parse(args []string, out io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("replicas", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8080", "`address` of the balancer")
	flags.StringVar(&s.upstream, "upstream", "", "base `URL` of a model; without it, a scripted model answers")
	flags.StringVar(&s.state, "state", "", "`URL` of the Redis or PostgreSQL that the replicas share")
	flags.StringVar(&s.program, "carryon", "", "the carryon `program`; without it, the one in this repository is built")
	flags.IntVar(&s.replicas, "replicas", 2, "`number` of replicas")
	flags.DurationVar(&s.think, "think", time.Second, "how long the scripted model thinks")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.replicas < 1 || flags.NArg() > 0 {
		return s, errors.New("there has to be a replica, and no argument (see -help)")
	}
	return s, nil
}

// run runs the model, the replicas and the balancer until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	out = &lines{w: out}
	if s.program == "" {
		dir, err := os.MkdirTemp("", "carryon-replicas")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // only temporary files
		s.program, err = build(ctx, dir)
		if err != nil {
			return err
		}
	}
	if s.upstream == "" {
		server, err := serve(ctx, "127.0.0.1:0", &model{think: s.think, out: out})
		if err != nil {
			return err
		}
		defer func() { _ = server.Close() }() // the program ends
		s.upstream = "http://" + server.Addr + "/v1"
	}
	all, err := startAll(ctx, s, out)
	defer stopAll(all)
	if err != nil {
		return err
	}
	balancer := &balancer{replicas: all, base: http.DefaultTransport}
	server, err := serve(ctx, s.listen, &httputil.ReverseProxy{Rewrite: balancer.rewrite, Transport: balancer, FlushInterval: -1})
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }() // the program ends
	explain(out, s, server.Addr)
	<-ctx.Done()
	return nil
}

// serve starts the server, and sets its address to the one that it listens on.
func serve(ctx context.Context, address string, h http.Handler) (*http.Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return server, nil
}

// explain prints what to try.
func explain(out io.Writer, s settings, address string) {
	if s.state == "" {
		say(out, "Without -state, each replica has its own state and budget.\n")
	}
	say(out, `Round-robin: http://%[1]s/v1
Ask it, again and again:
  curl -si http://%[1]s/v1/chat/completions -H 'Content-Type: application/json' -H 'X-Carryon-Session: me' -d '%[2]s'
Another text in place of "%[3]s" begins another user turn, with another budget.
One that begins with "%[4]s" has the scripted model think for a minute when it is told to go on: kill the replica then.
`, address, request(firstText), firstText, slowly)
}
