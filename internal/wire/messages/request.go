package messages

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/toolchoice"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// request has the facts about a request that are needed to extend it.
type request struct {
	source   wire.Body
	messages wire.List
	stream   bool
}

var _ wire.Request = (*request)(nil)

// Stream implements [wire.Request].
func (r *request) Stream() bool { return r.stream }

// NewCodec implements [wire.Request].
func (r *request) NewCodec() wire.Codec { return new(codec) }

// NewDialect implements [wire.Request].
func (r *request) NewDialect() adapter.Dialect[sse.Event] { return new(document) }

// Refusal implements [wire.Request].
func (r *request) Refusal(body []byte) error { return wire.RefusalIn(body) }

// parser reads the body of a request.
type parser struct {
	request  *request
	reader   wire.RequestReader
	thinking string // the type of thinking that is asked for, or ""

	// What follows is of the messages.
	isList  bool
	last    string // the role of the last one
	newest  []byte // the content of the last one of the user, results or not, if it follows the model's
	thought bool   // there is thinking in them
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	r := &p.reader
	s := rawjson.Over(body)
	isObject := s.Kind() == '{'
	for name := range s.Members() {
		switch name {
		case "messages":
			p.readMessages(&s)
		case "tools":
			p.readTools(&s)
		case "tool_choice":
			r.Choice = toolchoice.Of(json.RawMessage(s.Raw()))
		case "model":
			r.Model = rawjson.TextView(s.Raw())
		case "stream":
			p.request.stream = string(s.Raw()) == "true"
			r.Streamed = p.request.stream
		default:
			p.readOption(name, &s)
		}
	}
	r.End(wordsOf, addLoop)
	r.LeaveAloneIf(r.Messages == 0, reasons.NoMessages)
	r.LeaveAloneIf(p.last == roleAssistant, reasons.Prefill)
	r.LeaveAloneIf(isSideCall(p.newest), reasons.SideCall)
	return isObject && p.isList && s.OK() && s.Kind() == 0
}

// readOption reads a member that determines the form of the answer.
func (p *parser) readOption(name string, s *rawjson.Scanner) {
	r := &p.reader
	switch name {
	case "thinking":
		p.thinking = rawjson.TextOf(s.Peek("type"))
	case "output_config":
		r.JSON = r.JSON || !rawjson.IsNull(s.Peek("format"))
	case "output_format":
		r.JSON = r.JSON || !rawjson.IsNull(s.Raw())
	case "max_tokens":
		r.LeaveAloneIf(string(s.Raw()) == "0", reasons.NoAnswer)
	case "context_management":
		r.LeaveAloneIf(stopsAfterCompaction(s.Raw()), reasons.Compaction)
	}
}

// isSideCall reports whether a text of a message is the prompt of a side call;
// see [wire.IsSideCall].
func isSideCall(content []byte) bool {
	begins := func(text []byte) bool { return rawjson.IsString(text) && wire.IsSideCall(rawjson.View(text[1:])) }
	if begins(content) {
		return true
	}
	s := rawjson.Over(content)
	for range s.Elements() {
		if begins(s.Peek("text")) {
			return true
		}
	}
	return false
}

// stopsAfterCompaction reports whether the answer may end in a summary of the
// conversation that the client must send back.
func stopsAfterCompaction(management []byte) bool {
	for _, edit := range rawjson.Elements(rawjson.Member(management, "edits")) {
		if string(rawjson.Member(edit, "pause_after_compaction")) == "true" {
			return true
		}
	}
	return false
}

// readMessages reads the list of messages, which is the next value. One with the result
// of a tool is not the user's.
func (p *parser) readMessages(s *rawjson.Scanner) {
	r := &p.reader
	r.Begin(s)
	p.isList, p.last, p.newest, p.thought = s.Kind() == '[', "", nil, false
	for range p.request.messages.Elements(s) {
		m := readMessage(s)
		p.last, p.thought = m.role, p.thought || m.has.thought
		switch m.role {
		case roleUser:
			p.newest = m.content
		case roleAssistant:
			p.newest = nil
		}
		switch {
		case m.role == roleSystem:
		case m.role == roleUser && !m.has.result:
			r.AddUser(wordsOf(m.content))
		default:
			r.AddAnswer(m.role == roleAssistant && m.has.call)
		}
		r.EndMessage(m.content)
	}
}

// message is a message of a request.
type message struct {
	role    string
	content []byte // a string, or a list of blocks
	has     kinds  // of blocks
}

