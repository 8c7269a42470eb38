package quirks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// chunk is one event of a stream, with the parts decoded that the checks need.
type chunk struct {
	members map[string]json.RawMessage
	choices []choice
}

// choice is a choice of a chunk, or of a whole answer.
type choice struct {
	members map[string]json.RawMessage
	delta   map[string]json.RawMessage // or message
}

// chunksOf returns the JSON objects among the data of a stream in any framing,
// up to the first [DONE]. It leaves out what is not JSON.
func chunksOf(body string) []chunk {
	body = strings.TrimPrefix(body, "\ufeff")
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	var chunks []chunk
	pending := ""
	for line := range strings.SplitSeq(body, "\n") {
		data, ok := strings.CutPrefix(line, "data:")
		data = strings.TrimSpace(data)
		switch {
		case !ok && line != "[DONE]":
			continue
		case line == "[DONE]" || data == "[DONE]":
			return chunks
		}
		if c, err := readChunk(data); err == nil {
			chunks, pending = append(chunks, c), ""
			continue
		}
		pending += data
		if c, err := readChunk(pending); err == nil {
			chunks, pending = append(chunks, c), ""
		}
	}
	return chunks
}

// joinedChunks returns the chunks that carryon wrote after the first answer,
// and reports whether they end in [DONE]. carryon writes one framing only, with
// the line end of the first answer.
func joinedChunks(rest, lineEnd string) (chunks []chunk, done bool, err error) {
	blank := lineEnd + lineEnd
	rest, done = strings.CutSuffix(rest, "data: [DONE]"+blank)
	for rest != "" {
		event, after, ok := strings.Cut(rest, blank)
		data, isData := strings.CutPrefix(event, "data: ")
		if !ok || !isData || strings.ContainsAny(data, "\r\n") {
			return nil, false, fmt.Errorf("not an event of one line of data: %q", event)
		}
		c, err := readChunk(data)
		if err != nil {
			return nil, false, fmt.Errorf("event %q: %w", event, err)
		}
		chunks, rest = append(chunks, c), after
	}
	return chunks, done, nil
}

func readChunk(data string) (chunk, error) {
	var c chunk
	if err := json.Unmarshal([]byte(data), &c.members); err != nil {
		return c, err
	}
	if c.members == nil {
		return c, errors.New("not an object")
	}
	var list []map[string]json.RawMessage
	if raw, ok := c.members["choices"]; ok {
		if err := json.Unmarshal(raw, &list); err != nil {
			return c, err
		}
	}
	for _, members := range list {
		one := choice{members: members}
		body, ok := members["delta"]
		if !ok {
			body, ok = members["message"] // of a whole answer; some chunks have both
		}
		if ok {
			if err := json.Unmarshal(body, &one.delta); err != nil {
				return c, err
			}
		}
		c.choices = append(c.choices, one)
	}
	return c, nil
}

// str returns a member that is a string, or "".
func str(members map[string]json.RawMessage, name string) string {
	var s string
	if json.Unmarshal(members[name], &s) != nil {
		return ""
	}
	return s
}

// present reports whether there is a member of this name that is not null.
func present(members map[string]json.RawMessage, name string) bool {
	raw, ok := members[name]
	return ok && string(raw) != "null"
}

// text returns the text of a choice: a string, or the text parts of a list.
func (c choice) text() string {
	var parts []struct{ Type, Text string }
	if json.Unmarshal(c.delta["content"], &parts) != nil {
		return str(c.delta, "content")
	}
	var text strings.Builder
	for _, part := range parts {
		if part.Type == "text" {
			text.WriteString(part.Text)
		}
	}
	return text.String()
}

func (c choice) finish() string { return str(c.members, "finish_reason") }

// first reports whether the choice is the first of the answer.
func (c choice) first() bool {
	return !present(c.members, "index") || string(c.members["index"]) == "0"
}

// fragments returns the tool calls of the choice, or the fragments of them.
func (c choice) fragments() []map[string]json.RawMessage {
	if present(c.delta, "function_call") {
		return []map[string]json.RawMessage{{"function": c.delta["function_call"]}}
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(c.delta["tool_calls"], &list) != nil {
		return nil
	}
	return list
}

// firstChoice returns the first choice 0 of the chunk.
func (c chunk) firstChoice() (choice, bool) {
	for _, one := range c.choices {
		if one.first() {
			return one, true
		}
	}
	return choice{}, false
}
