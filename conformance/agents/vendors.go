package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// vendors stands in for the servers that agents call by default: at their own addresses, in a network that is cut off, or
// as the proxy of a company. It answers for every host itself, with certificates of its own authority, and lets nothing
// out.
type vendors struct {
	model    http.Handler // answers the calls of a model
	listener net.Listener // of the proxy
	server   *http.Server
	direct   *http.Server // at the addresses of the hosts; nil for the proxy alone
	authority
	log io.Writer // gets a line for each request; nil to drop it
}

// vendorAddress is where the hosts are, for those who know their names.
const vendorAddress = "127.0.0.1:443"

// companyUser are the name and password of the proxy.
const companyUser = "some:body"

// startVendors starts the stand-in, whose authority's certificate is written to a file. It serves the hosts themselves if
// they are named.
func startVendors(model http.Handler, certificate string, named bool, w io.Writer) (*vendors, error) {
	v := &vendors{model: model, log: w}
	var err error
	v.authority, err = newAuthority()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(certificate, v.certificate(), 0o600); err != nil {
		return nil, err
	}
	v.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	v.server = &http.Server{Handler: http.HandlerFunc(v.serve), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go v.server.Serve(v.listener) //nolint:errcheck // Close ends it
	if !named {
		return v, nil
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", vendorAddress)
	if err != nil {
		return v, err
	}
	v.direct = &http.Server{
		Handler: http.HandlerFunc(v.answer), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{GetCertificate: v.leaf, MinVersion: tls.VersionTLS12},
	}
	go v.direct.ServeTLS(listener, "", "") //nolint:errcheck // Close ends it
	return v, nil
}

// URL returns the address for the variable HTTPS_PROXY.
func (v *vendors) URL() string { return "http://" + companyUser + "@" + v.listener.Addr().String() }

// Close ends the stand-in.
func (v *vendors) Close() {
	_ = v.server.Close()
	if v.direct != nil {
		_ = v.direct.Close()
	}
}

// serve answers a request to the proxy.
func (v *vendors) serve(w http.ResponseWriter, r *http.Request) {
	if given := r.Header.Get("Proxy-Authorization"); given != "Basic "+base64.StdEncoding.EncodeToString([]byte(companyUser)) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="company"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		v.answer(w, r)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	secure := tls.Server(bufferedConn{conn, buffered.Reader}, &tls.Config{GetCertificate: v.leaf, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12})
	server := &http.Server{Handler: http.HandlerFunc(v.answer), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	_ = server.Serve(&oneConn{conn: secure, closed: make(chan struct{})}) // it ends with the connection
}

// answer answers a request for a vendor's host.
func (v *vendors) answer(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	e, status := endpointFor(host, r)
	if status == http.StatusOK && e.body == "" && !plain(r) {
		status = http.StatusUnsupportedMediaType
	}
	if v.log != nil {
		_, _ = io.WriteString(v.log, "    "+r.Method+" "+host+r.URL.Path+" "+http.StatusText(status)+"\n")
	}
	if status == http.StatusOK && e.body == "" {
		v.model.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body := e.body
	if status != http.StatusOK {
		body = `{"type":"error","error":{"message":"` + http.StatusText(status) + `","type":"authentication_error"}}`
	}
	_, _ = io.WriteString(w, body) // the client may have left
}

// plain decompresses the body of a request, if it can.
func plain(r *http.Request) bool {
	encoding := r.Header.Get("Content-Encoding")
	if encoding == "" {
		return true
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	var decoded io.Reader
	switch encoding {
	case "gzip":
		decoded, err = gzip.NewReader(bytes.NewReader(body))
	case "zstd":
		decoded, err = zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1))
	default:
		return false
	}
	if err != nil {
		return false
	}
	r.Header.Del("Content-Encoding")
	r.Body, r.ContentLength = io.NopCloser(decoded), -1
	return true
}

// bufferedConn is a connection of which a part was read already.
type bufferedConn struct {
	net.Conn

	reader *bufio.Reader
}

// Read implements [net.Conn].
func (c bufferedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// oneConn is a listener with one connection.
type oneConn struct {
	conn   net.Conn
	once   sync.Once
	closed chan struct{}
}

// Accept returns the connection, and then waits until it is closed.
func (l *oneConn) Accept() (net.Conn, error) {
	var first net.Conn
	l.once.Do(func() { first = closing{l.conn, sync.OnceFunc(func() { close(l.closed) })} })
	if first != nil {
		return first, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

// Close implements [net.Listener].
func (l *oneConn) Close() error { return nil }

// Addr implements [net.Listener].
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// closing is a connection that says when it is closed.
type closing struct {
	net.Conn

	said func()
}

// Close implements [net.Conn].
func (c closing) Close() error {
	c.said()
	return c.Conn.Close()
}

// authority issues certificates for any host.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority() (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "carryon conformance"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return authority{key, cert}, err
}

// certificate returns the authority's certificate in PEM.
func (a authority) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// leaf issues the certificate of a host.
func (a authority) leaf(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: hello.ServerName}, DNSNames: []string{hello.ServerName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: a.key}, nil
}
