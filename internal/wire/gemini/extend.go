package gemini

import (
	"encoding/json"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/rawjson"
)

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
	if !r.wrapped {
		return extend(body, a, contents...)
	}
	var e rawjson.Edits
	s := rawjson.Over(body)
	for name := range s.Members() {
		if name == "request" {
			inner := s.Raw()
			e = e[:0]
			e.Replace(s.At()-len(inner), s.At(), extend(inner, a, contents...))
		}
	}
	return e.Apply(body)
}

func extend(body []byte, a *adapter.Additions, contents ...[]byte) []byte {
	var list, tools, choice rawjson.Edits // of the last member of that name, which counts
	s := rawjson.Over(body)
	for name := range s.Members() {
		switch name := camel(name); {
		case name == "contents":
			list = list[:0]
			attach(&list, s, a)
			if len(contents) > 0 {
				list.Append(&s, contents...)
			}
		case name == "tools" && a.PauseTool != nil:
			tools = addTool(&s, a.PauseTool)
		case name == "toolConfig" && a.PauseTool != nil:
			choice = allowTool(&s, a.PauseTool.Name)
		}
	}
	return append(append(list, tools...), choice...).Apply(body)
}

// attach joins attachments to the contents, which are the next value in s. Their text
// goes behind all other parts.
func attach(e *rawjson.Edits, s rawjson.Scanner, a *adapter.Additions) {
	if len(a.Attachments) == 0 {
		return
	}
	texts := map[int][][]byte{}
	for message, all := range a.ByMessage() {
		for _, text := range all {
			texts[message] = append(texts[message], textPart(text))
		}
	}
	for at := range s.Elements() {
		if len(texts[at]) == 0 {
			continue
		}
		var parts rawjson.Edits
		for name := range s.Members() {
			if name == "parts" {
				parts = parts[:0]
				parts.Append(&s, texts[at]...)
			}
		}
		*e = append(*e, parts...)
	}
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
