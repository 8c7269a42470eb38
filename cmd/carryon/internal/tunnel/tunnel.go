// Package tunnel is a forward proxy for one command. It ends the TLS of connections to
// hosts of models with certificates of an authority that this command alone trusts, and
// hands these connections over. Every other connection passes as it is, unread.
package tunnel

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options are the settings of a tunnel.
type Options struct {
	Run    string // a name of the run, for its authority's certificate
	Hosts  Hosts  // whose connections are handed over
	Via    func(*url.URL) (*url.URL, error)
	Roots  *x509.CertPool // for a proxy of a company that speaks TLS; nil for the system's
	Logger *slog.Logger
}

// Tunnel is a running proxy. It is the listener of the connections that it hands over:
// each has the host that its client asked for, see [Origin].
type Tunnel struct {
	hosts     Hosts
	authority *authority
	dialer    *dialer
	log       *slog.Logger
	plain     http.Handler // of requests for plain HTTP
	password  string
	allowed   []byte // the only valid credentials
	listener  net.Listener
	server    *http.Server
	seen      contacts

	ctx    context.Context //nolint:containedctx // of what outlives a request: until Close
	end    context.CancelFunc
	handed chan net.Conn
	once   sync.Once
	mu     sync.Mutex
	open   map[net.Conn]struct{} // nil once the tunnel is closed
	busy   sync.WaitGroup        // what serves them
}

// The limits of a connection to the tunnel.
const (
	headerPatience    = 10 * time.Second
	idlePatience      = 2 * time.Minute
	handshakePatience = 10 * time.Second
	connectPatience   = 30 * time.Second
	maxHeader         = 64 << 10
)

// userName is the name that belongs to the password.
const userName = "carryon"

// Start starts a tunnel on a free port of the loopback address.
func Start(ctx context.Context, o Options) (*Tunnel, error) {
	authority, err := newAuthority(o.Run, o.Hosts.names(), time.Now())
	if err != nil {
		return nil, fmt.Errorf("authority of the run: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &Tunnel{
		hosts: o.Hosts, authority: authority, log: o.Logger, listener: listener, password: rand.Text(),
		handed: make(chan net.Conn), open: make(map[net.Conn]struct{}),
	}
	t.allowed = []byte("Basic " + base64.StdEncoding.EncodeToString([]byte(userName+":"+t.password)))
	t.dialer = &dialer{
		own: netip.MustParseAddrPort(listener.Addr().String()), via: o.Via, timeout: connectPatience,
		trusted: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
	}
	t.ctx, t.end = context.WithCancel(context.WithoutCancel(ctx))
	t.plain = newPlain(t)
	t.server = &http.Server{
		Handler: http.HandlerFunc(t.serve), ReadHeaderTimeout: headerPatience, IdleTimeout: idlePatience, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug), // programs come and go as they like
	}
	t.busy.Go(func() { _ = t.server.Serve(listener) }) // Close ends it
	return t, nil
}

// URL returns the value for the variable HTTPS_PROXY. It contains the password.
func (t *Tunnel) URL() string {
	u := url.URL{Scheme: "http", User: url.UserPassword(userName, t.password), Host: t.listener.Addr().String()}
	return u.String()
}

// Contacts returns the hosts that clients have asked for, in the order of their first
// request.
func (t *Tunnel) Contacts() []Contact { return t.seen.all() }

// Close ends all connections that the tunnel has not handed over, and waits until
// nothing of it runs. It never fails.
func (t *Tunnel) Close() error {
	t.once.Do(func() {
		t.end()
		_ = t.server.Close()
		t.mu.Lock()
		open := t.open
		t.open = nil
		t.mu.Unlock()
		for conn := range open {
			_ = conn.Close()
		}
	})
	t.busy.Wait()
	return nil
}

// Accept implements [net.Listener].
func (t *Tunnel) Accept() (net.Conn, error) {
	select {
	case conn := <-t.handed:
		return conn, nil
	case <-t.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Addr implements [net.Listener].
func (t *Tunnel) Addr() net.Addr { return t.listener.Addr() }

// keep makes Close end a connection, unless the returned function was called before. It
// returns nil if the tunnel is closed.
func (t *Tunnel) keep(conn net.Conn) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		return nil
	}
	t.open[conn] = struct{}{}
	t.busy.Add(1)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, conn)
		t.busy.Done()
	}
}

// serve answers a request to the proxy.
func (t *Tunnel) serve(w http.ResponseWriter, r *http.Request) {
	isConnect := r.Method == http.MethodConnect
	switch {
	case !isConnect && (!r.URL.IsAbs() || r.ProtoMajor != 1):
		deny(w, http.StatusBadRequest, "this is the proxy of a run, for requests to other hosts")
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), t.allowed) != 1:
		// git sends its password only after this, and on the same connection.
		w.Header().Set("Proxy-Authenticate", `Basic realm="carryon"`)
		deny(w, http.StatusProxyAuthRequired, "the address of this proxy contains a password")
	case isConnect:
		t.connect(w, r)
	case r.URL.Scheme != "http":
		deny(w, http.StatusBadRequest, "ask for a connection to a host that speaks TLS (CONNECT)")
	default:
		t.plain.ServeHTTP(w, r)
	}
}

// deny answers with an error of the tunnel itself.
func deny(w http.ResponseWriter, status int, text string) {
	http.Error(w, "carryon: "+text, status)
}

// refused answers with why there is no connection to a host.
func refused(w http.ResponseWriter, err error) {
	if errors.Is(err, errItself) {
		deny(w, http.StatusForbidden, errItself.Error())
		return
	}
	deny(w, http.StatusBadGateway, strings.ToValidUTF8(err.Error(), "?"))
}
