package responses

import (
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// request has the facts about a request that are needed until it is answered.
type request struct {
	chains   *chains
	caller   identify
	later    wire.Body
	streams  bool
	stored   bool // the server keeps the answer, so that its id and its items can be referred to
	declares bool // the caller's own request offers carryon's todo_pause
	hasTools bool // it has the member
	lite     bool // the input has items with tools, mostly in place of the member
	typed    bool // the user's messages name their type, and have parts
	ownPause bool // a todo_pause is the caller's own
	ownShell bool // the caller runs a shell

	turns []said // what was said, by turn
}

// said are the messages of a turn.
type said []saidMessage

type saidMessage struct {
	length int    // of the text
	phase  string // as it is written, or ""
}

var _ wire.Request = (*request)(nil)

// Stream implements [wire.Request].
func (r *request) Stream() bool { return r.streams }

// NewCodec implements [wire.Request].
func (r *request) NewCodec() wire.Codec { return newCodec(r) }

// NewDialect implements [wire.Request].
func (r *request) NewDialect() adapter.Dialect[sse.Event] { return &document{request: r} }

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
	left      continuation.Reason // why it is left alone, if it is
	callsTool bool                // it offers a tool that the caller runs
	strict    bool                // all functions ask for strict arguments
	functions int
	firstCall int    // the number of the first call after the user's last message, or -1
	previous  []byte // the content of the message before that
	last      []byte // the content of the item before

	input rawjson.Scanner // at the input
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	f := &p.facts
	f.NoSeparator, f.LeaveAlone = true, continuation.ReasonNoMessages
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
	if p.left != continuation.ReasonNone {
		f.LeaveAlone = p.left
	}
	if !p.callsTool && !p.ownShell { // the server runs all: a chat with a search, and no agent
		f.Tools = 0
	}
	p.ownPause = f.OwnPause
	f.StrictTools = p.strict && p.functions > 0
	p.lite = p.lite && !p.hasTools
	f.FixedPrefix = p.lite
	return isObject && s.OK() && s.Kind() == 0
}

// readMember reads a member, whose value is next in s.
func (p *parser) readMember(name string, s *rawjson.Scanner) {
	f := &p.facts
	switch name {
	case "input":
		p.input = *s
		p.readInput(s)
	case "tools":
		p.hasTools = s.Kind() == '['
		p.readTools(s)
	case "tool_choice":
		f.Choice = choiceOf(s.Raw())
	case "text":
		kind := rawjson.TextOf(rawjson.Member(s.Peek("format"), "type"))
		f.JSON = kind != "" && kind != "text"
	case "stream":
		p.streams = string(s.Raw()) == "true"
		f.Streamed = p.streams
	case "model":
		f.Model = rawjson.TextView(s.Raw())
	case "store":
		p.stored = string(s.Raw()) != "false"
	case "previous_response_id":
		p.leaveIf(!rawjson.IsNull(s.Raw()), continuation.ReasonPreviousResponse)
	case "conversation":
		p.leaveIf(!rawjson.IsNull(s.Raw()), continuation.ReasonConversation)
	case "client_metadata":
		p.leaveIf(wire.HasSideMetadata(s.Raw()), continuation.ReasonSideCall)
	case "background":
		p.leaveIf(string(s.Raw()) == "true", continuation.ReasonBackgroundResponse)
	}
}

func (p *parser) leaveIf(holds bool, reason continuation.Reason) {
	if holds {
		p.left = reason
	}
}

// readInput counts the items, and finds the last message of the user and the
// first call after it.
func (p *parser) readInput(s *rawjson.Scanner) {
	f := &p.facts
	switch s.Kind() {
	case '"':
		f.LeaveAlone = continuation.ReasonNone
		f.Messages, f.Users, f.User, f.Unanswered = 1, 1, rawjson.TextOf(s.Raw()), true
	case '[':
		f.LeaveAlone = continuation.ReasonNone
		for range s.Elements() {
			p.readInputItem(s)
		}
		if f.Unanswered {
			f.Previous = identityOf(p.previous)
			if wire.IsSideCall(f.User) {
				p.left = continuation.ReasonSideCall
			}
		}
	}
}

func (p *parser) readInputItem(s *rawjson.Scanner) {
	f := &p.facts
	item := readItem(s)
	f.Messages++
	switch role := string(item.role); role {
	case `"user"`:
		p.typed = item.typeName == "message" && !rawjson.IsString(item.content)
		if user := identityOf(item.content); !adapter.IsAutomatic(user) {
			f.Users++
			f.User, f.Unanswered, p.firstCall, p.previous = user, true, -1, p.last
		}
	case `"system"`, `"developer"`:
		if f.System == 0 && takesText(item.content) {
			f.System = f.Messages
		}
	default:
		f.Unanswered = false
		if p.firstCall < 0 && item.kind != unknown && item.callID != nil {
			p.firstCall = f.Messages - 1
		}
	}
	p.last = item.content
	if item.typeName == additionalTools {
		p.lite = true
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
	f := &p.facts
	for range s.Elements() {
		f.Tools++
		t := readTool(s)
		switch t.kind {
		case "function":
			p.functions++
			p.strict = p.strict && string(t.strict) == "true"
			f.OwnPause = f.OwnPause || pause.Is(rawjson.TextView(t.name))
		case "custom":
			f.OwnPause = f.OwnPause || pause.Is(rawjson.TextView(t.name))
		case "shell":
			where := rawjson.TextView(rawjson.Member(t.environment, "type"))
			p.ownShell = p.ownShell || where == "" || where == "local"
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

// textOrJSON returns the text of a content, or its JSON if it is not a string.
func textOrJSON(raw []byte) string {
	if rawjson.IsString(raw) {
		return rawjson.TextOf(raw)
	}
	return string(raw)
}

// takesText reports whether text can be added to a content.
func takesText(content []byte) bool {
	s := rawjson.Over(content)
	return s.Kind() == '"' || s.Open('[') && s.Element()
}
