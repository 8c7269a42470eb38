package gemini

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

// request has the facts about a request that are needed to extend it.
type request struct {
	endpoint

	source wire.Body
}

var _ wire.Request = (*request)(nil)

// Stream implements [wire.Request].
func (r *request) Stream() bool { return r.stream }

// NewCodec implements [wire.Request].
func (r *request) NewCodec() wire.Codec { return &codec{show: show{wrapped: r.wrapped}} }

// NewDialect implements [wire.Request].
func (r *request) NewDialect() adapter.Dialect[sse.Event] { return &document{wrapped: r.wrapped} }

// Refusal implements [wire.Request]. Some servers put the error into a list.
func (r *request) Refusal(body []byte) error {
	if list := rawjson.Elements(body); len(list) > 0 {
		body = list[0]
	}
	if raw := rawjson.Member(body, "error"); !rawjson.IsNull(raw) {
		return reported(raw)
	}
	return nil
}

// inner returns the object with the contents of a request.
func (r *request) inner(body []byte) []byte {
	if r.wrapped {
		return rawjson.Member(body, "request")
	}
	return body
}

// parser reads the body of a request.
type parser struct {
	*request

	facts        adapter.Request
	conversation conversation
	contents     rawjson.Scanner // at the list of contents
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	s := rawjson.Over(body)
	isObject := s.Kind() == '{'
	for name := range s.Members() {
		switch {
		case name == "model" && p.facts.Model == "":
			p.facts.Model = strings.TrimPrefix(rawjson.TextView(s.Raw()), "models/")
		case !p.wrapped:
			p.readMember(name, &s)
		case name == "request":
			for name := range s.Members() {
				p.readMember(name, &s)
			}
		}
	}
	p.describe()
	return isObject && p.conversation.isList && s.OK() && s.Kind() == 0
}

// readMember reads a member of the request.
func (p *parser) readMember(name string, s *rawjson.Scanner) {
	switch camel(name) {
	case "contents":
		p.contents = *s
		p.conversation = readConversation(s)
	case "tools":
		p.readTools(s)
	case "toolConfig":
		p.readToolConfig(s.Raw())
	case "generationConfig":
		p.readConfig(s)
	case "cachedContent":
		p.facts.Toolless = !rawjson.IsEmpty(s.Raw()) // what is cached has the tools
		p.leaveAlone(p.facts.Toolless, continuation.ReasonCachedContent)
	case "continuationToken":
		p.leaveAlone(!rawjson.IsEmpty(s.Raw()), continuation.ReasonResumption)
	}
}

// readConfig reads what determines the form of the answer.
func (p *parser) readConfig(s *rawjson.Scanner) {
	f := &p.facts
	for name := range s.Members() {
		raw := s.Raw()
		switch camel(name) {
		case "candidateCount":
			f.N, _ = rawjson.Int(raw)
		case "responseMimeType":
			f.JSON = f.JSON || !rawjson.IsEmpty(raw) && rawjson.TextView(raw) != "text/plain"
		case "responseSchema", "responseJsonSchema", "responseFormat":
			f.JSON = f.JSON || !rawjson.IsNull(raw)
		case "responseModalities":
			p.leaveAlone(slices.ContainsFunc(rawjson.Elements(raw), isNotText), continuation.ReasonModalities)
		case "stopSequences":
			p.leaveAlone(!rawjson.IsEmpty(raw) && len(rawjson.Elements(raw)) > 0, continuation.ReasonStopSequences)
		}
	}
}

// isNotText reports whether a modality is another than text: a word, or its number.
func isNotText(raw []byte) bool {
	return !strings.EqualFold(rawjson.TextView(raw), "TEXT") && string(raw) != "1"
}

// readToolConfig reads the tool choice. Some clients write the numbers of the modes.
func (p *parser) readToolConfig(raw []byte) {
	mode := callingConfig(raw)
	switch strings.ToUpper(rawjson.TextOf(mode) + numberOf(mode)) {
	case "", "AUTO", "MODE_UNSPECIFIED", "VALIDATED", "0", "1", "4":
		p.facts.Choice = adapter.ToolChoiceAuto
	case "NONE", "3":
		p.facts.Choice = adapter.ToolChoiceNone
	case "ANY", "2":
		p.facts.Choice = adapter.ToolChoiceRequired
	default:
		p.facts.Choice = adapter.ToolChoiceNamed // unknown
	}
}

// callingConfig returns the mode in a toolConfig, or nil if there is none.
func callingConfig(toolConfig []byte) (mode []byte) {
	return member(member(toolConfig, "functionCallingConfig"), "mode")
}

// member returns a member in either spelling of its name.
func member(raw []byte, name string) (value []byte) {
	s := rawjson.Over(raw)
	for key := range s.Members() {
		if camel(key) == name {
			value = s.Raw()
		}
	}
	return value
}

