// Package protocols is the table of the wire protocols, which the transport and the
// command share. A new protocol is a package of its own, and a row here.
package protocols

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/chatcompletions"
	"github.com/carryon-go/carryon/internal/wire/gemini"
	"github.com/carryon-go/carryon/internal/wire/messages"
	"github.com/carryon-go/carryon/internal/wire/responses"
)

// row is a protocol in the table.
type row struct {
	new       func() wire.Protocol                    // for one transport
	endpoints []string                                // the ends of the paths whose answers carryon reads
	serves    func(path string) bool                  // whether a path belongs to the API, whether or not carryon reads its answers
	error     func(status int, message string) []byte // an error in the API's form, for a status of HTTP
}

// table has the protocols. The last one serves every path that no other serves.
var table = []row{ //nolint:gochecknoglobals // constant
	{func() wire.Protocol { return messages.Protocol{} }, []string{"/messages", ":rawPredict", ":streamRawPredict"}, isMessages, messagesError},
	{func() wire.Protocol { return gemini.Protocol{} }, []string{":generateContent", ":streamGenerateContent"}, gemini.Serves, geminiError},
	{func() wire.Protocol { return responses.New() }, []string{"/responses"}, isAny, openAIError},
	{func() wire.Protocol { return chatcompletions.Protocol{} }, []string{"/chat/completions"}, isAny, openAIError},
}

// New returns the protocols for one transport, the most common one first. Their paths
// differ.
func New() []wire.Protocol {
	all := make([]wire.Protocol, 0, len(table))
	for _, p := range slices.Backward(table) {
		all = append(all, p.new())
	}
	return all
}

// Endpoint returns the endpoint that a path ends in, or "".
func Endpoint(path string) string {
	for _, p := range table {
		for _, endpoint := range p.endpoints {
			if strings.HasSuffix(path, endpoint) {
				return endpoint
			}
		}
	}
	return ""
}

// Error returns an error in the form of the API that a path belongs to.
func Error(path string, status int, message string) []byte {
	return table[slices.IndexFunc(table, func(p row) bool { return p.serves(path) })].error(status, message)
}

// IsKnown reports whether clients of any API ask for a path below their base URL.
func IsKnown(path string) bool {
	if gemini.Serves(path) || isBelow(path, "/models") {
		return true
	}
	return slices.ContainsFunc(table, func(p row) bool {
		return slices.ContainsFunc(p.endpoints, func(endpoint string) bool { return isBelow(path, endpoint) })
	})
}

// isBelow reports whether a path is that of the endpoint, or below it.
func isBelow(path, endpoint string) bool {
	rest, ok := strings.CutPrefix(path, endpoint)
	return ok && (rest == "" || rest[0] == '/')
}

func isMessages(path string) bool { return strings.Contains(path, "/messages") }

func isAny(string) bool { return true }

// errorType is the type of an error that a proxy reports.
const errorType = "proxy_error"

func openAIError(_ int, message string) []byte {
	return rawjson.Object("error", map[string]string{"type": errorType, "message": message})
}

func messagesError(_ int, message string) []byte {
	return rawjson.Object("type", "error", "error", map[string]string{"type": errorType, "message": message})
}

func geminiError(status int, message string) []byte {
	words := map[int]string{403: "PERMISSION_DENIED", 404: "NOT_FOUND", 408: "DEADLINE_EXCEEDED", 502: "UNAVAILABLE"}
	word := cmp.Or(words[status], "UNKNOWN")
	return rawjson.Object("error", map[string]any{"code": status, "message": message, "status": word})
}
