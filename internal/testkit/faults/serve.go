package faults

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
)

// ServeHTTP implements [http.Handler] with the answers of RoundTrip. If an
// answer breaks off, it resets the connection: see [Drill.JudgeReset].
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response, err := u.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer response.Body.Close() //nolint:errcheck // it cannot fail
	maps.Copy(w.Header(), response.Header)
	_, err = io.Copy(w, response.Body)
	control := http.NewResponseController(w)
	err = errors.Join(err, control.Flush())
	if err == nil {
		return
	}
	conn, _, err := control.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection without a reset
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
