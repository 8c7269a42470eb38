package tunnel

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// http1 is how a client says in its handshake that it speaks HTTP/1.1.
const http1 = "http/1.1"

// connect connects a client to a host, or hands its connection over.
func (t *Tunnel) connect(w http.ResponseWriter, r *http.Request) {
	name, port, err := parseTarget(r.RequestURI)
	if err != nil {
		deny(w, http.StatusBadRequest, err.Error())
		return
	}
	contact := t.seen.of(name, port)
	if !t.hosts.Has(name, port) {
		host, err := t.dialer.connect(r.Context(), name, port)
		if err != nil {
			refused(w, err)
			return
		}
		if client, early := t.established(w); client != nil {
			t.relay(client, early, host, contact)
		} else {
			_ = host.Close()
		}
		return
	}
	if client, early := t.established(w); client != nil {
		t.answer(client, early, name, port, contact)
	}
}

// established takes over the connection of a client and tells it that it may go on. It
// also returns what the client has sent already. After a failure there is no connection.
func (t *Tunnel) established(w http.ResponseWriter) (net.Conn, []byte) {
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil
	}
	_ = client.SetDeadline(time.Time{}) // the server's own limits end here
	early, err := buffered.Peek(buffered.Reader.Buffered())
	if err == nil {
		_, err = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	}
	if err != nil {
		_ = client.Close()
		return nil, nil
	}
	return client, bytes.Clone(early)
}

// answer ends the TLS of a client that wants a host of models, and hands the connection
// over. A client that does not speak HTTP/1.1 over TLS reaches the host itself.
func (t *Tunnel) answer(client net.Conn, early []byte, name string, port int, contact *contact) {
	release := t.keep(client)
	if release == nil {
		_ = client.Close()
		return
	}
	defer release()
	_ = client.SetDeadline(time.Now().Add(handshakePatience))
	hello, said, err := readHello(client, early)
	if err != nil && (len(said) == 0 || !errors.As(err, new(tls.RecordHeaderError))) {
		_ = client.Close() // it has left, or is silent
		return
	}
	if !isForUs(hello, name) {
		contact.unread()
		_ = client.SetDeadline(time.Time{})
		t.connectUnread(client, said, name, port, contact)
		return
	}
	secured, err := t.secure(client, said, name)
	_ = client.SetDeadline(time.Time{})
	if err != nil {
		contact.distrusted()
		t.log.Warn("a client does not accept the run's certificate", slog.String("host", name), slog.Any("error", err))
		_ = client.Close()
		return
	}
	contact.distrusted() // until it sends a request: Node's clients judge a certificate after the handshake
	origin := &url.URL{Scheme: "https", Host: name}
	if port != secure {
		origin.Host = join(name, port)
	}
	select {
	case t.handed <- &answered{Conn: secured, origin: origin, contact: contact}:
	case <-t.ctx.Done():
		_ = client.Close()
	}
}

// isForUs reports whether a client that wants a host of models begins a connection that
// carryon can answer.
func isForUs(hello *tls.ClientHelloInfo, name string) bool {
	return hello != nil && (hello.ServerName == "" || strings.EqualFold(hello.ServerName, name)) &&
		(len(hello.SupportedProtos) == 0 || slices.Contains(hello.SupportedProtos, http1))
}

// errRead ends a handshake of which only the first message was wanted.
var errRead = errors.New("the first message was read")

// readHello reads a client's first message of TLS, and returns it with all that was read.
func readHello(client net.Conn, early []byte) (hello *tls.ClientHelloInfo, said []byte, err error) {
	listening := &listening{Conn: client, from: io.MultiReader(bytes.NewReader(early), client)}
	err = tls.Server(listening, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = info
			return nil, errRead
		},
	}).HandshakeContext(context.Background()) // the connection has a deadline
	if hello != nil {
		err = nil
	}
	return hello, listening.heard.Bytes(), err
}

// listening is a connection that remembers what it has read, and sends nothing.
type listening struct {
	net.Conn

	from  io.Reader
	heard bytes.Buffer
}

// Read implements [net.Conn].
func (l *listening) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	_, _ = l.heard.Write(p[:n]) // it never fails
	return n, err
}

// Write implements [net.Conn].
func (l *listening) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Close implements [net.Conn].
func (l *listening) Close() error { return nil }

// secure ends the TLS of a client as a host.
func (t *Tunnel) secure(client net.Conn, said []byte, name string) (*tls.Conn, error) {
	leaf, err := t.authority.leaf(name)
	if err != nil {
		return nil, err
	}
	conn := tls.Server(&replayed{Conn: client, reader: io.MultiReader(bytes.NewReader(said), client)}, &tls.Config{
		Certificates: []tls.Certificate{*leaf}, NextProtos: []string{http1}, MinVersion: tls.VersionTLS12,
	})
	return conn, conn.HandshakeContext(context.Background()) // the connection has a deadline
}

// connectUnread connects a client to a host to which it has spoken already.
func (t *Tunnel) connectUnread(client net.Conn, said []byte, name string, port int, contact *contact) {
	host, err := t.dialer.connect(t.ctx, name, port)
	if err != nil {
		_ = client.Close()
		return
	}
	t.relay(client, said, host, contact)
}

// relay copies between a client and a host until both have ended, or one has failed.
func (t *Tunnel) relay(client net.Conn, early []byte, host net.Conn, contact *contact) {
	defer client.Close() //nolint:errcheck // nothing is buffered
	defer host.Close()   //nolint:errcheck // the same
	releaseClient, releaseHost := t.keep(client), t.keep(host)
	if releaseClient != nil {
		defer releaseClient()
	}
	if releaseHost == nil {
		return
	}
	defer releaseHost()
	up := make(chan struct{})
	go func() {
		defer close(up)
		to := &counting{host, contact}
		if _, err := to.Write(early); err != nil {
			_ = client.Close()
			return
		}
		pass(to, host, client)
	}()
	pass(client, client, host)
	<-up
}

// pass copies what one end sends, and tells the other when it ends. After an error, it
// closes both.
func pass(to io.Writer, other, from net.Conn) {
	_, err := io.Copy(to, from)
	half, ok := other.(interface{ CloseWrite() error })
	if err == nil && ok {
		err = half.CloseWrite()
	}
	if err != nil || !ok {
		_ = other.Close()
		_ = from.Close()
	}
}

// counting counts what a client sends to a host.
type counting struct {
	host    net.Conn
	contact *contact
}

// Write implements [io.Writer].
func (c *counting) Write(p []byte) (int, error) {
	n, err := c.host.Write(p)
	c.contact.sent.Add(int64(n))
	return n, err
}

// replayed is a connection of which a part was read already.
type replayed struct {
	net.Conn

	reader io.Reader // the part, and then the connection
}

// Read implements [net.Conn].
func (r *replayed) Read(p []byte) (int, error) { return r.reader.Read(p) }

// CloseWrite ends one direction, as the connection of TCP or TLS does.
func (r *replayed) CloseWrite() error {
	if half, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return r.Close()
}

// answered is a connection to a host of models that was handed over. Its TLS has ended.
type answered struct {
	*tls.Conn

	origin  *url.URL
	contact *contact
}

// Read implements [net.Conn].
func (a *answered) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	if n > 0 {
		a.contact.used.Store(true)
	}
	return n, err
}

// Origin returns the host that the client of a connection asked for, as a base URL. The
// connection is one that a [Tunnel] has handed over.
func Origin(conn net.Conn) *url.URL {
	if a, ok := conn.(*answered); ok {
		return a.origin
	}
	return nil
}