// kinds are the kinds of blocks in a content that matter.
type kinds struct {
	result  bool // the result of a tool
	thought bool // thinking
	call    bool // the call of a tool
}

// readMessage reads the next message.
func readMessage(s *rawjson.Scanner) message {
	var m message
	for name := range s.Members() {
		switch name {
		case "role":
			m.role = roleOf(s.Raw())
		case "content":
			from := s.At()
			m.has = readKinds(s)
			m.content = s.Since(from)
		}
	}
	return m
}

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// roleOf returns the role, or "" for one of no interest.
func roleOf(raw []byte) string {
	switch string(raw) {
	case `"user"`:
		return roleUser
	case `"assistant"`:
		return roleAssistant
	case `"system"`:
		return roleSystem
	}
	return ""
}

// readKinds reads the next content.
func readKinds(s *rawjson.Scanner) (found kinds) {
	for range s.Elements() {
		var kind []byte
		for name := range s.Members() {
			if name == "type" {
				kind = s.Raw()
			}
		}
		switch string(kind) {
		case `"tool_result"`:
			found.result = true
		case `"tool_use"`:
			found.call = true
		case `"thinking"`, `"redacted_thinking"`, `"connector_text"`:
			found.thought = true
		}
	}
	return found
}

// readTools counts the tools and looks for the caller's own todo_pause.
func (p *parser) readTools(s *rawjson.Scanner) {
	r := &p.reader
	r.Tools, r.StrictTools, r.OwnPause = 0, true, false
	for range s.Elements() {
		var name, strict []byte
		for member := range s.Members() {
			switch member {
			case "name":
				name = s.Raw()
			case "strict":
				strict = s.Raw()
			}
		}
		r.Tools++
		r.StrictTools = r.StrictTools && string(strict) == "true"
		r.OwnPause = r.OwnPause || pause.Is(rawjson.TextOf(name))
	}
	r.StrictTools = r.StrictTools && r.Tools > 0
}

// textOf returns the text of a content, that of tool results included.
func textOf(content []byte) string {
	if rawjson.IsString(content) {
		return rawjson.TextOf(content)
	}
	var b strings.Builder
	s := rawjson.Over(content)
	for range s.Elements() {
		block := s.Raw()
		switch rawjson.TextOf(rawjson.Member(block, "type")) {
		case typeText:
			b.WriteString(rawjson.TextOf(rawjson.Member(block, "text")))
		case typeToolResult:
			b.WriteString(resultOf(block))
		}
	}
	return b.String()
}

// resultOf returns the text of a tool result. Other protocols have no flag for
// a failed call, so it expresses the flag in words.
func resultOf(block []byte) string {
	text := textOf(rawjson.Member(block, "content"))
	if string(rawjson.Member(block, "is_error")) == "true" {
		return "Error: " + text
	}
	return text
}

// wordsOf returns what identifies a message of the user: its text, and the JSON
// of its other blocks.
func wordsOf(content []byte) string {
	if rawjson.IsString(content) {
		return rawjson.TextOf(content)
	}
	var b strings.Builder
	s := rawjson.Over(content)
	for range s.Elements() {
		if block := readInputBlock(&s); block.kind == typeText {
			b.WriteString(rawjson.TextView(block.text))
		} else {
			b.Write(block.json)
		}
		b.WriteByte(0) // so that the blocks can't run into each other
	}
	return b.String()
}

// inputBlock is a block of a request's message. It is valid as long as the JSON is.
type inputBlock struct {
	kind string // its type
	text []byte // nil without one
	json []byte // all of it but cache marks, which programs move from message to message
}

// readInputBlock reads the next block.
func readInputBlock(s *rawjson.Scanner) (b inputBlock) {
	b.json = s.Raw()
	var marks rawjson.Edits
	members := rawjson.Over(b.json)
	for name := range members.Members() {
		from := members.KeyAt()
		switch name {
		case "type":
			b.kind = rawjson.TextView(members.Raw())
		case "text":
			b.text = members.Raw()
		case "cache_control":
			members.Skip()
			marks.Remove(b.json, from, members.At())
		}
	}
	if len(marks) > 0 {
		b.json = marks.Apply(b.json)
	}
	return b
}

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte { return r.extend(body, a) }

// Continue implements [wire.Request]. Nothing before the new messages changes,
// unless todo_pause or a note is added.
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	return r.extend(body, &k.Additions, assistant(k), prompt(k))
}

