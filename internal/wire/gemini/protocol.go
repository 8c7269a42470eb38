// Package gemini is the protocol of Google's generateContent API, as the Gemini
// API, Vertex AI and Code Assist speak it.
//
// An answer is a list of chunks that all have the same form: a candidate with parts,
// and the usage so far. Clients keep each chunk's content in their history as it
// came, and some fail on anything but data lines. So each chunk that carryon shows
// has a candidate with a role and a part, nothing is written between chunks, and a
// signature stays on the part that it came with.
package gemini

import (
	"net/url"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/wire"
)

// Protocol is generateContent.
type Protocol struct{}

var _ wire.Protocol = Protocol{}

// The methods at the end of a path.
const (
	unaryMethod  = ":generateContent"
	streamMethod = ":streamGenerateContent"
)

// Match implements [wire.Protocol].
func (Protocol) Match(u *url.URL) bool {
	return strings.HasSuffix(u.Path, unaryMethod) || strings.HasSuffix(u.Path, streamMethod)
}

// Parse implements [wire.Protocol].
func (Protocol) Parse(u *url.URL, body []byte, source wire.Body) (adapter.Request, wire.Request, bool) {
	e := endpointOf(u)
	p := parser{request: &request{endpoint: e, source: source}}
	p.reader.Provider, p.reader.Model, p.reader.Streamed = e.provider, e.model, e.stream
	p.reader.LeaveAloneIf(e.stream && !e.events, reasons.Framing)
	ok := p.read(body)
	p.reader.History, p.reader.ToolNames = p.request.history, p.request
	return p.reader.Request, p.request, ok
}

// methods are those of the API's models, in any version of the API.
var methods = []string{ //nolint:gochecknoglobals // constant
	unaryMethod, streamMethod, ":countTokens", ":computeTokens", ":embedContent", ":batchEmbedContents", ":batchGenerateContent",
}

// Serves reports whether a path belongs to the API: it begins with a version that no
// other API has, or ends in a method. Only "v1" is a version of others too.
func Serves(path string) bool {
	version, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case strings.HasPrefix(version, "v1beta"), strings.HasPrefix(version, "v1alpha"), strings.HasPrefix(version, "v1internal:"):
		return true
	case version != "v1":
		return false
	case strings.HasPrefix(rest, "projects/"), strings.HasPrefix(rest, "publishers/"):
		return true
	}
	return slices.ContainsFunc(methods, func(method string) bool { return strings.HasSuffix(rest, method) })
}

// endpoint is what the URL of a request says.
type endpoint struct {
	stream   bool
	events   bool   // the answer is a stream of events, and not a JSON array
	wrapped  bool   // request and answers are members of another object, as in Code Assist
	model    string // "" if the URL does not name it
	provider string
}

func endpointOf(u *url.URL) endpoint {
	path, stream := strings.CutSuffix(u.Path, streamMethod)
	path = strings.TrimSuffix(path, unaryMethod)
	last := path[strings.LastIndexByte(path, '/')+1:]
	e := endpoint{stream: stream, events: u.Query().Get("alt") == "sse", model: last, provider: "gcp.gemini"}
	switch {
	case last == "v1internal":
		e.wrapped, e.model, e.provider = true, "", "gcp.gen_ai"
	case strings.Contains(path, "/publishers/"), strings.Contains(path, "/projects/"):
		e.provider = "gcp.vertex_ai"
	}
	return e
}

// camel returns the camel-case spelling of a member's name. Programs in Python write
// snake case, and the API reads both.
func camel(name string) string {
	if strings.IndexByte(name, '_') < 0 {
		return name
	}
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
