package gemini

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/pause"
)

// request has the facts about a request that are needed to extend it.
type request struct {
	endpoint

	source   wire.Body
	contents wire.List
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
	request *request
	reader  wire.RequestReader

	// What follows is of the contents.
	isList bool
	last   content // the last one
}

// read reads the body, and reports whether it is the JSON of a request.
func (p *parser) read(body []byte) bool {
	s := rawjson.Over(body)
	isObject := s.Kind() == '{'
	for name := range s.Members() {
		switch {
		case name == "model" && p.reader.Model == "":
			p.reader.Model = strings.TrimPrefix(rawjson.TextView(s.Raw()), "models/")
		case !p.request.wrapped:
			p.readMember(name, &s)
		case name == "request":
			for name := range s.Members() {
				p.readMember(name, &s)
			}
		}
	}
	r := &p.reader
	r.End(wordsOf, addLoop)
	r.LeaveAloneIf(r.Messages == 0, reasons.NoMessages)
	r.LeaveAloneIf(p.last.role == roleModel, reasons.Prefill)
	r.LeaveAloneIf(p.last.role == roleUser && wire.IsSideCall(textOf(p.last.parts)), reasons.SideCall)
	return isObject && p.isList && s.OK() && s.Kind() == 0
}

// readMember reads a member of the request.
func (p *parser) readMember(name string, s *rawjson.Scanner) {
	switch camel(name) {
	case "contents":
		p.readContents(s)
	case "tools":
		p.readTools(s)
	case "toolConfig":
		p.readToolConfig(s.Raw())
	case "generationConfig":
		p.readConfig(s)
	case "cachedContent":
		p.reader.Toolless = !rawjson.IsEmpty(s.Raw()) // what is cached has the tools
		p.reader.LeaveAloneIf(p.reader.Toolless, reasons.CachedContent)
	case "continuationToken":
		p.reader.LeaveAloneIf(!rawjson.IsEmpty(s.Raw()), reasons.Resumption)
	}
}