// numberOf returns the number in raw as text, or "".
func numberOf(raw []byte) string {
	if _, ok := rawjson.Int(raw); ok {
		return string(raw)
	}
	return ""
}

// readTools counts the functions and looks for the caller's own todo_pause. Tools that
// the provider runs are in the same list, and are not counted.
func (p *parser) readTools(s *rawjson.Scanner) {
	f := &p.facts
	f.Tools, f.OwnPause = 0, false
	for declaration := range declarations(s) {
		f.Tools++
		f.OwnPause = f.OwnPause || pause.Is(rawjson.TextOf(rawjson.Member(declaration, "name")))
	}
}

// describe tells the engine about the contents.
func (p *parser) describe() {
	f, c := &p.facts, &p.conversation
	f.Messages, f.Users, f.User = c.contents, c.users, wordsOf(c.user)
	f.Unanswered = c.users > 0 && !c.answered
	if f.Unanswered {
		f.Previous = wordsOf(c.previous)
	}
	p.leaveAlone(c.last == roleModel, continuation.ReasonPrefill)
	p.leaveAlone(c.last == roleUser && wire.IsSideCall(textOf(c.newest)), continuation.ReasonSideCall)
}

// leaveAlone records the reason to leave the request alone, if it applies and
// no other was recorded.
func (p *parser) leaveAlone(applies bool, reason continuation.Reason) {
	if applies && p.facts.LeaveAlone == continuation.ReasonNone {
		p.facts.LeaveAlone = reason
	}
}

// The roles of a content. One without a role is the user's, and so is one with the
// role "function", which older clients give to the results of calls.
const (
	roleUser  = "user"
	roleModel = "model"
)

// conversation has the facts about a request's contents.
type conversation struct {
	isList    bool
	contents  int
	users     int    // contents of the user; one with results of calls is not
	user      []byte // the parts of the last of them
	previous  []byte // the parts of the content before that
	newest    []byte // the parts of the last content
	firstCall int    // the index of the content with the first call after it, or -1
	answered  bool   // another content follows it
	last      string // the role of the last content
}

// readConversation reads the list of contents, which is the next value.
func readConversation(s *rawjson.Scanner) conversation {
	c := conversation{isList: s.Kind() == '[', firstCall: -1}
	for range s.Elements() {
		m := readContent(s)
		c.contents++
		switch {
		case m.role == roleUser && !m.result && isAutomatic(wordsOf(m.parts)):
		case m.role == roleUser && !m.result:
			c.users++
			c.user, c.previous, c.firstCall, c.answered = m.parts, c.newest, -1, false
		case m.role == roleModel && c.firstCall < 0 && m.call:
			c.firstCall, c.answered = c.contents-1, true
		default:
			c.answered = true
		}
		c.newest, c.last = m.parts, m.role
	}
	return c
}

// isAutomatic reports whether a program, and not its user, wrote a text.
func isAutomatic(text string) bool { return wire.IsNudge(text) || adapter.IsAutomatic(text) }

// content is a content of a request.
type content struct {
	role   string
	parts  []byte
	result bool // it has the result of a call
	call   bool
}

// readContent reads the next content.
func readContent(s *rawjson.Scanner) content {
	m := content{role: roleUser}
	for name := range s.Members() {
		switch name {
		case "role":
			if string(s.Raw()) == `"model"` {
				m.role = roleModel
			}
		case "parts":
			from := s.At()
			m.call, m.result = readKinds(s)
			m.parts = s.Since(from)
		}
	}
	return m
}

// readKinds reads the next list of parts.
func readKinds(s *rawjson.Scanner) (call, result bool) {
	for range s.Elements() {
		for name := range s.Members() {
			switch name {
			case "functionCall", "function_call":
				call = true
			case "functionResponse", "function_response":
				result = true
			}
		}
	}
	return call, result
}

// textOf returns the text of parts, that of results included.
func textOf(parts []byte) string {
	var b strings.Builder
	s := rawjson.Over(parts)
	for range s.Elements() {
		part := s.Raw()
		b.WriteString(rawjson.TextOf(rawjson.Member(part, "text")))
		if result := member(part, "functionResponse"); result != nil {
			b.WriteString(resultOf(result))
		}
	}
	return b.String()
}

// wordsOf returns what identifies a content: the text of its parts, and the JSON of
// those without text.
func wordsOf(parts []byte) string {
	var b strings.Builder
	s := rawjson.Over(parts)
	for range s.Elements() {
		part := s.Raw()
		if text := rawjson.Member(part, "text"); rawjson.IsString(text) {
			b.WriteString(rawjson.TextView(text))
		} else {
			b.Write(part)
		}
	}
	return b.String()
}
