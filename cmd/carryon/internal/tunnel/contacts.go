package tunnel

import (
	"sync"
	"sync/atomic"
)

// maxContacts is how many hosts are remembered.
const maxContacts = 200

// Contact is a host that a client has asked for.
type Contact struct {
	Host       string // with its port, unless that is the one of HTTPS
	Answered   bool   // it is a host of models, to which somebody has sent a request
	Distrusted bool   // it is a host of models, for which a client has refused the certificate or left without a request
	Unread     bool   // it is a host of models, to which a client spoke something else than HTTP/1.1
	Sent       int64  // bytes that passed unread to it
}

// contacts is what is known about hosts.
type contacts struct {
	mu    sync.Mutex
	hosts map[string]*contact
	order []*contact
}

// contact is what is known about a host.
type contact struct {
	host             string
	sent             atomic.Int64
	used             atomic.Bool
	refused, skipped atomic.Bool
}

// of returns what is known about a host. It forgets hosts beyond the limit.
func (c *contacts) of(name string, port int) *contact {
	host := name
	if port != secure {
		host = join(name, port)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.hosts[host]; known != nil {
		return known
	}
	found := &contact{host: host}
	if len(c.order) < maxContacts {
		if c.hosts == nil {
			c.hosts = make(map[string]*contact)
		}
		c.hosts[host] = found
		c.order = append(c.order, found)
	}
	return found
}

// distrusted records that a client may not have accepted the certificate for a host. Any
// request to the host proves the contrary.
func (c *contact) distrusted() { c.refused.Store(true) }

// unread records that a client's connection to a host of models was not answered.
func (c *contact) unread() { c.skipped.Store(true) }

func (c *contacts) all() []Contact {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Contact, 0, len(c.order))
	for _, one := range c.order {
		all = append(all, Contact{
			Host: one.host, Answered: one.used.Load(), Distrusted: one.refused.Load() && !one.used.Load(), Unread: one.skipped.Load(),
			Sent: one.sent.Load(),
		})
	}
	return all
}
