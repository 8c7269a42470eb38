package transport

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
)

// describe tells the engine what it must know of a request. It fails if the
// body is not the JSON of one.
func (r *request) describe(body []byte) (middleware.Request, bool) {
	d := middleware.Request{History: r.history}
	s := rawjson.Over(body)
	if s.Kind() != '{' {
		return d, false
	}
	for s.Open('{'); s.Member(); {
		switch string(s.Key()) {
		case "messages":
			r.describeMessages(&d, &s)
		case "tools":
			describeTools(&d, &s)
		case "tool_choice":
			d.Choice = toolChoice(s.Raw())
		case "functions", "function_call":
			raw := s.Raw()
			d.Legacy = d.Legacy || !rawjson.IsNull(raw) && string(raw) != "[]"
		case "n":
			d.N, _ = strconv.Atoi(string(s.Raw()))
		case "response_format":
			kind := textOf(member(s.Raw(), "type"))
			d.JSON = kind != "" && kind != "text"
		case "stream":
			r.stream = string(s.Raw()) == "true"
		default:
			s.Skip()
		}
	}
	return d, s.OK() && s.Kind() == 0
}

// describeMessages finds the last message of the user and the first tool call
// after it.
func (r *request) describeMessages(d *middleware.Request, s *rawjson.Scanner) {
	if !s.Open('[') {
		return
	}
	for s.Element() {
		m := readMessage(s)
		for _, name := range m.reasoned {
			if !slices.Contains(r.mirror, name) {
				r.mirror = append(r.mirror, name)
			}
		}
		d.Reasoning = len(r.mirror) > 0
		d.Messages++
		switch {
		case d.System == 0 && (string(m.role) == `"system"` || string(m.role) == `"developer"`) && takesText(m.content):
			d.System = d.Messages
		case string(m.role) == `"user"`:
			d.Users++
			d.User, d.FirstCall = identity(m.content), ""
		case d.FirstCall == "" && m.calls != nil:
			calls := rawjson.Over(m.calls)
			if calls.Open('[') && calls.Element() {
				d.FirstCall = textOf(member(calls.Raw(), "id"))
			}
		}
	}
}

// message is what a message of a history holds, as it stands there.
type message struct {
	role, content, calls, answers []byte
	reasoned                      []string // the members that carry reasoning
}

// reasoningNames are the members in which providers give the text that the
// model wrote for itself.
var reasoningNames = [...]string{"reasoning_content", "reasoning"} //nolint:gochecknoglobals // constant

// readMessage reads the message that comes next.
func readMessage(s *rawjson.Scanner) message {
	var m message
	if !s.Open('{') {
		return m
	}
	for s.Member() {
		switch key := string(s.Key()); key {
		case "role":
			m.role = s.Raw()
		case "content":
			m.content = s.Raw()
		case "tool_calls":
			m.calls = s.Raw()
		case "tool_call_id":
			m.answers = s.Raw()
		case reasoningNames[0], reasoningNames[1]:
			if raw := s.Raw(); rawjson.IsString(raw) {
				m.reasoned = append(m.reasoned, key)
			}
		default:
			s.Skip()
		}
	}
	return m
}

// describeTools counts the tools and looks for the caller's own todo_pause.
func describeTools(d *middleware.Request, s *rawjson.Scanner) {
	d.Tools, d.StrictTools, d.OwnPause = 0, true, false
	if s.Open('[') {
		for s.Element() {
			tool := s.Raw()
			function := member(tool, "function")
			d.Tools++
			d.StrictTools = d.StrictTools && string(member(function, "strict")) == "true"
			d.OwnPause = d.OwnPause || pause.Is(textOf(member(function, "name"))) ||
				pause.Is(textOf(member(member(tool, "custom"), "name")))
		}
	}
	d.StrictTools = d.StrictTools && d.Tools > 0
}

const allowedTools = "allowed_tools"

// toolChoice reads a tool choice, which is a word or an object.
func toolChoice(raw []byte) middleware.ToolChoice {
	word := textOf(raw)
	if !rawjson.IsString(raw) && !rawjson.IsNull(raw) {
		word = "named"
		if textOf(member(raw, "type")) == allowedTools {
			word = textOf(member(member(raw, allowedTools), "mode"))
		}
	}
	return middleware.ToolChoiceOf(word)
}

// member returns a member of the object in raw, or nil.
func member(raw []byte, name string) (value []byte) {
	s := rawjson.Over(raw)
	if !s.Open('{') {
		return nil
	}
	for s.Member() {
		if string(s.Key()) == name {
			value = s.Raw()
		} else {
			s.Skip()
		}
	}
	return value
}

// textOf returns what raw stands for if it is a string, and else "".
func textOf(raw []byte) string {
	if !rawjson.IsString(raw) {
		return ""
	}
	text, _ := rawjson.Text(raw, nil)
	return string(text)
}

// contentOf returns the text of a content, which is a string or a list of parts.
func contentOf(raw []byte) string {
	s := rawjson.Over(raw)
	if s.Kind() != '[' {
		return textOf(raw)
	}
	var b strings.Builder
	for s.Open('['); s.Element(); {
		part := s.Raw()
		if textOf(member(part, "type")) == "text" {
			b.WriteString(textOf(member(part, "text")))
		}
	}
	return b.String()
}

// identity returns what tells a message of the user from another: its text, or
// all of its parts.
func identity(content []byte) string {
	if rawjson.IsString(content) {
		return textOf(content)
	}
	return string(content)
}
