package responses

import (
	"slices"
	"strings"
	"unicode"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// request has the facts about a request that are needed until it is answered.
type request struct {
	chains   *chains
	caller   identify
	source   wire.Body
	input    wire.List
	streams  bool
	stored   bool // the server keeps the answer, so that its id and its items can be referred to
	declares bool // the caller's own request offers carryon's todo_pause
	hasTools bool // it has the member
	lite     bool // the input has items with tools, mostly in place of the member
	typed    bool // the user's messages name their type, and have parts
	ownTools callerTools

	turns [][]phase // the messages of each turn that was kept
}

// phase is the phase of a message in a turn's text.
type phase struct {
	length int    // of the message's text
	name   string // as it is written, or ""
}

var _ wire.Request = (*request)(nil)

// Stream implements [wire.Request].
func (r *request) Stream() bool { return r.streams }

// NewCodec implements [wire.Request].
func (r *request) NewCodec() wire.Codec { return newCodec(r) }

// NewDialect implements [wire.Request].
func (r *request) NewDialect() adapter.Dialect[sse.Event] { return &document{request: r} }

// newTurn returns a turn that is about to be read.
func (r *request) newTurn(first bool) *turn {
	return &turn{first: first, read: turnRead{tools: r.ownTools}}
}

// keep records a turn that was kept: its messages, and that its response has the whole
// answer in its history. It does not record the response if a todo_pause was left out of
// it: the server would demand a result for that call.
func (r *request) keep(firstID string, turn *turnRead) {
	r.turns = append(r.turns, turn.phases())
	id := rawjson.TextOf(turn.id)
	if r.stored && len(r.turns) > 1 && !turn.pauses && id != "" && id != firstID && firstID != "" && max(len(id), len(firstID)) <= maxID {
		r.chains.put(r.caller, firstID, id)
	}
}

// Refusal implements [wire.Request].
func (r *request) Refusal(body []byte) error { return wire.RefusalIn(body) }

// parser reads the body of a request.
type parser struct {
	request   *request
	reader    wire.RequestReader
	left      continuation.Reason // why it is left alone, if it is
	callsTool bool                // it offers a tool that the caller runs
	strict    bool                // all functions ask for strict arguments
	functions int
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	r := &p.reader
	r.NoSeparator, r.LeaveAlone = true, reasons.NoMessages
	p.strict = true
	s := rawjson.Over(body)
	isObject := s.Kind() == '{'
	inputs, tools := 0, 0
	for name := range s.Members() {
		switch name {
		case "input":
			inputs++
		case "tools":
			tools++
		}
		p.readMember(name, &s)
	}
	if inputs > 1 || tools > 1 {
		return false // nobody can say which of them counts
	}
	if p.left != reasons.None {
		r.LeaveAlone = p.left
	}
	if !p.callsTool && !p.request.ownTools.shell { // the server runs all: a chat with a search, and no agent
		r.Tools = 0
	}
	p.request.ownTools.pause = r.OwnPause
	r.StrictTools = p.strict && p.functions > 0
	p.request.lite = p.request.lite && !p.request.hasTools
	r.FixedPrefix = p.request.lite
	return isObject && s.OK() && s.Kind() == 0
}

// readMember reads a member, whose value is next in s.
func (p *parser) readMember(name string, s *rawjson.Scanner) {
	r := &p.reader
	switch name {
	case "input":
		p.readInput(s)
	case "tools":
		p.request.hasTools = s.Kind() == '['
		p.readTools(s)
	case "tool_choice":
		r.Choice = choiceOf(s.Raw())
	case "text":
		kind := rawjson.TextOf(rawjson.Member(s.Peek("format"), "type"))
		r.JSON = kind != "" && kind != "text"
	case "stream":
		p.request.streams = string(s.Raw()) == "true"
		r.Streamed = p.request.streams
	case "model":
		r.Model = rawjson.TextView(s.Raw())
	case "store":
		p.request.stored = string(s.Raw()) != "false"
	case "previous_response_id":
		p.leaveIf(!rawjson.IsNull(s.Raw()), reasons.PreviousResponse)
	case "conversation":
		p.leaveIf(!rawjson.IsNull(s.Raw()), reasons.Conversation)
	case "client_metadata":
		metadata := s.Raw()
		p.leaveIf(wire.HasSideMetadata(metadata), reasons.SideCall)
		p.reader.SubAgent = wire.HasSubAgentMetadata(metadata)
	case "background":
		p.leaveIf(string(s.Raw()) == "true", reasons.BackgroundResponse)
	}
}

func (p *parser) leaveIf(holds bool, reason continuation.Reason) {
	if holds {
		p.left = reason
	}
}

// readInput reads the input, which is the next value.
func (p *parser) readInput(s *rawjson.Scanner) {
	r := &p.reader
	r.Begin(s)
	switch s.Kind() {
	case '"':
		r.LeaveAlone = reasons.None
		p.request.input.Begin(s)
		r.Messages, r.Users, r.User, r.Unanswered = 1, 1, rawjson.TextOf(s.Raw()), true
		r.FirstUser = r.User
	case '[':
		for range p.request.input.Elements(s) {
			r.LeaveAlone = reasons.None
			p.readInputItem(s)
		}
		p.leaveIf(r.Unanswered && wire.IsSideCall(r.User), reasons.SideCall)
	}
	r.End(identityOf, addLoop)
}

func (p *parser) readInputItem(s *rawjson.Scanner) {
	r := &p.reader
	item := readItem(s)
	switch role := string(item.role); role {
	case `"user"`:
		p.request.typed = item.typeName == "message" && !rawjson.IsString(item.content)
		r.AddUser(identityOf(item.content))
	case `"system"`, `"developer"`:
		if r.System == 0 && wire.TakesText(item.content) {
			r.System = r.Messages + 1
		}
	default:
		r.AddAnswer(item.kind != unknown && item.callID != nil)
	}
	r.EndMessage(item.content)
	if item.typeName == additionalTools {
		p.request.lite = true
		tools := rawjson.Over(item.tools)
		p.readTools(&tools)
	}
}

// additionalTools is the type of an item with tools. Codex sends one in place of the
// member "tools".
const additionalTools = "additional_tools"

// clientTools are the types of tools that the caller runs. A shell is one if
// its environment is the caller's.
var clientTools = []string{ //nolint:gochecknoglobals // constant
	"function", "custom", "namespace", "local_shell", "apply_patch", "computer", "computer_use_preview",
}

// tool has the members of a tool that this package reads; an absent member is nil.
type tool struct {
	kind string // valid as long as the JSON is

	name, description, strict, environment, tools []byte
}

// readTool reads the next tool.
func readTool(s *rawjson.Scanner) tool {
	var t tool
	for member := range s.Members() {
		switch member {
		case "type":
			t.kind = rawjson.TextView(s.Raw())
		case "name":
			t.name = s.Raw()
		case "description":
			t.description = s.Raw()
		case "strict":
			t.strict = s.Raw()
		case "environment":
			t.environment = s.Raw()
		case "tools":
			t.tools = s.Raw()
		}
	}
	return t
}

// readTools counts the tools and looks for the caller's own todo_pause.
func (p *parser) readTools(s *rawjson.Scanner) {
	r := &p.reader
	for range s.Elements() {
		r.Tools++
		t := readTool(s)
		switch t.kind {
		case "function":
			p.functions++
			p.strict = p.strict && string(t.strict) == "true"
			r.OwnPause = r.OwnPause || pause.Is(rawjson.TextView(t.name))
		case "custom":
			r.OwnPause = r.OwnPause || pause.Is(rawjson.TextView(t.name))
		case "shell":
			where := rawjson.TextView(rawjson.Member(t.environment, "type"))
			p.request.ownTools.shell = p.request.ownTools.shell || where == "" || where == "local"
		}
		p.callsTool = p.callsTool || slices.Contains(clientTools, t.kind)
	}
}

// choiceOf reads a tool choice. For allowed tools, their mode counts.
func choiceOf(raw []byte) adapter.ToolChoice {
	if rawjson.TextOf(rawjson.Member(raw, "type")) == "allowed_tools" {
		raw = rawjson.Member(raw, "mode")
	}
	switch {
	case rawjson.IsNull(raw), string(raw) == `"auto"`:
		return adapter.ToolChoiceAuto
	case string(raw) == `"none"`:
		return adapter.ToolChoiceNone
	case string(raw) == `"required"`:
		return adapter.ToolChoiceRequired
	}
	return adapter.ToolChoiceNamed
}

// saying are the members of a part that have its content.
var saying = [...]string{"text", "image_url", "file_id", "file_url", "file_data", "input_audio"} //nolint:gochecknoglobals // constant

// identityOf returns what identifies a content: its text, and the content of
// its other parts. It ignores other members, which may be cache marks.
func identityOf(content []byte) string {
	if rawjson.IsString(content) {
		return rawjson.TextOf(content)
	}
	var b strings.Builder
	s := rawjson.Over(content)
	for range s.Elements() {
		var held [len(saying)][]byte
		for name := range s.Members() {
			if i := slices.Index(saying[:], name); i >= 0 {
				held[i] = s.Raw()
			}
		}
		for _, raw := range held {
			if rawjson.IsString(raw) {
				b.WriteString(rawjson.TextView(raw))
			} else {
				b.Write(raw)
			}
		}
		b.WriteByte(0) // so that the parts can't run into each other
	}
	return b.String()
}

// history yields the entries of the input, newest first, each call with its result.
func (r *request) history(yield func(adapter.Entry) bool) {
	r.input.Walk(r.source, yield, pass)
}

// pass passes the item that is next in s to a walk.
func pass(w *wire.Walk, s rawjson.Scanner) bool {
	item := readItem(&s)
	switch string(item.role) {
	case `"user"`:
		return w.PassUser(item.content, identityOf)
	case `"system"`, `"developer"`:
		return w.System(contentOf(item.content))
	}
	switch {
	case item.typeName == "function_call" || item.typeName == "custom_tool_call":
		id := rawjson.TextOf(item.callID)
		return w.PassCall(id, rawjson.TextOf(item.name), wire.TextOrJSON(item.arguments), contentOf, id, noticeKey(id))
	case item.typeName == "custom_tool_call_output" && item.name != nil: // a script has sent it while it ran
		w.Results.Add(noticeKey(rawjson.TextOf(item.callID)), item.output)
	case strings.HasSuffix(item.typeName, "_output"):
		w.Results.Add(rawjson.TextOf(item.callID), item.output)
	}
	return true
}

// noticeKey returns the key of the notices of a call. No id looks like it.
func noticeKey(id string) string { return "\x00" + id }

// contentOf returns the text of a content, which is a string or a list of parts.
func contentOf(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	var b strings.Builder
	s := rawjson.Over(raw)
	for range s.Elements() {
		b.WriteString(rawjson.TextOf(s.Peek("text")))
	}
	return b.String()
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	return r.input.Attachable(b, func(s rawjson.Scanner) (string, bool) {
		raw := s.Raw()
		if rawjson.IsString(raw) {
			return contentOf(raw), true
		}
		item := itemOf(raw)
		if item.typeName == "function_call_output" || item.typeName == "custom_tool_call_output" {
			return contentOf(item.output), wire.TakesText(item.output)
		}
		return contentOf(item.content), string(item.role) == `"user"` && wire.TakesText(item.content)
	})
}

// addLoop adds what identifies a tool loop; see [wire.RequestReader.End]. It leaves out reasoning, because not
// every client sends it again.
func addLoop(input rawjson.Scanner, firstCall int, add func(string)) {
	for i := range input.Elements() {
		if item := readItem(&input); item.kind != reasoning {
			add(rawjson.View(item.role))
			add(identityOf(item.content))
			add(rawjson.View(item.callID))
			add(rawjson.View(item.name))
			add(rawjson.View(item.arguments))
			add(contentOf(item.output))
		}
		if i == firstCall {
			return
		}
	}
}

// ToolNames implements [adapter.ToolNamer]. It includes tools in namespaces and in
// items of the input, tools that only scripts can call, and the tool search, which has
// only a type.
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.source.Bytes()
	if err != nil || !yieldNames(rawjson.Member(body, "tools"), yield) || !r.lite {
		return
	}
	input := rawjson.Over(rawjson.Member(body, "input"))
	for range input.Elements() {
		if item := readItem(&input); item.typeName == additionalTools && !yieldNames(item.tools, yield) {
			return
		}
	}
}

