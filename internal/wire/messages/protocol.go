// Package messages is the protocol of Anthropic's Messages API, as Anthropic
// and compatible providers speak it.
package messages

import (
	"net/url"
	"strconv"
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
	p := parser{request: &request{source: source}}
	p.reader.Provider, p.reader.SaysDone = "anthropic", true
	ok := p.read(body)
	p.reader.FixedPrefix = p.mayThink()
	p.reader.History, p.reader.ToolNames = p.request.history, p.request
	return p.reader.Request, p.request, ok
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

// mayThink reports whether the history or the next answer may have signed
// thinking. The newest models bind a block of thinking to everything before it:
// system prompt, tools and messages. The API refuses a request with such a
// block after anything else. So carryon must not add anything before the block,
// not even for one call: the caller's next request would lack the addition.
func (p *parser) mayThink() bool {
	switch {
	case p.thought:
		return true
	case p.thinking != "":
		return p.thinking != "disabled"
	}
	return thinksUnasked(p.reader.Model)
}

// thinksUnasked reports whether a model may think although the request does not
// ask for it: Anthropic's models do from version 5.1 on. A model without a
// version in its name counts as the newest.
func thinksUnasked(model string) bool {
	_, name, isClaude := strings.Cut(strings.ToLower(model), "claude")
	if !isClaude {
		return false
	}
	major, minor, known := versionIn(name)
	return !known || major > 5 || major == 5 && minor >= 1
}

// versionIn returns the version in a model's name, such as -opus-5-5-20260801,
// -opus-5.5@20260801 or -3-7-sonnet-latest.
func versionIn(name string) (major, minor int, ok bool) {
	name, _, _ = strings.Cut(name, "-v") // the revision of a deployment
	numbers := strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	version := make([]int, 0, 2)
	for _, number := range numbers {
		if n, err := strconv.Atoi(number); err == nil && len(number) < len("2026") && len(version) < cap(version) {
			version = append(version, n)
			continue
		}
		break // a date
	}
	switch len(version) {
	case 0:
		return 0, 0, false
	case 1:
		return version[0], 0, true
	}
	return version[0], version[1], true
}
