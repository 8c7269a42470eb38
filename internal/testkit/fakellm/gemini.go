package fakellm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// gemini is Google's generateContent.
type gemini struct {
	wrapped bool // requests and answers are members of another object, as in Code Assist
}

func (g gemini) serves(path string) bool {
	known := strings.HasSuffix(path, ":generateContent") || strings.HasSuffix(path, ":streamGenerateContent")
	return known && strings.Contains(path, "/v1internal:") == g.wrapped
}

func (gemini) crlf() bool { return true }

func (gemini) terminator() event { return event{} }

func (gemini) literal(data string) event { return event{data: data} }

func (gemini) failure(kind failureKind, text string) event {
	code, status := 400, "INVALID_ARGUMENT"
	if kind == serverError {
		code, status = 500, "INTERNAL"
	}
	return event{data: string(object("error", object("code", code, "message", text, "status", status)))}
}

func (g gemini) document(a answer, r Request, number int) string {
	a.text = []string{strings.Join(a.text, "")}
	var parts []json.RawMessage
	for _, chunk := range a.geminiParts(r, number) {
		parts = append(parts, chunk...)
	}
	if n := len(parts); n > 1 && len(a.calls) == 0 && signs(r.Model) {
		parts = append(parts[:n-2], signedText(parts[n-2], parts[n-1])) // the signature stands on the text
	}
	return string(g.chunk(a, r, number, parts, end{a.geminiFinish(), a.usage.geminiJSON(1, 1)}))
}

func (g gemini) stream(a answer, r Request, number int) []event {
	chunks := a.geminiParts(r, number)
	list := make([]event, 0, len(chunks))
	for i, parts := range chunks {
		finish := ""
		if i == len(chunks)-1 {
			finish = a.geminiFinish()
		}
		list = append(list, event{data: string(g.chunk(a, r, number, parts, end{finish, a.usage.geminiJSON(i+1, len(chunks))}))})
	}
	return list
}

// end is what a chunk has behind its parts. A nil usage is none, and an empty finish too.
type end struct {
	finish string
	usage  json.RawMessage
}

// chunk is a chunk of an answer, or the whole one.
func (g gemini) chunk(a answer, r Request, number int, parts []json.RawMessage, e end) json.RawMessage {
	candidate := []any{"content", object("parts", parts, "role", "model")}
	if e.finish != "" {
		candidate = append(candidate, "finishReason", e.finish)
	}
	if e.finish != "" && len(a.calls) > 0 {
		candidate = append(candidate, "finishMessage", "Model generated function call(s).")
	}
	members := []any{"candidates", []json.RawMessage{object(append(candidate, "index", 0)...)}}
	if e.usage != nil {
		members = append(members, "usageMetadata", e.usage)
	}
	id, model := fmt.Sprintf("resp-%d", number), r.Model
	if a.model != "" {
		model = a.model
	}
	if a.responseID != "" {
		id = a.responseID
	}
	whole := object(append(members, "modelVersion", model, "responseId", id)...)
	if g.wrapped {
		return object("response", whole, "traceId", fmt.Sprintf("trace-%d", number))
	}
	return whole
}

// geminiFinish is "" if no finish reason is reported.
func (a answer) geminiFinish() string {
	switch {
	case a.quirks.has(NoFinish):
		return ""
	case a.finish != "":
		return a.finish
	case a.refusal != "":
		return "SAFETY"
	}
	return "STOP" // after calls, too
}

// signs reports whether the model signs what it answers.
func signs(model string) bool { return strings.Contains(model, "gemini-3") }

// geminiParts are the parts of an answer, by the chunks of a stream. A model that signs
// puts a signature on the first call, or else on an empty text at the end.
func (a answer) geminiParts(r Request, number int) [][]json.RawMessage {
	var chunks [][]json.RawMessage
	add := func(members ...any) { chunks = append(chunks, []json.RawMessage{object(members...)}) }
	if a.reasoning != "" {
		add("text", a.reasoning, "thought", true)
	}
	for _, text := range append(append([]string{}, a.text...), a.refusal) {
		if text != "" {
			add("text", text)
		}
	}
	signature := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signature %d", number))
	for i, c := range a.numberedCalls(number) {
		members := []any{"functionCall", geminiCall(c, signs(r.Model))}
		if i == 0 && signs(r.Model) {
			members = append(members, "thoughtSignature", signature)
		}
		add(members...)
	}
	switch {
	case len(a.calls) == 0 && signs(r.Model):
		add("text", "", "thoughtSignature", signature)
	case len(chunks) == 0:
		add("text", "")
	}
	if a.quirks.has(OneChunk) {
		for _, more := range chunks[1:] {
			chunks[0] = append(chunks[0], more...)
		}
		chunks = chunks[:1]
	}
	return chunks
}

// signedText is a text with the signature of an empty one.
func signedText(text, signature json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.TrimSuffix(string(text), "}") + strings.TrimPrefix(string(signature), `{"text":""`))
}

// geminiCall is a call. Older models give none an id.
func geminiCall(c call, withID bool) json.RawMessage {
	args := json.RawMessage("{}")
	if json.Valid([]byte(c.arguments)) {
		args = json.RawMessage(c.arguments)
	}
	members := []any{"name", c.name, "args", args}
	if withID {
		members = append(members, "id", c.id)
	}
	return object(members...)
}

// geminiJSON is the usage after n of all chunks; nil for none.
func (u usage) geminiJSON(n, all int) json.RawMessage {
	return u.json(func(prompt, completion int) json.RawMessage {
		written := completion * n / all
		members := []any{"promptTokenCount", prompt}
		if written > 0 {
			members = append(members, "candidatesTokenCount", written)
		}
		details := []json.RawMessage{object("modality", "TEXT", "tokenCount", prompt)}
		return object(append(members, "totalTokenCount", prompt+written, "promptTokensDetails", details)...)
	})
}
