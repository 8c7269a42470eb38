package transport

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/middleware"
)

// extend returns the body of a continuation's request: the caller's own, byte
// for byte, with what k adds. Mirror names the members under which the answer's
// reasoning is sent back.
func extend(body []byte, k *middleware.Continuation, mirror []string) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for s.Open('{'); s.Member(); {
		switch string(s.Key()) {
		case "messages":
			appendTo(&e, &s, messagesOf(k, mirror)...)
		case "store":
			if raw := s.Raw(); string(raw) == "true" {
				e.Replace(s.At()-len(raw), s.At(), []byte("false"))
			}
		case "prediction":
			from := s.KeyAt()
			s.Skip()
			e.Remove(body, from, s.At())
		default:
			offer(&e, &s, k.OffersPause, middleware.NewPauseTool(k.StrictPause))
		}
	}
	return e.Apply(body)
}

// declare returns the caller's own body with todo_pause among its tools.
func declare(body []byte, tool middleware.PauseTool) []byte {
	var e rawjson.Edits
	s := rawjson.Over(body)
	for s.Open('{'); s.Member(); {
		offer(&e, &s, true, tool)
	}
	return e.Apply(body)
}

// offer reads a member, and adds todo_pause to it if that is wanted and it is a
// list of tools: those there are, or those that may be called.
func offer(e *rawjson.Edits, s *rawjson.Scanner, wanted bool, tool middleware.PauseTool) {
	switch key := string(s.Key()); {
	case wanted && key == "tools":
		appendTo(e, s, toolJSON(tool))
	case wanted && key == "tool_choice" && s.Kind() == '{':
		for s.Open('{'); s.Member(); {
			if string(s.Key()) != allowedTools || s.Kind() != '{' {
				s.Skip()
				continue
			}
			allow(e, s, tool.Name)
		}
	default:
		s.Skip()
	}
}

// allow adds a tool to those that may be called.
func allow(e *rawjson.Edits, s *rawjson.Scanner, name string) {
	for s.Open('{'); s.Member(); {
		if string(s.Key()) != "tools" {
			s.Skip()
			continue
		}
		appendTo(e, s, marshal(map[string]any{"type": "function", "function": map[string]string{"name": name}}))
	}
}

// appendTo reads an array and adds elements to it.
func appendTo(e *rawjson.Edits, s *rawjson.Scanner, added ...[]byte) {
	if !s.Open('[') {
		return
	}
	at, empty := s.At(), true
	for s.Element() {
		s.Skip()
		at, empty = s.At(), false
	}
	all := bytes.Join(added, []byte(","))
	if !empty {
		all = slices.Concat([]byte(","), all)
	}
	e.Insert(at, all)
}

// messagesOf returns the messages that k adds.
func messagesOf(k *middleware.Continuation, mirror []string) [][]byte {
	said := []byte(`{"role":"assistant"`)
	if k.Text != "" || k.Pause == nil { // some refuse an empty text beside a call
		said = append(append(said, `,"content":`...), rawjson.Quote(k.Text)...)
	}
	if k.Reasoning != "" {
		for _, name := range mirror {
			said = append(said, `,"`+name+`":`...)
			said = append(said, rawjson.Quote(k.Reasoning)...)
		}
	}
	asked := marshal(struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}{"user", k.Prompt})
	if p := k.Pause; p != nil {
		said = append(said, `,"tool_calls":[`...)
		said = append(said, callJSON(p)...)
		said = append(said, ']')
		asked = marshal(struct {
			Role    string `json:"role"`
			ID      string `json:"tool_call_id"`
			Content string `json:"content"`
		}{"tool", p.ID, p.Result})
	}
	return [][]byte{append(said, '}'), asked}
}

func callJSON(p *middleware.PauseAnswer) []byte {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	return marshal(struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{p.ID, "function", function{p.Name, p.Arguments}})
}

func toolJSON(tool middleware.PauseTool) []byte {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict,omitempty"`
	}
	return marshal(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{tool.Name, tool.Description, tool.Schema, tool.Strict}})
}

// marshal returns what cannot fail to be JSON.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("transport: " + err.Error())
	}
	return b
}
