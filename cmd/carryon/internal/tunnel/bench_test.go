package tunnel_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/carryon-go/carryon/cmd/carryon/internal/tunnel"
)

// BenchmarkRelay copies megabytes through a tunnel, and between the same ends without it.
func BenchmarkRelay(b *testing.B) {
	const size = 1 << 20
	sent := bytes.Repeat([]byte("x"), size)
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				ask := make([]byte, 1)
				for {
					if _, err := io.ReadFull(conn, ask); err != nil {
						return
					}
					if _, err := conn.Write(sent); err != nil {
						return
					}
				}
			}()
		}
	}()
	t, err := tunnel.Start(b.Context(), tunnel.Options{Run: "bench", Via: tunnel.Proxies(func(string) string { return "" }), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = t.Close() })
	env, err := t.Environment(func(string) string { return "" }, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for name, through := range map[string]bool{"direct": false, "tunnel": true} {
		b.Run(name, func(b *testing.B) {
			address := listener.Addr().String()
			if through {
				address = t.Addr().String()
			}
			conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", address)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			if through {
				s := scene{t, env}
				_, _ = io.WriteString(conn, s.connecting(listener.Addr().String()))
				answer := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
				if _, err := io.ReadFull(conn, answer); err != nil {
					b.Fatal(err)
				}
			}
			got := make([]byte, size)
			b.SetBytes(size)
			for b.Loop() {
				_, _ = conn.Write([]byte("?"))
				if _, err := io.ReadFull(conn, got); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHandshake asks a host of models that nobody has asked before, with a connection of its own.
func BenchmarkHandshake(b *testing.B) {
	var hosts tunnel.Hosts
	if err := hosts.Add("*.example.com"); err != nil {
		b.Fatal(err)
	}
	t, err := tunnel.Start(b.Context(), tunnel.Options{Run: "bench", Hosts: hosts, Via: tunnel.Proxies(func(string) string { return "" }), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: says} //nolint:gosec // a benchmark
	go func() { _ = server.Serve(t) }()
	b.Cleanup(func() { _ = server.Close() })
	env, err := t.Environment(func(string) string { return "" }, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := scene{t, env}
	for i := 0; b.Loop(); i++ {
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", t.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		host := "h" + strconv.Itoa(i) + ".example.com"
		_, _ = io.WriteString(conn, s.connecting(host+":443"))
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			b.Fatal(err)
		}
		secured := tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: true}) //nolint:gosec // what the client checks is not carryon's
		if err := secured.HandshakeContext(b.Context()); err != nil {
			b.Fatal(err)
		}
		_ = secured.Close()
	}
}
