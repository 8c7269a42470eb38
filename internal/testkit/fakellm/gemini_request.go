package fakellm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// geminiRequest is the part of a request's body that Request shows, and that the API has rules about.
type geminiRequest struct {
	Contents          []geminiContent `json:"contents"`
	SystemInstruction *geminiContent  `json:"systemInstruction"`
	Tools             []geminiTools   `json:"tools"`
	CachedContent     string          `json:"cachedContent"`
	ToolConfig        struct {
		FunctionCallingConfig struct {
			AllowedFunctionNames []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
}

type geminiTools struct {
	FunctionDeclarations []chatName `json:"functionDeclarations"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             *string         `json:"text"`
	Thought          bool            `json:"thought"`
	ThoughtSignature string          `json:"thoughtSignature"`
	FunctionCall     *geminiFunction `json:"functionCall"`
	FunctionResponse *geminiFunction `json:"functionResponse"`
}

// geminiFunction is a call, or its result.
type geminiFunction struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	Response json.RawMessage `json:"response"`
}

func (g gemini) read(r *Request) error {
	body, model, err := g.inner(r)
	if err != nil {
		return err
	}
	var request geminiRequest
	decoder := json.NewDecoder(bytes.NewReader(inCamelCase(body)))
	if err := decoder.Decode(&request); err != nil {
		return fmt.Errorf("invalid body: %w", err)
	}
	if err := request.check(signs(model)); err != nil {
		return err
	}
	r.Model, r.Stream = model, strings.HasSuffix(r.Path, ":streamGenerateContent")
	if request.SystemInstruction != nil {
		r.Messages = append(r.Messages, Message{Role: "system", Content: request.SystemInstruction.text()})
	}
	for _, content := range request.Contents {
		r.Messages = append(r.Messages, content.message())
	}
	for _, tools := range request.Tools {
		for _, declaration := range tools.FunctionDeclarations {
			r.Tools = append(r.Tools, declaration.Name)
		}
	}
	return nil
}

// inner returns the request in a body, and the model.
func (g gemini) inner(r *Request) (body []byte, model string, err error) {
	if !g.wrapped {
		path, _, _ := strings.Cut(r.Path[strings.LastIndexByte(r.Path, '/')+1:], ":")
		return r.Body, path, nil
	}
	var outer struct {
		Model   string          `json:"model"`
		Request json.RawMessage `json:"request"`
	}
	switch err := json.Unmarshal(r.Body, &outer); {
	case err != nil:
		return nil, "", fmt.Errorf("invalid body: %w", err)
	case outer.Request == nil:
		return nil, "", errors.New("invalid body: it has no request")
	}
	return outer.Request, outer.Model, nil
}

// inCamelCase returns JSON with the member names that programs in Python write in snake case. Values that look like
// such a name keep their spelling.
func inCamelCase(body []byte) []byte {
	names := []string{"system_instruction", "function_declarations", "function_call", "function_response", "thought_signature", "tool_config", "function_calling_config", "allowed_function_names"}
	for _, name := range names {
		words := strings.Split(name, "_")
		for i := range words[1:] {
			words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
		}
		body = bytes.ReplaceAll(body, []byte(`"`+name+`":`), []byte(`"`+strings.Join(words, "")+`":`))
	}
	return body
}

func (c geminiContent) text() string {
	var joined strings.Builder
	for _, part := range c.Parts {
		switch {
		case part.Text != nil && !part.Thought:
			joined.WriteString(*part.Text)
		case part.FunctionResponse != nil:
			joined.Write(part.FunctionResponse.Response)
		}
	}
	return joined.String()
}

func (c geminiContent) message() Message {
	out := Message{Role: c.Role, Content: c.text()}
	for _, part := range c.Parts {
		switch {
		case part.Thought && part.Text != nil:
			out.ReasoningContent += *part.Text
		case part.FunctionCall != nil:
			out.ToolCalls = append(out.ToolCalls, ToolCall{part.FunctionCall.ID, part.FunctionCall.Name, string(part.FunctionCall.Args)})
		case part.FunctionResponse != nil && out.ToolCallID == "":
			out.ToolCallID = part.FunctionResponse.ID
		}
	}
	return out
}

// check returns the error with which the API would refuse a request. signed says that the model signs its calls.
func (r *geminiRequest) check(signed bool) error {
	turns, err := r.turns()
	if err != nil {
		return err
	}
	user := 0 // where the current turn begins
	for i, turn := range turns {
		if turn.Role != "model" && turn.count().results == 0 {
			user = i
		}
	}
	for i, turn := range turns {
		if err := checkCalls(turns, i); err != nil {
			return fmt.Errorf("contents of turn %d: %w", i, err)
		}
		if signed && i > user && turn.Role == "model" && !turn.isSigned() {
			return errors.New("Function call is missing a thought_signature in functionCall parts") //nolint:staticcheck // the API's own words
		}
	}
	return r.checkTools()
}

// turns returns the contents with those of one role joined: clients may send a content for each chunk of an answer.
func (r *geminiRequest) turns() ([]geminiContent, error) {
	if len(r.Contents) == 0 {
		return nil, errors.New("contents is not specified")
	}
	var turns []geminiContent
	for i, content := range r.Contents {
		if content.Role == "" || content.Role == "function" {
			content.Role = "user"
		}
		if err := content.checkParts(); err != nil {
			return nil, fmt.Errorf("contents[%d].%w", i, err)
		}
		if n := len(turns) - 1; n >= 0 && turns[n].Role == content.Role && turns[n].count().results == content.count().results {
			turns[n].Parts = slices.Concat(turns[n].Parts, content.Parts)
			continue
		}
		turns = append(turns, content)
	}
	if first, last := turns[0].Role, turns[len(turns)-1].Role; first == "model" || last == "model" {
		return nil, errors.New("contents must begin and end with the user")
	}
	return turns, nil
}

func (c geminiContent) checkParts() error {
	if len(c.Parts) == 0 {
		return errors.New("parts must not be empty")
	}
	for _, part := range c.Parts {
		if part.Text != nil && *part.Text == "" && part.ThoughtSignature == "" && c.Role == "user" {
			return errors.New("parts has an empty text")
		}
	}
	return nil
}

type counts struct{ calls, results int }

func (c geminiContent) count() (n counts) {
	for _, part := range c.Parts {
		if part.FunctionCall != nil {
			n.calls++
		}
		if part.FunctionResponse != nil {
			n.results++
		}
	}
	return n
}

// isSigned reports whether the first call has a signature, if there is a call.
func (c geminiContent) isSigned() bool {
	for _, part := range c.Parts {
		if part.FunctionCall != nil {
			return part.ThoughtSignature != ""
		}
	}
	return true
}

// checkCalls checks that the calls of a turn are answered by the next one.
func checkCalls(turns []geminiContent, i int) error {
	calls, answered := turns[i].count().calls, 0
	if turns[i].Role == "model" && i+1 < len(turns) {
		answered = turns[i+1].count().results
	}
	if turns[i].Role == "model" && calls != answered {
		return fmt.Errorf("the number of function response parts (%d) must equal that of function call parts of the function call turn (%d)",
			answered, calls)
	}
	if turns[i].Role != "model" && turns[i].count().results > 0 && (i == 0 || turns[i-1].Role != "model") {
		return errors.New("function response turn must come immediately after a function call turn")
	}
	return nil
}

// checkTools checks the declarations: all are in one entry, and each name is there once.
func (r *geminiRequest) checkTools() error {
	entries, names := 0, map[string]bool{}
	for _, tools := range r.Tools {
		if len(tools.FunctionDeclarations) > 0 {
			entries++
		}
		for _, declaration := range tools.FunctionDeclarations {
			if names[declaration.Name] {
				return fmt.Errorf("duplicate function declaration found: %s", declaration.Name)
			}
			names[declaration.Name] = true
		}
	}
	switch {
	case entries > 1:
		return errors.New("multiple tools are supported only when they are all search tools")
	case r.CachedContent != "" && entries > 0:
		return errors.New("cachedContent cannot be used with tools")
	}
	for _, name := range r.ToolConfig.FunctionCallingConfig.AllowedFunctionNames {
		if !names[name] {
			return fmt.Errorf("allowed_function_names has a function that is not declared: %s", name)
		}
	}
	return nil
}
