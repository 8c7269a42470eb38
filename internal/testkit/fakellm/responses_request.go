package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// responseRequest is the part of a request's body that the server reads.
type responseRequest struct {
	Model              string          `json:"model"`
	Stream             bool            `json:"stream"`
	Store              *bool           `json:"store"`
	Input              responseInput   `json:"input"`
	PreviousResponseID string          `json:"previous_response_id"`
	Tools              responseTools   `json:"tools"`
	Conversation       json.RawMessage `json:"conversation"`
}

// responseInput are the items of a request. A string is one message of the user.
type responseInput []inputItem

type inputItem struct {
	Type             string        `json:"type"`
	ID               string        `json:"id"`
	Role             string        `json:"role"`
	Content          chatContent   `json:"content"`
	CallID           string        `json:"call_id"`
	Name             string        `json:"name"`
	Arguments        string        `json:"arguments"`
	Input            string        `json:"input"` // of a custom tool
	Output           chatContent   `json:"output"`
	EncryptedContent string        `json:"encrypted_content"`
	Tools            responseTools `json:"tools"` // that are added
}

// responseTools are the tools of a request. A namespace has others inside.
type responseTools []struct {
	Name  string        `json:"name"`
	Tools responseTools `json:"tools"`
}

func (t responseTools) names() (names []string) {
	for _, tool := range t {
		if tool.Tools != nil {
			names = append(names, tool.Tools.names()...)
		} else {
			names = append(names, tool.Name)
		}
	}
	return names
}

func (in *responseInput) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*in = responseInput{{Role: "user", Content: chatContent(text)}}
		return nil
	}
	return json.Unmarshal(data, (*[]inputItem)(in))
}

// refusal is an error with the status that the server answers with.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func (p responses) read(r *Request) error {
	var body *responseRequest
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("invalid body: %w", err)
	}
	if body == nil {
		return fmt.Errorf("invalid body: %s", r.Body)
	}
	r.Model, r.Stream = body.Model, body.Stream
	for _, item := range body.Input {
		if m, ok := item.message(); ok {
			r.Messages = append(r.Messages, m)
		}
		r.Tools = append(r.Tools, item.Tools.names()...)
	}
	r.Tools = append(r.Tools, body.Tools.names()...)
	return p.store.check(body)
}

// message returns the item as a message, if it is one or can be shown as one.
func (i inputItem) message() (Message, bool) {
	switch i.Type {
	case "", "message":
		return Message{Role: i.Role, Content: string(i.Content)}, i.Role != ""
	case "function_call":
		return Message{Role: "assistant", ToolCalls: []ToolCall{{ID: i.CallID, Name: i.Name, Arguments: i.Arguments}}}, true
	case "custom_tool_call":
		return Message{Role: "assistant", ToolCalls: []ToolCall{{ID: i.CallID, Name: i.Name, Arguments: i.Input}}}, true
	case "function_call_output", "custom_tool_call_output":
		return Message{Role: "tool", ToolCallID: i.CallID, Content: string(i.Output)}, true
	}
	return Message{}, false
}

// responseStore has the responses and items that the server has stored.
type responseStore struct {
	mu        sync.Mutex
	responses map[string]storedResponse
	items     map[string]storedItem
}

type storedResponse struct {
	calls, results []string // call ids of the whole chain
}

type storedItem struct {
	item   responseItem
	before string // the id of the reasoning that stands before it, or ""
}

func newResponses() responses {
	return responses{&responseStore{responses: map[string]storedResponse{}, items: map[string]storedItem{}}}
}

// keep stores a response, unless the request has store false.
func (s *responseStore) keep(r response, request Request) {
	if !r.Store {
		return
	}
	var body responseRequest
	_ = json.Unmarshal(request.Body, &body) // read has checked it
	s.mu.Lock()
	defer s.mu.Unlock()
	chain := s.responses[body.PreviousResponseID].clone()
	chain.add(body.Input)
	before := ""
	for _, item := range r.Output {
		s.items[item.ID] = storedItem{item, before}
		before = ""
		if item.Type == "reasoning" {
			before = item.ID
		}
		if item.Type == "function_call" {
			chain.calls = append(chain.calls, item.CallID)
		}
	}
	s.responses[r.ID] = chain
}

func (c storedResponse) clone() storedResponse {
	return storedResponse{slices.Clone(c.calls), slices.Clone(c.results)}
}

// add adds the calls and the results of an input.
func (c *storedResponse) add(input responseInput) {
	for _, item := range input {
		switch item.Type {
		case "function_call", "custom_tool_call":
			c.calls = append(c.calls, item.CallID)
		case "function_call_output", "custom_tool_call_output":
			c.results = append(c.results, item.CallID)
		}
	}
}

// check refuses what the API refuses: references to nothing, calls without a result, and results without a call.
func (s *responseStore) check(body *responseRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	chain, ok := s.responses[body.PreviousResponseID]
	if !ok && body.PreviousResponseID != "" {
		return &refusal{http.StatusBadRequest, "Previous response with id '" + body.PreviousResponseID + "' not found."}
	}
	chain = chain.clone()
	input, err := s.resolve(body)
	if err != nil {
		return err
	}
	chain.add(input)
	for _, id := range chain.calls {
		if !slices.Contains(chain.results, id) {
			return &refusal{http.StatusBadRequest, "No tool output found for function call " + id + "."}
		}
	}
	for _, id := range chain.results {
		if !slices.Contains(chain.calls, id) {
			return &refusal{http.StatusBadRequest, "No tool call found for function call output with call_id " + id + "."}
		}
	}
	return checkReasoning(input, s.items)
}

// resolve returns the input with the stored items that it refers to.
func (s *responseStore) resolve(body *responseRequest) (responseInput, error) {
	input := slices.Clone(body.Input)
	for i := range input {
		item := &input[i]
		stored, ok := s.items[item.ID]
		isReference := item.Type == "item_reference" || item.Type == "" && item.Role == ""
		keeps := body.Store == nil || *body.Store
		switch {
		case item.ID == "":
		case !ok && (isReference || item.EncryptedContent == "" && (keeps || item.Type == "reasoning")):
			return nil, &refusal{http.StatusNotFound, "Item with id '" + item.ID + "' not found."}
		case isReference:
			*item = inputItem{Type: stored.item.Type, ID: item.ID, Role: stored.item.Role, CallID: stored.item.CallID, Name: stored.item.Name}
		}
	}
	return input, nil
}

// checkReasoning refuses reasoning without the item that followed it, and that item without its reasoning.
func checkReasoning(input responseInput, items map[string]storedItem) error {
	for i, item := range input {
		if item.Type == "reasoning" && (i+1 == len(input) || input[i+1].Role == "user" || input[i+1].Type == "function_call_output") {
			return &refusal{http.StatusBadRequest, "Item '" + item.ID + "' of type 'reasoning' was provided without its required following item."}
		}
		before := items[item.ID].before
		if before != "" && (i == 0 || input[i-1].ID != before) {
			return &refusal{
				http.StatusBadRequest,
				"Item '" + item.ID + "' of type '" + item.Type + "' was provided without its required 'reasoning' item: '" + before + "'.",
			}
		}
	}
	return nil
}