// readConfig reads what determines the form of the answer.
func (p *parser) readConfig(s *rawjson.Scanner) {
	r := &p.reader
	for name := range s.Members() {
		raw := s.Raw()
		switch camel(name) {
		case "candidateCount":
			r.N, _ = rawjson.Int(raw)
		case "responseMimeType":
			r.JSON = r.JSON || !rawjson.IsEmpty(raw) && rawjson.TextView(raw) != "text/plain"
		case "responseSchema", "responseJsonSchema", "responseFormat":
			r.JSON = r.JSON || !rawjson.IsNull(raw)
		case "responseModalities":
			p.reader.LeaveAloneIf(slices.ContainsFunc(rawjson.Elements(raw), isNotText), reasons.Modalities)
		case "stopSequences":
			p.reader.LeaveAloneIf(!rawjson.IsEmpty(raw) && len(rawjson.Elements(raw)) > 0, reasons.StopSequences)
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
	switch strings.ToUpper(wire.WordOf(mode)) {
	case "", "AUTO", "MODE_UNSPECIFIED", "VALIDATED", "0", "1", "4":
		p.reader.Choice = adapter.ToolChoiceAuto
	case "NONE", "3":
		p.reader.Choice = adapter.ToolChoiceNone
	case "ANY", "2":
		p.reader.Choice = adapter.ToolChoiceRequired
	default:
		p.reader.Choice = adapter.ToolChoiceNamed // unknown
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

// readTools counts the functions and looks for the caller's own todo_pause. Tools that
// the provider runs are in the same list, and are not counted.
func (p *parser) readTools(s *rawjson.Scanner) {
	r := &p.reader
	r.Tools, r.OwnPause = 0, false
	for declaration := range declarations(s) {
		r.Tools++
		r.OwnPause = r.OwnPause || pause.Is(rawjson.TextOf(rawjson.Member(declaration, "name")))
	}
}

// The roles of a content. One without a role is the user's, and so is one with the
// role "function", which older clients give to the results of calls.
const (
	roleUser  = "user"
	roleModel = "model"
)

// readContents reads the list of contents, which is the next value. One with the result of
// a call is not the user's, and neither is one that only tells the model to go on.
func (p *parser) readContents(s *rawjson.Scanner) {
	r := &p.reader
	r.Begin(s)
	p.isList, p.last = s.Kind() == '[', content{}
	for range p.request.contents.Elements(s) {
		m := readContent(s)
		if m.role == roleUser && !m.result {
			if text := wordsOf(m.parts); !wire.IsNudge(text) {
				r.AddUser(text)
			}
		} else {
			r.AddAnswer(m.role == roleModel && m.call)
		}
		r.EndMessage(m.parts)
		p.last = m
	}
}

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

// Add implements [wire.Request].
func (r *request) Add(body []byte, a *adapter.Additions) []byte { return r.extend(body, a) }

// Continue implements [wire.Request]. The model's text goes without its signatures, and
// a rejected todo_pause is answered in words: a call would need its signature. The
// prompt is a text of the user, so the API checks the signatures of nothing before it.
func (r *request) Continue(body []byte, k *adapter.Continuation) []byte {
	text, prompt := k.Text, k.Prompt
	if k.Pause != nil {
		prompt = continuation.PromptPreamble + "\n" + k.Pause.Result
	}
	if text == "" {
		text = noText
	}
	return r.extend(body, &k.Additions, newContent(roleModel, text), newContent(roleUser, prompt))
}

// noText stands for an answer without text, which the API refuses.
const noText = "(no answer)"

func newContent(role, text string) []byte {
	return rawjson.Object("role", role, "parts", []json.RawMessage{textPart(text)})
}

// textPart returns a part with a text.
func textPart(text string) []byte { return append(rawjson.AppendQuote([]byte(`{"text":`), text), '}') }

// extend returns the body with additions, and more contents.
func (r *request) extend(body []byte, a *adapter.Additions, contents ...[]byte) []byte {
	s := rawjson.Over(body)
	if !r.wrapped {
		return r.edits(&s, a, contents).Apply(body)
	}
	var e rawjson.Edits // of the last member of that name, which counts
	for name := range s.Members() {
		if name == "request" {
			e = r.edits(&s, a, contents)
		}
	}
	return e.Apply(body)
}

// edits returns the edits that extend the object with the contents, which is the next
// value in s.
func (r *request) edits(s *rawjson.Scanner, a *adapter.Additions, contents [][]byte) rawjson.Edits {
	var list, tools, choice rawjson.Edits // of the last member of that name, which counts
	for name := range s.Members() {
		switch name := camel(name); {
		case name == "contents":
			list = list[:0]
			wire.Attach(&list, *s, a, textPart, "parts")
			if len(contents) > 0 {
				r.contents.Append(&list, s, contents...)
			}
		case name == "tools" && a.PauseTool != nil:
			tools = addTool(s, a.PauseTool)
		case name == "toolConfig" && a.PauseTool != nil:
			choice = allowTool(s, a.PauseTool.Name)
		}
	}
	return append(append(list, tools...), choice...)
}

// addTool adds a declaration to the last list of them that is not empty. The list of
// tools is the next value in s. A list of its own is refused: several are allowed only
// to tools that search.
func addTool(s *rawjson.Scanner, tool *adapter.PauseTool) (e rawjson.Edits) {
	for range s.Elements() {
		for name := range s.Members() {
			if camel(name) != "functionDeclarations" {
				continue
			}
			ahead := *s
			if list := ahead.Raw(); len(rawjson.Elements(list)) > 0 {
				e = e[:0]
				e.Append(s, declarationOf(tool, schemaNameIn(list)))
			}
		}
	}
	return e
}

// schemaNameIn returns the member in which declarations have their parameters, as the
// caller spells it.
func schemaNameIn(list []byte) string {
	for _, declaration := range rawjson.Elements(list) {
		s := rawjson.Over(declaration)
		for name := range s.Members() {
			if camel(name) == "parametersJsonSchema" {
				return strings.Clone(name)
			}
		}
	}
	return "parameters"
}

// declarationOf returns the declaration of todo_pause. Parameters are of JSON Schema or
// of OpenAPI's dialect, whose types are upper case; neither takes more than the least.
func declarationOf(tool *adapter.PauseTool, schemaName string) []byte {
	object, text := "object", "string"
	if schemaName == "parameters" {
		object, text = strings.ToUpper(object), strings.ToUpper(text)
	}
	reason := rawjson.Member(rawjson.Member(tool.Schema, "properties"), "reason")
	schema := rawjson.Object("type", object, "properties", json.RawMessage(rawjson.Object(
		"reason", json.RawMessage(rawjson.Object("type", text, "description", rawjson.TextOf(rawjson.Member(reason, "description")))),
	)), "required", []string{"reason"})
	return rawjson.Object("name", tool.Name, "description", tool.Description, schemaName, json.RawMessage(schema))
}

// allowTool adds a name to the functions that may be called, if the caller names them.
// The toolConfig is the next value in s.
func allowTool(s *rawjson.Scanner, name string) (e rawjson.Edits) {
	for outer := range s.Members() {
		if camel(outer) != "functionCallingConfig" {
			continue
		}
		for inner := range s.Members() {
			if camel(inner) == "allowedFunctionNames" {
				e = e[:0]
				ahead := *s
				if len(rawjson.Elements(ahead.Raw())) > 0 {
					e.Append(s, rawjson.Quote(name))
				}
			}
		}
	}
	return e
}

// history yields the entries of the contents, newest first, each call with its result.
func (r *request) history(yield func(adapter.Entry) bool) {
	r.contents.Walk(r.source, yield, pass)
}

// pass passes the content that is next in s to a walk.
func pass(w *wire.Walk, s rawjson.Scanner) bool {
	m := readContent(&s)
	if m.role == roleUser && !m.result {
		text := wordsOf(m.parts)
		return wire.IsNudge(text) || w.User(text, wire.TextsIn(m.parts))
	}
	for _, part := range slices.Backward(rawjson.Elements(m.parts)) {
		if !passPart(w, m.role, part) {
			return false
		}
	}
	return true
}

// passPart passes a part of a content that the user has not written. Programs put their
// own texts beside the results of calls, too.
func passPart(w *wire.Walk, role string, part []byte) bool {
	if result := member(part, "functionResponse"); result != nil {
		w.Results.Add(keyOf(result), result)
	}
	if call := member(part, "functionCall"); call != nil {
		id, name := rawjson.TextOf(rawjson.Member(call, "id")), rawjson.TextOf(rawjson.Member(call, "name"))
		return w.PassCall(id, name, argumentsOf(call), resultOf, keyOf(call), nameKey(call)) // some programs leave the id out of the result
	}
	text := rawjson.Member(part, "text")
	return role == roleModel || !rawjson.IsString(text) || w.Text(rawjson.TextOf(text))
}

// keyOf returns what a call and its result have in common: their id, or their name in
// APIs that give no ids, where they stand in the same order.
func keyOf(raw []byte) string {
	if id := rawjson.TextOf(rawjson.Member(raw, "id")); id != "" {
		return id
	}
	return nameKey(raw)
}

// nameKey returns the key of a call without an id. No id looks like it.
func nameKey(raw []byte) string { return "\x00" + rawjson.TextOf(rawjson.Member(raw, "name")) }

// argumentsOf returns the arguments of a call. A call without any has none to show.
func argumentsOf(call []byte) string {
	if args := rawjson.Member(call, "args"); !rawjson.IsNull(args) {
		return string(args)
	}
	return "{}"
}

// resultOf returns the text of a result: the member that programs put it into, or all
// of the JSON. Other protocols have no form for a failed call, so it is put into words.
func resultOf(result []byte) string {
	response := rawjson.Member(result, "response")
	var text []byte
	s := rawjson.Over(response)
	for name := range s.Members() {
		switch value := s.Raw(); {
		case rawjson.IsNull(value):
		case name == "error":
			return "Error: " + wire.TextOrJSON(value)
		case name == "output", name == "result", name == "content":
			text = value
		}
	}
	if text == nil {
		text = response
	}
	return wire.TextOrJSON(text)
}

// declarations yields the functions that a request declares. The list of tools is the
// next value.
func declarations(s *rawjson.Scanner) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for range s.Elements() {
			for name := range s.Members() {
				if camel(name) != "functionDeclarations" {
					continue
				}
				for range s.Elements() {
					if !yield(s.Raw()) {
						return
					}
				}
			}
		}
	}
}

// ToolNames implements [adapter.ToolNamer].
func (r *request) ToolNames(yield func(string) bool) {
	body, err := r.source.Bytes()
	if err != nil {
		return
	}
	s := rawjson.Over(rawjson.Member(r.inner(body), "tools"))
	for declaration := range declarations(&s) {
		if name := rawjson.TextOf(rawjson.Member(declaration, "name")); name != "" && !yield(name) {
			return
		}
	}
}

// Attachable implements [wire.Request].
func (r *request) Attachable(b wire.Body) func(message int) (string, bool) {
	return r.contents.Attachable(b, func(s rawjson.Scanner) (string, bool) {
		m := readContent(&s)
		parts := rawjson.Over(m.parts)
		return textOf(m.parts), m.role == roleUser && parts.Open('[') && parts.Element()
	})
}

// addLoop adds what identifies a tool loop; see [wire.RequestReader.End].
func addLoop(contents rawjson.Scanner, firstCall int, add func(string)) {
	for at := range contents.Elements() {
		m := readContent(&contents)
		add(m.role)
		if at < firstCall {
			add(wordsOf(m.parts))
			continue
		}
		for _, part := range rawjson.Elements(m.parts) {
			add(rawjson.View(part))
			if member(part, "functionCall") != nil {
				return
			}
		}
	}
}
