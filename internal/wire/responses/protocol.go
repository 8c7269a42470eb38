// Package responses is the protocol of OpenAI's Responses API, as OpenAI and
// compatible providers speak it.
//
// An answer is a list of items, and repeats its content: a text comes in its
// deltas, in three events that end it, and again in the response object of the
// event that ends the answer. Clients read different ones of these, so carryon
// makes a change in all of them.
package responses

import (
	"net/url"
	"strings"

	"github.com/carryon-go/carryon/adapter"
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
func (p Protocol) Parse(_ *url.URL, body []byte, later wire.Body) (adapter.Request, wire.Request, bool) {
	in := parser{
		request:   &request{chains: p.chains, caller: p.caller, stored: true, later: later},
		firstCall: -1, facts: adapter.Request{Provider: "openai"},
	}
	ok := in.read(body)
	in.facts.History, in.facts.ToolNames = history(later), in.request
	if first, input := in.firstCall, in.input; first >= 0 {
		in.facts.Loop = func(add func(string)) { addLoop(input, first, add) }
	}
	return in.facts, in.request, ok
}

// Translates implements [wire.Translator].
func (p Protocol) Translates() bool { return !p.chains.isEmpty() }

// Translate implements [wire.Translator]. It chains a request that refers to a
// joined answer to the last response in that answer: only that response has
// everything that the caller was shown in its history.
func (p Protocol) Translate(body []byte) []byte { return p.chains.translate(p.caller, body) }
