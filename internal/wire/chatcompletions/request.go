// Package chatcompletions is the protocol of OpenAI's Chat Completions, as
// OpenAI and the many compatible providers speak it.
package chatcompletions

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/toolchoice"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// Protocol is Chat Completions.
type Protocol struct{}

var _ wire.Protocol = Protocol{}

// Match implements [wire.Protocol].
func (Protocol) Match(u *url.URL) bool { return strings.HasSuffix(u.Path, "/chat/completions") }

// Parse implements [wire.Protocol].
func (Protocol) Parse(_ *url.URL, body []byte, source wire.Body) (adapter.Request, wire.Request, bool) {
	p := parser{request: &request{source: source}}
	p.reader.Provider = "openai"
	ok := p.read(body)
	p.reader.History, p.reader.ToolNames = p.request.history, p.request
	p.request.ownPause = p.reader.OwnPause
	return p.reader.Request, p.request, ok
}

// request has the facts about a request that are needed to extend it.
type request struct {
	stream    bool
	stored    bool                      // the provider keeps the answer
	ownPause  bool                      // the caller has a todo_pause of its own
	reasoning [len(reasoningNames)]bool // the members under which the history carries reasoning
	messages  wire.List
	source    wire.Body
}

var _ wire.Request = (*request)(nil)

// Stream implements [wire.Request].
func (r *request) Stream() bool { return r.stream }

// NewCodec implements [wire.Request].
func (r *request) NewCodec() wire.Codec {
	return &dialect{lastCall: adapter.NoIndex, ownPause: r.ownPause}
}

// NewDialect implements [wire.Request].
func (r *request) NewDialect() adapter.Dialect[sse.Event] {
	return &dialect{document: new(document), ownPause: r.ownPause}
}

// Refusal implements [wire.Request].
func (r *request) Refusal(body []byte) error { return wire.RefusalIn(body) }

// parser reads the body of a request.
type parser struct {
	request  *request
	reader   wire.RequestReader
	prefills bool // the last message is the beginning of the answer
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	r := &p.reader
	s := rawjson.Over(body)
	isObject := s.Kind() == '{'
	for name := range s.Members() {
		p.readMember(name, &s)
	}
	r.End(identityOf, addLoop)
	switch {
	case p.prefills:
		r.LeaveAlone = reasons.Prefill
	case r.Messages == 0:
		r.LeaveAlone = reasons.NoMessages
	case r.Unanswered && wire.IsSideCall(r.User):
		r.LeaveAlone = reasons.SideCall
	}
	return isObject && s.OK() && s.Kind() == 0
}

