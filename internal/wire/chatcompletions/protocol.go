// Package chatcompletions is the protocol of OpenAI's Chat Completions, as
// OpenAI and the many compatible providers speak it.
package chatcompletions

import (
	"net/url"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
)

// Protocol is Chat Completions.
type Protocol struct{}

var _ wire.Protocol = Protocol{}

// Match implements [wire.Protocol].
func (Protocol) Match(u *url.URL) bool { return strings.HasSuffix(u.Path, "/chat/completions") }

// Parse implements [wire.Protocol].
func (Protocol) Parse(_ *url.URL, body []byte, later wire.Body) (adapter.Request, wire.Request, bool) {
	p := parser{request: new(request), firstCall: -1, facts: adapter.Request{Provider: "openai"}}
	ok := p.read(body)
	p.facts.History = history(later)
	p.later, p.facts.ToolNames = later, p.request
	if first, messages := p.firstCall, p.messages; first >= 0 {
		p.facts.Loop = func(add func(string)) { addLoop(messages, first, add) }
	}
	return p.facts, p.request, ok
}
