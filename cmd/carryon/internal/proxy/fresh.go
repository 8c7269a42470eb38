package proxy

import (
	"net"
	"net/http"
	"sync"
)

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
