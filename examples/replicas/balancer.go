package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync/atomic"
)

// replicaHeader tells the model, and the client, which replica has answered.
const replicaHeader = "X-Replica"

// balancer sends each request to the replica whose turn it is, or to the next one if it cannot connect.
type balancer struct {
	replicas []*replica
	base     http.RoundTripper
	turn     atomic.Uint64
}

// errNoReplica is the error behind a client's status 502.
var errNoReplica = errors.New("no replica is up")

// rewrite leaves the request as it is; RoundTrip chooses the replica.
func (*balancer) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "replica", ""
}

// RoundTrip implements http.RoundTripper.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close() // it was read
	for range b.replicas {
		next := b.next()
		if next == nil {
			break
		}
		response, err := b.send(r.Context(), r, body, next)
		var failed *net.OpError
		if errors.As(err, &failed) && failed.Op == "dial" {
			continue // the replica is ending
		}
		return response, err
	}
	return nil, errNoReplica
}

// next returns the replica whose turn it is, or nil if none is up.
func (b *balancer) next() *replica {
	for range b.replicas {
		n := b.turn.Add(1) - 1
		if r := b.replicas[n%uint64(len(b.replicas))]; r.isUp() {
			return r
		}
	}
	return nil
}

func (b *balancer) send(ctx context.Context, r *http.Request, body []byte, to *replica) (*http.Response, error) {
	out := r.Clone(ctx)
	out.URL.Host, out.Body, out.ContentLength = to.host, io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.Header.Set(replicaHeader, strconv.Itoa(to.number))
	response, err := b.base.RoundTrip(out)
	if err == nil {
		response.Header.Set(replicaHeader, strconv.Itoa(to.number))
	}
	return response, err
}
