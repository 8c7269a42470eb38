// Package messages is the protocol of Anthropic's Messages API, as Anthropic
// and compatible providers speak it.
package messages

import (
	"net/url"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/wire"
)

// Protocol is Messages.
type Protocol struct{}

var _ wire.Protocol = Protocol{}

// Match implements [wire.Protocol]. Batches and the counting of tokens have paths
// of their own. On Vertex AI the path names the model, and other publishers' models
// take other requests.
func (Protocol) Match(u *url.URL) bool {
	if strings.HasSuffix(u.Path, ":rawPredict") || strings.HasSuffix(u.Path, ":streamRawPredict") {
		return strings.Contains(u.Path, "/publishers/anthropic/models/")
	}
	return strings.HasSuffix(u.Path, "/messages")
}

// Parse implements [wire.Protocol]. Other APIs have a path that ends in
// /messages too, but no list of messages in the body.
func (Protocol) Parse(_ *url.URL, body []byte, source wire.Body) (adapter.Request, wire.Request, bool) {
	p := parser{request: &request{source: source}, facts: adapter.Request{Provider: "anthropic", SaysDone: true}}
	ok := p.read(body)
	p.facts.FixedPrefix = p.mayThink()
	p.facts.History, p.facts.ToolNames = history(source), p.request
	if first, messages := p.conversation.firstCall, p.messages; first >= 0 {
		p.facts.Loop = func(add func(string)) { addLoop(messages, first, add) }
	}
	return p.facts, p.request, ok
}

// The types of content blocks that this package looks at.
const (
	typeText       = "text"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
	typeThinking   = "thinking"
	typeRedacted   = "redacted_thinking"
	typeConnector  = "connector_text" // signed like thinking
	typeCompaction = "compaction"
)

// isThinking reports whether blocks of the type hold reasoning.
func isThinking(kind string) bool {
	return kind == typeThinking || kind == typeRedacted || kind == typeConnector
}

// isKnown reports whether carryon knows the type, and blocks of it are not
// calls that the client must answer. Tools that the provider runs come with
// their results.
func isKnown(kind string) bool {
	switch kind {
	case typeText, "server_tool_use", "mcp_tool_use", "container_upload", "fallback":
		return true
	}
	return isThinking(kind) || strings.HasSuffix(kind, "_tool_result")
}
