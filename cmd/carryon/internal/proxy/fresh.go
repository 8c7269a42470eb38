package proxy

import (
	"net"
	"net/http"
	"sync"
)

// fresh are the connections on which nothing has come yet. A browser that shows the
// page opens some in advance, and a server that stops would wait for them for five
// seconds.
type fresh struct {
	conns sync.Map // of net.Conn
}

// track follows the connections of a server: see [http.Server.ConnState].
func (f *fresh) track(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		f.conns.Store(conn, nil)
	} else {
		f.conns.Delete(conn)
	}
}

// close closes them.
func (f *fresh) close() {
	f.conns.Range(func(conn, _ any) bool {
		if c, ok := conn.(net.Conn); ok {
			_ = c.Close() // nobody has sent anything
		}
		return true
	})
}