// extend returns the body with additions, and more messages.
func (r *request) extend(body []byte, a *adapter.Additions, messages ...[]byte) []byte {
	var list, tools rawjson.Edits // of the last member of that name, which counts
	s := rawjson.Over(body)
	for name := range s.Members() {
		switch {
		case name == "messages":
			list = list[:0]
			wire.Attach(&list, s, a, textBlock, "content")
			if len(messages) > 0 {
				r.messages.Append(&list, &s, messages...)
			}
		case name == "tools" && a.PauseTool != nil:
			tools = tools[:0]
			tools.Append(&s, toolOf(a.PauseTool))
		}
	}
	return append(list, tools...).Apply(body)
}

// assistant returns the message with the model's answer so far. It leaves out
// thinking, which the API allows at the end of a conversation.
func assistant(k *adapter.Continuation) []byte {
	var blocks []json.RawMessage
	if k.Text != "" {
		blocks = append(blocks, textBlock(k.Text))
	}
	if p := k.Pause; p != nil {
		blocks = append(blocks, rawjson.Object("type", typeToolUse, "id", p.ID, "name", p.Name, "input", json.RawMessage(p.Arguments)))
	}
	return rawjson.Object("role", "assistant", "content", blocks)
}

// prompt returns the message with carryon's prompt, or with the result of the
// model's call of todo_pause.
func prompt(k *adapter.Continuation) []byte {
	block := textBlock(k.Prompt)
	if p := k.Pause; p != nil {
		block = rawjson.Object("type", typeToolResult, "tool_use_id", p.ID, "content", p.Result, "is_error", true)
	}
	return rawjson.Object("role", "user", "content", []json.RawMessage{block})
}

// textBlock returns a block with a text.
func textBlock(text string) []byte {
	return append(rawjson.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
}

func toolOf(tool *adapter.PauseTool) []byte {
	members := []any{"name", tool.Name, "description", tool.Description, "input_schema", json.RawMessage(tool.Schema)}
	if tool.Strict {
		members = append(members, "strict", true)
	}
	return rawjson.Object(members...)
}

// history yields the entries of the messages, newest first, each call with its result.
func (r *request) history(yield func(adapter.Entry) bool) {
	r.messages.Walk(r.source, yield, pass)
}

// pass passes the message that is next in s to a walk.
func pass(w *wire.Walk, s rawjson.Scanner) bool {
	m := readMessage(&s)
	switch {
	case m.role == roleUser && !m.has.result:
		return w.PassUser(m.content, wordsOf)
	case m.role == roleSystem:
		return w.System(textOf(m.content))
	case rawjson.IsString(m.content):
		return true
	}
	for _, block := range slices.Backward(rawjson.Elements(m.content)) {
		if !passBlock(w, m.role, block) {
			return false
		}
	}
	return true
}

// passBlock passes a block of a message that the user has not written. Agents put their
// own texts beside the results of tools, too.
func passBlock(w *wire.Walk, role string, block []byte) bool {
	switch rawjson.TextOf(rawjson.Member(block, "type")) {
	case typeToolResult:
		w.Results.Add(rawjson.TextOf(rawjson.Member(block, "tool_use_id")), block)
	case typeText:
		return role == roleAssistant || w.Text(rawjson.TextOf(rawjson.Member(block, "text")))
	case typeToolUse:
		id := rawjson.TextOf(rawjson.Member(block, "id"))
		return w.PassCall(id, rawjson.TextOf(rawjson.Member(block, "name")), string(rawjson.Member(block, "input")), resultOf, id)
	}
	return true
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.source.Bytes()
	if err != nil {
		return
	}
	s := rawjson.Over(rawjson.Member(body, "tools"))
	for range s.Elements() {
		if name := rawjson.TextOf(s.Peek("name")); name != "" && !yield(name) {
			return
		}
	}
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	return r.messages.Attachable(b, func(s rawjson.Scanner) (string, bool) {
		m := readMessage(&s)
		return textOf(m.content), m.role == roleUser && wire.TakesText(m.content)
	})
}

// addLoop adds what identifies a tool loop; see [wire.RequestReader.End].
func addLoop(messages rawjson.Scanner, firstCall int, add func(string)) {
	for at := range messages.Elements() {
		m := readMessage(&messages)
		add(m.role)
		if at < firstCall {
			add(wordsOf(m.content))
			continue
		}
		blocks := rawjson.Over(m.content)
		for range blocks.Elements() {
			b := readInputBlock(&blocks)
			add(rawjson.View(b.json))
			if b.kind == typeToolUse {
				return
			}
		}
	}
}
