// Package proxy is a reverse proxy that runs carryon in front of a model endpoint.
// It serves clients in any language: they change only their base URL.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"
)

// Serve runs a proxy until ctx ends, and then waits for open answers. It writes its
// messages and its log to w.
func Serve(ctx context.Context, c *Config, w io.Writer) error {
	logger := c.Logger(w)
	s, err := Start(ctx, c, logger)
	if err != nil {
		return err
	}
	out := console{w, logger, c.LogFormat == "json"}
	s.obey(ctx, reloadSignals(c))
	out.greet(c, s.listening, s.SwitchOff())
	if advice := c.Probe(ctx); advice != "" && ctx.Err() == nil {
		out.warn(advice)
	}
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
	}
	out.stopping(c.DrainTimeout)
	err = s.Stop(context.WithoutCancel(ctx))
	out.sumUp(s.Summary())
	return err
}

// Server is a running proxy.
type Server struct {
	proxy     *Proxy
	server    *http.Server
	answering *http.Server // of [Server.Answer]; nil without it
	base      *http.Transport
	state     engine // nil if the state is in memory
	listening net.Addr
	ended     chan error // receives the error of Serve

	background    sync.WaitGroup // what runs beside the answers
	endBackground context.CancelFunc
}

// Start starts a proxy, which obeys the signals that switch continuing off and on. Call
// [Server.Stop] to release it.
func Start(ctx context.Context, c *Config, logger *slog.Logger) (*Server, error) {
	base := newBase(c)
	state, err := openState(ctx, c.State)
	if err != nil {
		return nil, err
	}
	p, err := newProxy(c, base, recordsOf(state), logger)
	if err != nil {
		return nil, errors.Join(err, closeState(state))
	}
	if _, err := c.Bind(ctx); err != nil {
		return nil, errors.Join(err, closeState(state))
	}
	keeper := newKeeper(c, p.journal, recordsOf(state), &p.hints)
	if keeper != nil {
		if err := keeper.begin(ctx); err != nil {
			return nil, errors.Join(err, c.listener.Close(), closeState(state))
		}
	}
	listener := c.listener
	c.listener = nil
	s := &Server{state: state, proxy: p, server: newServer(p, logger), base: base, listening: listener.Addr(), ended: make(chan error, 1)}
	go func() { s.ended <- s.server.Serve(listener) }()
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	s.endBackground = end
	s.obey(beside, switchSignals())
	s.background.Go(func() { sweep(beside, state, logger) })
	if keeper != nil {
		s.background.Go(func() { keeper.run(beside) })
	}
	return s, nil
}

// obey does what an operator's signals ask for, until ctx ends.
func (s *Server) obey(ctx context.Context, obeyed []os.Signal) {
	if len(obeyed) == 0 {
		return // Notify would take all signals
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, obeyed...)
	s.background.Go(func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-ctx.Done():
				return
			case one := <-signals:
				s.proxy.control.obey(one)
			}
		}
	})
}

// Bind begins to listen, and returns the URL of the proxy on this machine, without a
// path. It does nothing if the proxy listens already. [Start] answers the clients.
func (c *Config) Bind(ctx context.Context) (root string, err error) {
	if c.listener == nil {
		if c.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen); err != nil {
			return "", fmt.Errorf("%w (-listen sets the address)", err)
		}
	}
	return rootOf(c.listener.Addr()), nil
}

// Stop refuses new requests and waits for open answers, up to -drain-timeout; then it
// cuts them off and returns an error. Calls get no more continuations meanwhile,
// because a continuation might not end in time.
func (s *Server) Stop(ctx context.Context) error {
	defer s.base.CloseIdleConnections()
	timeout := s.proxy.config.DrainTimeout
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.proxy.drain(ctx, timeout/drainShare)
	err := s.shutdown(ctx, timeout)
	s.proxy.drain(context.WithoutCancel(ctx), checkGrace)
	s.endBackground()
	s.background.Wait()
	return errors.Join(err, closeState(s.state))
}

// shutdown ends the servers. It cuts off what is still open at the end of ctx.
func (s *Server) shutdown(ctx context.Context, timeout time.Duration) error {
	err := s.server.Shutdown(ctx)
	if s.answering != nil {
		err = errors.Join(err, s.answering.Shutdown(ctx))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("answers that were still open after %v were cut off", timeout)
		_ = s.server.Close() // err says it
		if s.answering != nil {
			_ = s.answering.Close()
		}
	}
	return err
}

// Root returns the URL of the proxy on this machine, without a path.
func (s *Server) Root() string { return rootOf(s.listening) }

// Page returns the URL of the page that shows what carryon does.
func (s *Server) Page() string { return s.Root() + pagePath }

// SwitchOff returns the command that switches continuing off.
func (s *Server) SwitchOff() string { return s.proxy.control.switchOff(s.Root()) }

// Summary returns what carryon has done so far.
func (s *Server) Summary() Summary { return s.proxy.journal.summary() }

// Hints returns the probable causes of the errors so far.
func (s *Server) Hints() []string { return s.proxy.hints.all() }

// newServer returns the server for a proxy. Its timeouts cut no long answer, and no
// long request whose data keeps arriving: see body.
func newServer(p *Proxy, logger *slog.Logger) *http.Server {
	unused := new(fresh)
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       p.config.bodyPatience, // which body extends
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    128 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		ConnState:         unused.track,
	}
	server.RegisterOnShutdown(unused.close)
	return server
}

// rootOf returns the URL of a listener's address.
func rootOf(listening net.Addr) string {
	if tcp, ok := listening.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", tcp.Port)
	}
	return "http://" + listening.String()
}

// drainShare is the divisor of the drain timeout that gives continuations' time to end.
// They end at once, unless a client does not read.
const drainShare = 4

// checkGrace is how long a command of -until has to end, however short the drain timeout
// is: it would go on without the proxy.
const checkGrace = 6 * time.Second

func (p *Proxy) drain(ctx context.Context, atMost time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	if err := p.middleware.Drain(ctx); err != nil {
		p.logger.Debug("continuations were cut off", slog.Any("error", err))
	}
}

// fresh is the set of connections on which nothing has arrived yet. Browsers open
// such connections in advance, and a stopping server would wait five seconds for
// them.
type fresh struct {
	conns sync.Map // of net.Conn
}

// track is the [http.Server.ConnState] of the server.
func (f *fresh) track(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		f.conns.Store(conn, nil)
	} else {
		f.conns.Delete(conn)
	}
}

// close closes all connections of the set.
func (f *fresh) close() {
	f.conns.Range(func(conn, _ any) bool {
		if c, ok := conn.(net.Conn); ok {
			_ = c.Close() // nobody has sent anything
		}
		return true
	})
}
