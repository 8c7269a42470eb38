package fakellm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// responses is OpenAI's Responses API. Like the API, it stores its answers: a request may continue a stored response,
// and may refer to stored items. It refuses requests that the API refuses.
type responses struct{ store *responseStore }

func (responses) serves(path string) bool { return strings.HasSuffix(path, "/responses") }

func (responses) crlf() bool { return false }

// terminator returns none: the event with the response object ends the answer.
func (responses) terminator() event { return event{} }

// literal returns the event with the data, named after its type.
func (responses) literal(data string) event { return messages{}.literal(data) }

func (responses) failure(kind failureKind, text string) event {
	name := "invalid_request_error"
	if kind == serverError {
		name = "server_error"
	}
	return event{"error", marshal(map[string]any{
		"type": "error", "error": chatError{Message: text, Type: name},
	})}
}

func (p responses) document(a answer, r Request, number int) string {
	items := a.items(number)
	whole := newResponse(a, r, number).ended(a, items)
	p.store.keep(whole, r)
	return marshal(whole)
}

func (p responses) stream(a answer, r Request, number int) []event {
	items := a.items(number)
	response := newResponse(a, r, number)
	s := &responseStream{}
	s.add("response.created", map[string]any{"response": response})
	s.add("response.in_progress", map[string]any{"response": response})
	for i, item := range items {
		s.item(i, item, a)
	}
	whole := response.ended(a, items)
	p.store.keep(whole, r)
	s.add("response."+whole.Status, map[string]any{"response": whole})
	return s.events
}

// response is the response object.
type response struct {
	ID                 string          `json:"id"`
	Object             string          `json:"object"`
	CreatedAt          int64           `json:"created_at"`
	Status             string          `json:"status"`
	Error              *string         `json:"error"`
	IncompleteDetails  json.RawMessage `json:"incomplete_details"`
	Instructions       json.RawMessage `json:"instructions"`
	Model              string          `json:"model"`
	Output             []responseItem  `json:"output"`
	ParallelToolCalls  json.RawMessage `json:"parallel_tool_calls"`
	PreviousResponseID json.RawMessage `json:"previous_response_id"`
	Store              bool            `json:"store"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	Tools              json.RawMessage `json:"tools"`
	Usage              json.RawMessage `json:"usage"`
	Metadata           json.RawMessage `json:"metadata"`
}

// newResponse returns the response object at the start of an answer, with the members that it repeats from the request.
func newResponse(a answer, r Request, number int) response {
	var asked map[string]json.RawMessage
	_ = json.Unmarshal(r.Body, &asked) // read has made sure of it
	or := func(name, otherwise string) json.RawMessage {
		if raw, ok := asked[name]; ok {
			return raw
		}
		return json.RawMessage(otherwise)
	}
	e := newChatEnvelope(a, r, number)
	if a.responseID == "" {
		e.id = fmt.Sprintf("resp_%d", number)
	}
	return response{
		ID: e.id, Object: "response", CreatedAt: e.created, Status: "in_progress", Model: e.model, Output: []responseItem{},
		IncompleteDetails: json.RawMessage("null"), Usage: json.RawMessage("null"),
		Instructions: or("instructions", "null"), ParallelToolCalls: or("parallel_tool_calls", "true"),
		PreviousResponseID: or("previous_response_id", "null"), Store: string(or("store", "true")) != "false",
		ToolChoice: or("tool_choice", `"auto"`), Tools: or("tools", "[]"), Metadata: or("metadata", "{}"),
	}
}

// ended returns the response object as it is when the answer has ended.
func (r response) ended(a answer, items []responseItem) response {
	r.Output, r.Status, r.Usage = items, "completed", a.usage.responseJSON()
	switch a.finish {
	case "", "stop", "tool_calls":
	case "length":
		r.Status, r.IncompleteDetails = "incomplete", json.RawMessage(`{"reason":"max_output_tokens"}`)
	default:
		r.Status, r.IncompleteDetails = "incomplete", json.RawMessage(marshal(map[string]string{"reason": a.finish}))
	}
	return r
}

// responseJSON is the usage that a response reports; nil for none.
func (u usage) responseJSON() json.RawMessage {
	return u.json(func(prompt, completion int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(
			`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
			prompt, completion, prompt+completion))
	})
}

// responseItem is an item of the output.
type responseItem struct {
	ID               string          `json:"id"`
	Type             string          `json:"type"`
	Status           string          `json:"status,omitempty"`
	Role             string          `json:"role,omitempty"`
	Content          *[]responsePart `json:"content,omitempty"`
	Summary          *[]responsePart `json:"summary,omitempty"`
	EncryptedContent string          `json:"encrypted_content,omitempty"`
	CallID           string          `json:"call_id,omitempty"`
	Name             string          `json:"name,omitempty"`
	Arguments        *string         `json:"arguments,omitempty"`
}

type responsePart struct {
	Type        string    `json:"type"`
	Text        *string   `json:"text,omitempty"`
	Refusal     string    `json:"refusal,omitempty"`
	Annotations *[]string `json:"annotations,omitempty"`
	Logprobs    *[]string `json:"logprobs,omitempty"`
}

func outputText(text string) responsePart {
	return responsePart{Type: "output_text", Text: &text, Annotations: &[]string{}, Logprobs: &[]string{}}
}

// items returns the output items of the answer: its reasoning, its message, and its calls.
func (a answer) items(number int) []responseItem {
	list := []responseItem{}
	if a.reasoning != "" {
		list = append(list, responseItem{
			ID: fmt.Sprintf("rs_%d", number), Type: "reasoning", Summary: &[]responsePart{{Type: "summary_text", Text: &a.reasoning}},
			EncryptedContent: fmt.Sprintf("sealed-%d", number),
		})
	}
	var parts []responsePart
	if text := strings.Join(a.text, ""); text != "" || a.refusal == "" && len(a.calls) == 0 {
		parts = append(parts, outputText(text))
	}
	if a.refusal != "" {
		parts = append(parts, responsePart{Type: "refusal", Refusal: a.refusal})
	}
	if parts != nil {
		list = append(list, responseItem{
			ID: fmt.Sprintf("msg_%d", number), Type: "message", Status: "completed", Role: "assistant", Content: &parts,
		})
	}
	for i, c := range a.numberedCalls(number) {
		list = append(list, responseItem{
			ID: fmt.Sprintf("fc_%d_%d", number, i+1), Type: "function_call", Status: "completed",
			CallID: c.id, Name: c.name, Arguments: &c.arguments,
		})
	}
	return list
}
