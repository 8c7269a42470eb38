package faults

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/quirks"
)

// payload is a chunk, or a whole answer.
type payload struct {
	Choices []struct {
		Delta, Message content
		FinishReason   string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	} `json:"usage"`
}

// content is the delta or the message of a choice.
type content struct {
	Content   string `json:"content"`
	ToolCalls []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// read reads payloads as the protocol defines them. It panics on invalid JSON:
// the scripts are well formed.
func read(payloads []string) quirks.Reading {
	var r quirks.Reading
	for _, text := range payloads {
		if text == "[DONE]" {
			break
		}
		var p payload
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			panic(fmt.Sprintf("carryon/internal/testkit/faults: %v in %s", err, text))
		}
		if p.Usage.Total > 0 {
			r.Usage = quirks.Usage{Prompt: p.Usage.Prompt, Completion: p.Usage.Completion, Total: p.Usage.Total}
		}
		for _, choice := range p.Choices {
			r.Finish += choice.FinishReason
			choice.Delta.addTo(&r)
			choice.Message.addTo(&r)
		}
	}
	return r
}

func (c content) addTo(r *quirks.Reading) {
	r.Text += c.Content
	for at, part := range c.ToolCalls {
		if part.Index != nil {
			at = *part.Index
		}
		if at == len(r.Calls) {
			r.Calls = append(r.Calls, quirks.Call{ID: part.ID, Type: part.Type})
		}
		r.Calls[at].Name += part.Function.Name
		r.Calls[at].Arguments += part.Function.Arguments
	}
}

// join returns what a client should read of two answers. The second may have
// failed; it has no finish reason then.
func join(first, second quirks.Reading) quirks.Reading {
	both := first
	both.Text = paragraphs(first.Text, second.Text)
	shown, paused := split(second.Calls)
	switch {
	case second.Finish == "" && len(shown) > 0:
		return quirks.Reading{Text: both.Text, Err: "half a call"}
	case second.Finish == "":
		return both
	}
	both.Usage = second.Usage
	if first.Usage != (quirks.Usage{}) {
		both.Usage = quirks.Usage{
			Prompt: first.Usage.Prompt, Completion: first.Usage.Completion + second.Usage.Completion,
			Total: first.Usage.Total + second.Usage.Total - second.Usage.Prompt,
		}
	}
	if paused {
		both.Text = paragraphs(both.Text, "Task paused: "+blocker)
	}
	both.Calls = shown
	if len(shown) > 0 || !paused {
		both.Finish = second.Finish
	}
	return both
}

// split returns the calls that are shown: those that are not a pause, and whose
// name cannot become that of a pause.
func split(calls []quirks.Call) (shown []quirks.Call, paused bool) {
	for _, call := range calls {
		switch {
		case call.Name == "todo_pause":
			paused = true
		case !strings.HasPrefix("todo_pause", call.Name):
			shown = append(shown, call)
		}
	}
	return shown, paused
}

func paragraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