// readMember reads a member of the request.
func (p *parser) readMember(name string, s *rawjson.Scanner) {
	r := &p.reader
	switch name {
	case "messages":
		p.readMessages(s)
	case "tools":
		p.readTools(s)
	case "tool_choice":
		r.Choice = toolchoice.Of(json.RawMessage(s.Raw()))
	case "functions", "function_call":
		raw := s.Raw()
		r.Legacy = r.Legacy || !rawjson.IsNull(raw) && string(raw) != "[]"
	case "n":
		r.N, _ = strconv.Atoi(rawjson.View(s.Raw()))
	case "response_format", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "json_schema", "grammar":
		r.JSON = r.JSON || constrains(name, s)
	case "continue_final_message":
		p.prefills = p.prefills || string(s.Raw()) == "true"
	case "stream":
		p.request.stream = string(s.Raw()) == "true"
		r.Streamed = p.request.stream
	case "store":
		p.request.stored = string(s.Raw()) == "true"
	case "model":
		r.Model = rawjson.TextView(s.Raw())
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

// readMessages reads the list of messages.
func (p *parser) readMessages(s *rawjson.Scanner) {
	p.reader.Begin(s)
	prefix := false
	for range p.request.messages.Elements(s) {
		m := readMessage(s)
		prefix = m.prefix
		p.addMessage(&m)
	}
	p.prefills = p.prefills || prefix
}

// addMessage adds a message.
func (p *parser) addMessage(m *message) {
	r := &p.reader
	for i := range m.reasoning {
		p.request.reasoning[i] = p.request.reasoning[i] || m.reasoning[i]
		r.Reasoning = r.Reasoning || m.reasoning[i]
	}
	switch role := string(m.role); {
	case r.System == 0 && (role == `"system"` || role == `"developer"`) && takesText(m.content):
		r.System = r.Messages + 1
	case role == `"user"`:
		r.AddUser(identityOf(m.content))
	case role == `"assistant"` || role == `"tool"` || m.calls != nil:
		calls := rawjson.Over(m.calls)
		r.AddAnswer(calls.Open('[') && calls.Element())
	}
	r.EndMessage(m.content)
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
	r := &p.reader
	r.Tools, r.StrictTools, r.OwnPause = 0, true, false
	for range s.Elements() {
		t := readTool(s)
		r.Tools++
		r.StrictTools = r.StrictTools && t.strict
		r.OwnPause = r.OwnPause || pause.Is(t.name)
	}
	r.StrictTools = r.StrictTools && r.Tools > 0
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
	return rawjson.IsNull(content) || wire.TakesText(content)
}

// addLoop adds what identifies a tool loop; see [wire.RequestReader.End].
func addLoop(messages rawjson.Scanner, firstCall int, add func(string)) {
	for at := range messages.Elements() {
		m := readMessage(&messages)
		add(rawjson.View(m.role))
		addContent(m.content, add)
		add(rawjson.View(m.callID))
		calls := rawjson.Over(m.calls)
		for range calls.Elements() {
			call := readCall(&calls)
			add(rawjson.View(call.id))
			add(rawjson.View(call.name))
			add(rawjson.View(call.arguments))
			if at == firstCall {
				return
			}
		}
	}
}

// addContent adds a content. Of its parts, it adds only the text and the like:
// other members may be cache marks, which move from request to request.
func addContent(content []byte, add func(string)) {
	s := rawjson.Over(content)
	if s.Kind() != '[' {
		add(rawjson.View(content))
		return
	}
	for range s.Elements() {
		kind := s.Peek("type")
		add(rawjson.View(kind))
		add(rawjson.View(s.Peek(rawjson.TextOf(kind)))) // a text, an image_url and so on
	}
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.source.Bytes()
	if err != nil {
		return
	}
	tools := rawjson.Over(rawjson.Member(body, "tools"))
	for range tools.Elements() {
		if t := readTool(&tools); !yield(strings.Clone(t.name)) {
			return
		}
	}
}

// history yields the entries of the messages, newest first, each call with its result.
func (r *request) history(yield func(adapter.Entry) bool) {
	r.messages.Walk(r.source, yield, pass)
}

// pass passes the message that is next in s to a walk.
func pass(w *wire.Walk, s rawjson.Scanner) bool {
	m := readMessage(&s)
	switch string(m.role) {
	case `"user"`:
		return w.PassUser(m.content, identityOf)
	case `"system"`, `"developer"`:
		return w.System(contentOf(m.content))
	case `"tool"`:
		w.Results.Add(rawjson.TextOf(m.callID), m.content)
	}
	for _, raw := range slices.Backward(rawjson.Elements(m.calls)) {
		s := rawjson.Over(raw)
		call := readCall(&s)
		id := rawjson.TextOf(call.id)
		if !w.PassCall(id, rawjson.TextOf(call.name), wire.TextOrJSON(call.arguments), contentOf, id) { // some send an object of arguments
			return false
		}
	}
	return true
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	return r.messages.Attachable(b, func(s rawjson.Scanner) (string, bool) {
		m := readMessage(&s)
		role := string(m.role)
		return contentOf(m.content), (role == `"user"` || role == `"tool"`) && takesText(m.content)
	})
}

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte { return r.extend(body, a) }

// Continue implements [wire.Request].
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	return r.extend(body, &k.Additions, r.assistant(k), prompt(k))
}

// extend returns the body with additions, and with the messages of a
// continuation, if there are any.
func (r *request) extend(body []byte, a *adapter.Additions, messages ...[]byte) []byte {
	var list, tools, choice, rest rawjson.Edits // each of the last member of that name, which counts
	s := rawjson.Over(body)
	for name := range s.Members() {
		switch name {
		case "messages":
			list = list[:0]
			wire.Attach(&list, s, a, textPart, "content")
			if len(messages) > 0 {
				r.messages.Append(&list, &s, messages...)
			}
		case "tools":
			tools = tools[:0]
			if a.PauseTool != nil {
				tools.Append(&s, rawjson.Object("type", "function", "function", toolOf(a.PauseTool)))
			}
		case "tool_choice":
			choice = choice[:0]
			if a.PauseTool != nil {
				allow(&choice, &s, a.PauseTool.Name)
			}
		default:
			if len(messages) > 0 {
				r.withhold(&rest, body, name, &s)
			}
		}
	}
	return slices.Concat(list, tools, choice, rest).Apply(body)
}

// withhold changes or removes a member that a continuation must not repeat. The
// provider must not store the continuation, and metadata is allowed only with
// store true. The prediction is for another answer.
func (r *request) withhold(e *rawjson.Edits, body []byte, name string, s *rawjson.Scanner) {
	from := s.KeyAt()
	switch {
	case name == "store" && r.stored:
		e.ReplaceNext(s, []byte("false"))
	case name == "prediction", name == "metadata" && r.stored:
		s.Skip()
		e.Remove(body, from, s.At())
	}
}

// allow adds a tool to the allowed tools, if the next value in s is a tool
// choice with allowed tools.
func allow(e *rawjson.Edits, s *rawjson.Scanner, tool string) {
	for kind := range s.Members() {
		if kind != "allowed_tools" {
			continue
		}
		for name := range s.Members() {
			if name == "tools" {
				e.Append(s, rawjson.Object("function", map[string]string{"name": tool}, "type", "function"))
			}
		}
	}
}

// assistant returns the message with the model's answer so far.
func (r *request) assistant(k *adapter.Continuation) []byte {
	m := []byte(`{"role":"assistant"`)
	if k.Text != "" || k.Pause == nil { // some refuse an empty text beside a call
		m = rawjson.AppendQuote(append(m, `,"content":`...), k.Text)
	}
	if k.Reasoning != "" {
		for i, carried := range r.reasoning {
			if carried {
				m = rawjson.AppendQuote(append(m, `,"`+reasoningNames[i]+`":`...), k.Reasoning)
			}
		}
	}
	if p := k.Pause; p != nil {
		function := rawjson.Object("name", p.Name, "arguments", p.Arguments)
		call := rawjson.Object("id", p.ID, "type", "function", "function", json.RawMessage(function))
		m = append(append(append(m, `,"tool_calls":[`...), call...), ']')
	}
	return append(m, '}')
}

// prompt returns the message with carryon's prompt, or with the result of the
// model's call of todo_pause.
func prompt(k *adapter.Continuation) []byte {
	if p := k.Pause; p != nil {
		return rawjson.Object("role", "tool", "tool_call_id", p.ID, "content", p.Result)
	}
	return rawjson.Object("role", "user", "content", k.Prompt)
}

func textPart(text string) []byte { return rawjson.Object("type", "text", "text", text) }

func toolOf(tool *adapter.PauseTool) json.RawMessage {
	members := []any{"name", tool.Name, "description", tool.Description, "parameters", json.RawMessage(tool.Schema)}
	if tool.Strict {
		members = append(members, "strict", true)
	}
	return rawjson.Object(members...)
}
