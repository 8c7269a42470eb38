package wire

import (
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// sideCalls are the signs of side calls, which are not part of an agent's work. Such a
// request has the conversation and all of its tools, so that it hits the provider's
// cache.
type sideCalls struct {
	prompts []agents.Fact
	headers []string
	members []string // the same in lower case
	marks   []agents.Mark

	subAgentMarks, subAgentHeaders []agents.Mark // of what is not of the main conversation, such as a sub-agent's
}

var knownSideCalls = sync.OnceValue(func() *sideCalls { //nolint:gochecknoglobals // facts, put together once
	k := &sideCalls{
		prompts: agents.Collect(func(a *agents.Agent) []agents.Fact { return a.SideCalls }),
		marks:   agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SideMarks }),

		subAgentMarks:   agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SubAgentMarks }),
		subAgentHeaders: agents.Collect(func(a *agents.Agent) []agents.Mark { return a.SubAgentHeaders }),
	}
	for _, h := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Metadata }) {
		k.headers, k.members = append(k.headers, h.Text), append(k.members, strings.ToLower(h.Text))
	}
	return k
})

// IsSideCall reports whether text, the last message of a request and the
// user's, is the prompt of a side call. The answer to a side call is not a turn
// of the work.
func IsSideCall(text string) bool {
	for i := range knownSideCalls().prompts {
		if strings.HasPrefix(text, knownSideCalls().prompts[i].Text) {
			return true
		}
	}
	return false
}

var knownNudges = sync.OnceValue(func() []agents.Fact { //nolint:gochecknoglobals // the same
	return agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Nudges })
})

// IsNudge reports whether an agent of the protocol's own may have written text, a message
// with the role of the user that tells the model to go on. Users of other agents write the
// same.
func IsNudge(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(knownNudges(), func(f agents.Fact) bool { return f.Text == text })
}

// HasSideHeader reports whether a header of a request, which get returns by its name, says
// that it is a side call.
func HasSideHeader(get func(name string) string) bool {
	return headerHas(get, knownSideCalls().marks)
}

// headerHas reports whether what a request says about itself in a header has one of the
// marks.
func headerHas(get func(name string) string, marks []agents.Mark) bool {
	for _, name := range knownSideCalls().headers {
		if text := get(name); text != "" && hasMark([]byte(text), marks) {
			return true
		}
	}
	return false
}

// HasSubAgentHeader reports whether a header of a request, which get returns by its name, says
// that it is not of the main conversation: a sub-agent sends it, for example.
func HasSubAgentHeader(get func(name string) string) bool {
	for i := range knownSideCalls().subAgentHeaders {
		m := &knownSideCalls().subAgentHeaders[i]
		if value := get(m.Member); value != "" && (m.Value == "" || m.Value == value) {
			return true
		}
	}
	return headerHas(get, knownSideCalls().subAgentMarks)
}

// HasSideMetadata reports whether the client_metadata of a request says that it is a side
// call.
func HasSideMetadata(metadata []byte) bool { return metadataHas(metadata, knownSideCalls().marks) }

// HasSubAgentMetadata reports whether the client_metadata of a request says that a sub-agent
// sends it.
func HasSubAgentMetadata(metadata []byte) bool {
	return metadataHas(metadata, knownSideCalls().subAgentMarks)
}

func metadataHas(metadata []byte, marks []agents.Mark) bool {
	for _, name := range knownSideCalls().members {
		if raw := rawjson.Member(metadata, name); rawjson.IsString(raw) {
			text, _ := rawjson.Text(raw, nil)
			if hasMark(text, marks) {
				return true
			}
		}
	}
	return false
}

// hasMark reports whether what a request says about itself has one of the marks.
func hasMark(object []byte, marks []agents.Mark) bool {
	for i := range marks {
		m := &marks[i]
		if rawjson.TextOf(rawjson.Member(object, m.Member)) == m.Value {
			return true
		}
	}
	return false
}
