package httprr

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// chunk is a chunk of a stream, or a whole answer.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Delta   message `json:"delta"`
	Message message `json:"message"` // in a stream, some providers repeat the whole message here
	Finish  string  `json:"finish_reason"`
}

type message struct {
	Content      string     `json:"content"`
	ToolCalls    []fragment `json:"tool_calls"`
	FunctionCall *function  `json:"function_call"`
}

type fragment struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt        int64   `json:"prompt_tokens"`
	Completion    int64   `json:"completion_tokens"`
	Total         int64   `json:"total_tokens"`
	PromptDetails details `json:"prompt_tokens_details"`
	Details       details `json:"completion_tokens_details"`
}

type details struct {
	Cached    int64 `json:"cached_tokens"`
	Reasoning int64 `json:"reasoning_tokens"`
}

// readTurn reads the body of an answer exactly as the protocol defines it, as a reference for what clients read. The
// last finish reason and the last usage count. A legacy function call has neither id nor type.
func readTurn(body []byte, streamed bool) (quirks.Turn, error) {
	if !streamed {
		turn := quirks.Turn{Head: string(body)}
		c, err := readChunk(body)
		if err == nil {
			err = take(&turn, c, choice.whole)
		}
		return turn, err
	}
	var turn quirks.Turn
	events, at, finish := 0, 0, -1
	for line := range bytes.Lines(body) {
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		data = bytes.TrimSpace(data)
		if isData && string(data) != "[DONE]" {
			events++
			c, err := readChunk(data)
			if err == nil {
				err = take(&turn, c, choice.delta)
			}
			if err != nil {
				return turn, fmt.Errorf("event %d: %w", events, err)
			}
			if finish < 0 && turn.Means.Finish != "" {
				finish = at
			}
		}
		at += len(line)
	}
	if finish < 0 {
		finish = at
	}
	turn.Head, turn.Tail = string(body[:finish]), string(body[finish:])
	return turn, nil
}

func readChunk(data []byte) (chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	return c, err
}

func (c choice) delta() message { return c.Delta }
func (c choice) whole() message { return c.Message }

// take adds a chunk to the turn; messageOf returns the delta or the message of its choices.
func take(turn *quirks.Turn, c chunk, messageOf func(choice) message) error {
	for _, choice := range c.Choices {
		addTo(&turn.Means, messageOf(choice))
		if choice.Finish != "" {
			turn.Means.Finish = choice.Finish
		}
	}
	if len(c.Usage) == 0 || string(c.Usage) == "null" {
		return nil
	}
	var u usage
	if err := json.Unmarshal(c.Usage, &u); err != nil {
		return err
	}
	turn.Usage = string(c.Usage)
	turn.Means.Usage = quirks.Usage{
		Prompt: u.Prompt, Completion: u.Completion, Total: u.Total,
		Cached: u.PromptDetails.Cached, Reasoning: u.Details.Reasoning,
	}
	return nil
}

// addTo adds the delta of a chunk, or a whole message. Fragments without an id belong to the call before them.
func addTo(r *quirks.Reading, m message) {
	r.Text += m.Content
	if m.FunctionCall != nil {
		r.Calls = append(r.Calls, quirks.Call{Name: m.FunctionCall.Name, Arguments: m.FunctionCall.Arguments})
	}
	for _, part := range m.ToolCalls {
		if part.ID != "" || len(r.Calls) == 0 {
			r.Calls = append(r.Calls, quirks.Call{ID: part.ID, Type: part.Type})
		}
		call := &r.Calls[len(r.Calls)-1]
		call.Name += part.Function.Name
		call.Arguments += part.Function.Arguments
	}
}
