// Package responses is the protocol of OpenAI's Responses API, as OpenAI and
// compatible providers speak it.
//
// An answer is a list of items, and repeats its content: a text comes in its
// deltas, in three events that end it, and again in the response object of the
// event that ends the answer. Clients read different ones of these, so carryon
// makes a change in all of them.
package responses

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"net/url"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
)

// Protocol is the Responses API, for one caller. It remembers the answers that
// it has joined, so each transport has its own.
type Protocol struct {
	chains *chains
	caller identify
}

var (
	_ wire.Protocol   = Protocol{}
	_ wire.Translator = Protocol{}
)

// New returns the protocol for one transport. Its callers are one until For
// tells them apart.
func New() Protocol { return Protocol{newChains(maxChains), func(func(string)) {}} }

// For implements [wire.Translator].
func (p Protocol) For(caller func(add func(text string))) wire.Protocol {
	return Protocol{p.chains, caller}
}

// Match implements [wire.Protocol].
func (Protocol) Match(u *url.URL) bool { return strings.HasSuffix(u.Path, "/responses") }

// Parse implements [wire.Protocol].
func (p Protocol) Parse(_ *url.URL, body []byte, source wire.Body) (adapter.Request, wire.Request, bool) {
	in := parser{request: &request{chains: p.chains, caller: p.caller, stored: true, source: source}}
	in.reader.Provider = "openai"
	ok := in.read(body)
	in.reader.History, in.reader.ToolNames = in.request.history, in.request
	return in.reader.Request, in.request, ok
}

// Translates implements [wire.Translator].
func (p Protocol) Translates() bool { return !p.chains.isEmpty() }

// Translate implements [wire.Translator]. It chains a request that refers to a
// joined answer to the last response in that answer: only that response has
// everything that the caller was shown in its history.
func (p Protocol) Translate(body []byte) []byte { return p.chains.translate(p.caller, body) }

// maxChains is how many joined answers are remembered.
const maxChains = 4096

// identify adds the texts that tell a caller from others.
type identify func(add func(text string))

// digest returns what stands for the caller. It keeps none of the texts, which
// are secrets.
func (c identify) digest() (d [sha256.Size]byte) {
	h := sha256.New()
	c(func(text string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	})
	h.Sum(d[:0])
	return d
}

// chains maps the id of a joined answer, as its caller sees it, to the id of
// the server's response that has the whole answer in its history. It drops the
// least recently used answer.
type chains struct {
	mu    sync.Mutex
	limit int
	byID  map[shownID]*list.Element
	order *list.List // of chain, the newest in front
}

// shownID is an id that a caller was shown. To another caller it may mean
// something else.
type shownID struct {
	caller [sha256.Size]byte
	id     string
}

type chain struct {
	shown shownID
	last  string
}

func newChains(limit int) *chains {
	return &chains{limit: limit, byID: make(map[shownID]*list.Element), order: list.New()}
}

func (c *chains) isEmpty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len() == 0
}

// put records that the response last has the whole answer that the caller is
// shown under another id.
func (c *chains) put(caller identify, shown, last string) {
	key := shownID{caller.digest(), shown}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[key]; ok {
		e.Value = chain{key, last}
		c.order.MoveToFront(e)
		return
	}
	c.byID[key] = c.order.PushFront(chain{key, last})
	if c.order.Len() > c.limit {
		c.remove(c.order.Back())
	}
}

// forget records that an answer has begun under an id, which now means that
// answer.
func (c *chains) forget(caller identify, shown string) {
	if c.isEmpty() {
		return
	}
	key := shownID{caller.digest(), shown}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[key]; ok {
		c.remove(e)
	}
}

func (c *chains) remove(e *list.Element) {
	old, _ := c.order.Remove(e).(chain)
	delete(c.byID, old.shown)
}

// get returns the id of the response that has the whole answer.
func (c *chains) get(caller identify, shown string) (last string, ok bool) {
	key := shownID{caller.digest(), shown}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[key]
	if !ok {
		return "", false
	}
	c.order.MoveToFront(e)
	found, _ := e.Value.(chain)
	return found.last, true
}

// translate returns the request with another previous_response_id, or nil if it
// does not refer to a joined answer.
func (c *chains) translate(caller identify, body []byte) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for name := range s.Members() {
		if name != "previous_response_id" {
			continue
		}
		raw := s.Raw()
		if last, ok := c.get(caller, rawjson.TextOf(raw)); ok {
			e.Replace(s.At()-len(raw), s.At(), rawjson.Quote(last))
		}
	}
	if len(e) == 0 || !s.OK() {
		return nil
	}
	return e.Apply(body)
}
