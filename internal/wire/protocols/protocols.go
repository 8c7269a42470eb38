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

// Protocol is a row of the table.
type Protocol struct {
	// New returns the protocol for one transport.
	New func() wire.Protocol
	// Endpoints are the ends of the paths whose answers carryon reads.
	Endpoints []string
	// Serves reports whether a path belongs to the API, whether or not carryon reads
	// its answers.
	Serves func(path string) bool
	// Error returns an error in the API's form, for a status of HTTP.
	Error func(status int, message string) []byte
}

// table has the protocols. The last one serves every path that no other serves.
var table = []Protocol{ //nolint:gochecknoglobals // constant
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
		all = append(all, p.New())
	}
	return all
}

// Endpoint returns the endpoint that a path ends in, or "".
func Endpoint(path string) string {
	for _, p := range table {
		for _, endpoint := range p.Endpoints {
			if strings.HasSuffix(path, endpoint) {
				return endpoint
			}
		}
	}
	return ""
}

// Error returns an error in the form of the API that a path belongs to.
func Error(path string, status int, message string) []byte {
	return table[slices.IndexFunc(table, func(p Protocol) bool { return p.Serves(path) })].Error(status, message)
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
