package responses

import (
	"container/list"
	"sync"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// maxChains is how many joined answers are remembered.
const maxChains = 4096

// chains maps the id of a joined answer, as the caller sees it, to the id of
// the server's response that has the whole answer in its history. It drops the
// least recently used answer.
type chains struct {
	mu    sync.Mutex
	limit int
	byID  map[string]*list.Element
	order *list.List // of chain, the newest in front
}

type chain struct{ shown, last string }

func newChains(limit int) *chains {
	return &chains{limit: limit, byID: make(map[string]*list.Element), order: list.New()}
}

func (c *chains) isEmpty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len() == 0
}

// put records that the response last has the whole answer that is shown under
// another id.
func (c *chains) put(shown, last string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[shown]; ok {
		e.Value = chain{shown, last}
		c.order.MoveToFront(e)
		return
	}
	c.byID[shown] = c.order.PushFront(chain{shown, last})
	if c.order.Len() > c.limit {
		oldest, _ := c.order.Remove(c.order.Back()).(chain)
		delete(c.byID, oldest.shown)
	}
}

// get returns the id of the response that has the whole answer.
func (c *chains) get(shown string) (last string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[shown]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(e)
	found, _ := e.Value.(chain)
	return found.last, true
}

// translate returns the request with another previous_response_id, or nil if it
// does not refer to a joined answer.
func (c *chains) translate(body []byte) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for name := range s.Members() {
		if name != "previous_response_id" {
			continue
		}
		raw := s.Raw()
		if last, ok := c.get(rawjson.TextOf(raw)); ok {
			e.Replace(s.At()-len(raw), s.At(), rawjson.Quote(last))
		}
	}
	if len(e) == 0 || !s.OK() {
		return nil
	}
	return e.Apply(body)
}
