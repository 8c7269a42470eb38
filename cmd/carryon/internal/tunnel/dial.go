package tunnel

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"
)

// errItself is the error of a client that wants to be connected to the tunnel.
var errItself = errors.New("that is carryon itself")

// dialer connects to hosts as the user's environment says: directly, or through the
// proxy of a company.
type dialer struct {
	own     netip.AddrPort // where the tunnel listens
	via     func(*url.URL) (*url.URL, error)
	trusted *tls.Config // for a proxy that speaks TLS
	timeout time.Duration
}

// Proxies returns the function that names the proxy for a URL, if the environment has one
// for it. Programs differ in whether they read the variable for all protocols; carryon
// does, because what a program sends to the tunnel would otherwise miss that proxy.
func Proxies(getenv func(string) string) func(*url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if value := getenv(name); value != "" {
				return value
			}
		}
		return ""
	}
	all := first("ALL_PROXY", "all_proxy")
	c := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"), NoProxy: first("NO_PROXY", "no_proxy"),
		CGI: getenv("REQUEST_METHOD") != "",
	}
	if c.HTTPProxy == "" {
		c.HTTPProxy = all
	}
	if c.HTTPSProxy == "" {
		c.HTTPSProxy = all
	}
	return c.ProxyFunc()
}

// connect connects to a host. A proxy of a company resolves its name.
func (d *dialer) connect(ctx context.Context, name string, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	address := join(name, port)
	via, err := d.via(urlOf(address))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the proxy in the environment: %w", err)
	case via == nil:
		return d.direct(ctx, "tcp", address)
	case strings.HasPrefix(via.Scheme, "socks5"):
		socks, err := proxy.FromURL(via, direct(d.direct))
		if err != nil {
			return nil, err
		}
		return socks.(proxy.ContextDialer).DialContext(ctx, "tcp", address) //nolint:errcheck,forcetypeassert // that of SOCKS is one
	}
	return d.through(ctx, via, address)
}

// direct connects to an address, but not to the tunnel.
func (d *dialer) direct(ctx context.Context, network, address string) (net.Conn, error) {
	plain := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && to.Port() == d.own.Port() && (to.Addr().Unmap().IsLoopback() || to.Addr().Unmap().IsUnspecified()) {
			return errItself
		}
		return nil
	}}
	return plain.DialContext(ctx, network, address)
}

// direct is a function as a dialer.
type direct func(ctx context.Context, network, address string) (net.Conn, error)

// Dial implements [proxy.Dialer].
func (d direct) Dial(network, address string) (net.Conn, error) {
	return d(context.Background(), network, address)
}

// DialContext implements [proxy.ContextDialer].
func (d direct) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d(ctx, network, address)
}

// through asks an HTTP proxy for a connection.
func (d *dialer) through(ctx context.Context, via *url.URL, address string) (net.Conn, error) {
	port := via.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[via.Scheme]
	}
	if port == "" {
		port = "80"
	}
	conn, err := d.direct(ctx, "tcp", net.JoinHostPort(via.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("the proxy in the environment: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what follows
	opened, err := d.ask(ctx, conn, via, address)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the proxy in the environment: %w", err)
	}
	return opened, nil
}

// ask asks the proxy at the other end of a connection to connect it to an address.
func (d *dialer) ask(ctx context.Context, conn net.Conn, via *url.URL, address string) (net.Conn, error) {
	if via.Scheme == "https" {
		config := d.trusted.Clone()
		config.ServerName = via.Hostname()
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secured
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: make(http.Header)}
	if via.User != nil {
		password, _ := via.User.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(via.User.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, request) //nolint:bodyclose // what follows is the connection
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", answer.Status)
	}
	if reader.Buffered() > 0 { // the host has spoken first
		return &replayed{Conn: conn, reader: reader}, nil
	}
	return conn, nil
}

// urlOf returns the URL of a host, which may have a port.
func urlOf(host string) *url.URL { return &url.URL{Scheme: "https", Host: host} }