// yieldNames yields the names of a list of tools, and returns whether to go on.
func yieldNames(tools []byte, yield func(string) bool) bool {
	s := rawjson.Over(tools)
	for range s.Elements() {
		t := readTool(&s)
		inner := rawjson.Over(t.tools)
		for range inner.Elements() {
			if nested := readTool(&inner); !nested.yieldName(yield) {
				return false
			}
		}
		if !t.yieldName(yield) {
			return false
		}
	}
	return true
}

// toolSearch is the type of a tool that has no name.
const toolSearch = "tool_search"

// yieldName yields the name of a tool that has one, and those of the tools that its
// scripts can call. It returns whether to go on.
func (t *tool) yieldName(yield func(string) bool) bool {
	name := rawjson.TextOf(t.name)
	if t.kind == toolSearch {
		name = toolSearch
	}
	if name != "" && !yield(name) {
		return false
	}
	return t.kind != "custom" || yieldScripted(rawjson.View(t.description), yield)
}

// yieldScripted yields the names of the tools that scripts can call, from the description
// of the tool that runs them.
func yieldScripted(description string, yield func(string) bool) bool {
	for _, declaration := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Declares }) {
		for rest := description; ; {
			_, after, found := strings.Cut(rest, declaration.Text)
			if !found {
				break
			}
			length := strings.IndexFunc(after, func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if length > 0 && after[length] == '(' && !yield(strings.Clone(after[:length])) {
				return false
			}
			rest = after
		}
	}
	return true
}
