package chatcompletions

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// request has the facts about a request that are needed to extend it.
type request struct {
	stream    bool
	stored    bool                      // the provider keeps the answer
	reasoning [len(reasoningNames)]bool // the members under which the history carries reasoning
	later     wire.Body
}

var _ wire.Request = (*request)(nil)

// Stream implements [wire.Request].
func (r *request) Stream() bool { return r.stream }

// NewCodec implements [wire.Request].
func (r *request) NewCodec() wire.Codec { return &dialect{lastCall: adapter.NoIndex} }

// NewDialect implements [wire.Request].
func (r *request) NewDialect() adapter.Dialect[sse.Event] { return &dialect{document: new(document)} }

// Refusal implements [wire.Request].
func (r *request) Refusal(body []byte) error {
	if raw := rawjson.Member(body, "error"); raw != nil {
		return wire.Reported(raw)
	}
	return nil
}

// parser reads the body of a request.
type parser struct {
	*request

	facts     adapter.Request
	prefills  bool   // the last message is the beginning of the answer
	previous  []byte // the content of the message before the user's last one
	firstCall int    // the index of the message with the first call after the user's last one, or -1

	messages rawjson.Scanner // at the list of messages
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	f := &p.facts
	s := rawjson.Over(body)
	isObject := s.Kind() == '{'
	for name := range s.Members() {
		p.readMember(name, &s)
	}
	switch {
	case p.prefills:
		f.LeaveAlone = continuation.ReasonPrefill
	case f.Messages == 0:
		f.LeaveAlone = continuation.ReasonNoMessages
	case f.Unanswered && wire.IsSideCall(f.User):
		f.LeaveAlone = continuation.ReasonSideCall
	}
	return isObject && s.OK() && s.Kind() == 0
}

// readMember reads a member of the request.
func (p *parser) readMember(name string, s *rawjson.Scanner) {
	f := &p.facts
	switch name {
	case "messages":
		p.messages = *s
		p.readMessages(s)
	case "tools":
		p.readTools(s)
	case "tool_choice":
		f.Choice = adapter.ToolChoiceOf(json.RawMessage(s.Raw()))
	case "functions", "function_call":
		raw := s.Raw()
		f.Legacy = f.Legacy || !rawjson.IsNull(raw) && string(raw) != "[]"
	case "n":
		f.N, _ = strconv.Atoi(rawjson.View(s.Raw()))
	case "response_format", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "json_schema", "grammar":
		f.JSON = f.JSON || constrains(name, s)
	case "continue_final_message":
		p.prefills = p.prefills || string(s.Raw()) == "true"
	case "stream":
		p.stream = string(s.Raw()) == "true"
		f.Streamed = p.stream
	case "store":
		p.stored = string(s.Raw()) == "true"
	case "model":
		f.Model = rawjson.TextView(s.Raw())
	}
}

// constrains reports whether a member asks for an answer in another form than
// text.
func constrains(name string, s *rawjson.Scanner) bool {
	if name != "response_format" {
		return !rawjson.IsEmpty(s.Raw()) // as vLLM, SGLang and llama.cpp have it
	}
	kind := rawjson.TextOf(s.Peek("type"))
	return kind != "" && kind != "text"
}

// readMessages counts the messages, and finds the last one of the user and the
// first tool call after it.
func (p *parser) readMessages(s *rawjson.Scanner) {
	f := &p.facts
	// If there are several lists, the last one counts.
	f.Messages, f.System, f.Users, f.User, f.Unanswered, f.Previous = 0, 0, 0, "", false, ""
	prefix := false
	p.firstCall = -1
	var previous []byte // the content of the message before
	for range s.Elements() {
		m := readMessage(s)
		prefix = m.prefix
		p.addMessage(&m, previous)
		previous = m.content
	}
	p.prefills = p.prefills || prefix
	if f.Unanswered {
		f.Previous = identityOf(p.previous)
	}
}

// addMessage reads the next message. previous is the content of the message
// before it.
func (p *parser) addMessage(m *message, previous []byte) {
	f := &p.facts
	for i := range m.reasoning {
		p.reasoning[i] = p.reasoning[i] || m.reasoning[i]
		f.Reasoning = f.Reasoning || m.reasoning[i]
	}
	f.Messages++
	switch role := string(m.role); {
	case f.System == 0 && (role == `"system"` || role == `"developer"`) && takesText(m.content):
		f.System = f.Messages
	case role == `"user"`:
		p.addUser(identityOf(m.content), previous)
	case p.firstCall < 0 && m.calls != nil:
		calls := rawjson.Over(m.calls)
		if calls.Open('[') && calls.Element() {
			f.Unanswered, p.firstCall = false, f.Messages-1
		}
	case role == `"assistant"` || role == `"tool"`:
		f.Unanswered = false
	}
}

// addUser adds a message in the role of the user.
func (p *parser) addUser(user string, previous []byte) {
	f := &p.facts
	if adapter.IsAutomatic(user) {
		return
	}
	f.Users++
	f.User, f.Unanswered, p.firstCall, p.previous = user, true, -1, previous
}

// message has the members of a message; an absent member is nil.
type message struct {
	role, content, calls, callID []byte

	reasoning [len(reasoningNames)]bool // the members that carry reasoning
	prefix    bool                      // the answer continues it, as some providers allow
}

// reasoningNames are the members in which providers send reasoning.
var reasoningNames = [...]string{"reasoning_content", "reasoning"} //nolint:gochecknoglobals // constant

// readMessage reads the next message.
func readMessage(s *rawjson.Scanner) message {
	var m message
	for name := range s.Members() {
		switch name {
		case "role":
			m.role = s.Raw()
		case "content":
			m.content = s.Raw()
		case "tool_calls":
			m.calls = s.Raw()
		case "tool_call_id":
			m.callID = s.Raw()
		case "prefix":
			m.prefix = string(s.Raw()) == "true"
		case reasoningNames[0], reasoningNames[1]:
			if s.Kind() == '"' {
				m.reasoning[slices.Index(reasoningNames[:], name)] = true
			}
		}
	}
	return m
}

// readTools counts the tools and looks for the caller's own todo_pause.
func (p *parser) readTools(s *rawjson.Scanner) {
	f := &p.facts
	f.Tools, f.StrictTools, f.OwnPause = 0, true, false
	for range s.Elements() {
		t := readTool(s)
		f.Tools++
		f.StrictTools = f.StrictTools && t.strict
		f.OwnPause = f.OwnPause || pause.Is(t.name)
	}
	f.StrictTools = f.StrictTools && f.Tools > 0
}

// tool has the facts about a tool.
type tool struct {
	name   string // valid as long as the JSON is
	strict bool
}

// readTool reads the next tool, which is a function or a custom tool.
func readTool(s *rawjson.Scanner) (t tool) {
	for kind := range s.Members() {
		if (kind == "function" || kind == "custom") && s.Kind() == '{' { // some send null for the other one
			t = readDefinition(s)
		}
	}
	return t
}

// readDefinition reads the definition of a tool.
func readDefinition(s *rawjson.Scanner) (t tool) {
	for name := range s.Members() {
		switch name {
		case "name":
			t.name = rawjson.TextView(s.Raw())
		case "strict":
			t.strict = string(s.Raw()) == "true"
		}
	}
	return t
}

// contentOf returns the text of a content, which is a string or a list of parts.
func contentOf(raw []byte) string {
	s := rawjson.Over(raw)
	if s.Kind() != '[' {
		return rawjson.TextOf(raw)
	}
	var b strings.Builder
	for range s.Elements() {
		if rawjson.TextOf(s.Peek("type")) == "text" {
			b.WriteString(rawjson.TextOf(s.Peek("text")))
		}
	}
	return b.String()
}

// identityOf returns what identifies a message of the user: its text, and the
// content of its other parts.
func identityOf(content []byte) string {
	if rawjson.IsString(content) {
		return rawjson.TextOf(content)
	}
	var b strings.Builder
	s := rawjson.Over(content)
	for range s.Elements() {
		kind := rawjson.TextOf(s.Peek("type"))
		if held := s.Peek(kind); rawjson.IsString(held) {
			b.WriteString(rawjson.TextOf(held))
		} else {
			b.Write(held)
		}
		b.WriteByte(0) // so that the parts can't run into each other
	}
	return b.String()
}

// takesText reports whether text can be added to a content. An absent or null
// content counts as empty text: some clients leave it out.
func takesText(content []byte) bool {
	s := rawjson.Over(content)
	return rawjson.IsNull(content) || s.Kind() == '"' || s.Open('[') && s.Element()
}

// textOrJSON returns the text of a string, or the JSON of any other value.
func textOrJSON(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	return string(raw)
}
