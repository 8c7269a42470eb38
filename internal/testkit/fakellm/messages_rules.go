package fakellm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// history is the part of a request that the API's rules for a history are about.
type history struct {
	system, tools any
	messages      []historyMessage
	manual        bool // thinking was enabled by hand, with a budget
}

type historyMessage struct {
	role   string
	blocks []map[string]any
}

// checkHistory returns the error with which the API would refuse a request. A signature that this server did not make
// counts as valid.
func checkHistory(body []byte) error {
	h, err := readHistory(body)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for i, m := range h.messages {
		for _, check := range []func() error{
			func() error { return m.checkTexts() },
			func() error { return m.checkThinking(h.manual && h.inLoop(i)) },
			func() error { return h.checkSignatures(i) },
			func() error { return h.checkCalls(i, ids) },
		} {
			if err := check(); err != nil {
				return fmt.Errorf("messages.%d: %w", i, err)
			}
		}
	}
	return h.checkTools()
}

func readHistory(body []byte) (history, error) {
	var raw map[string]any
	if err := json.Unmarshal(body, &raw); err != nil {
		return history{}, fmt.Errorf("invalid body: %w", err)
	}
	bare, _ := withoutCacheMarks(raw).(map[string]any)
	h := history{system: blocksOf(bare["system"]), tools: bare["tools"]}
	thinking, _ := bare["thinking"].(map[string]any)
	h.manual = thinking["type"] == "enabled"
	list, _ := bare["messages"].([]any)
	for _, m := range list {
		message, _ := m.(map[string]any)
		role, _ := message["role"].(string)
		h.messages = append(h.messages, historyMessage{role, blocksOf(message["content"])})
	}
	if len(h.messages) == 0 {
		return history{}, errors.New("messages: at least one message is required")
	}
	return h, nil
}

// withoutCacheMarks returns a value without its cache marks, which no signature covers.
func withoutCacheMarks(value any) any {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "cache_control")
		for name, member := range value {
			value[name] = withoutCacheMarks(member)
		}
	case []any:
		for i, element := range value {
			value[i] = withoutCacheMarks(element)
		}
	}
	return value
}

func blocksOf(content any) []map[string]any {
	switch content := content.(type) {
	case string:
		return []map[string]any{{"type": "text", "text": content}}
	case []any:
		var blocks []map[string]any
		for _, element := range content {
			if block, ok := element.(map[string]any); ok {
				blocks = append(blocks, block)
			}
		}
		return blocks
	}
	return nil
}

func (m historyMessage) checkTexts() error {
	said := 0
	for _, block := range m.blocks {
		if block["type"] != "text" {
			said++
			continue
		}
		text, _ := block["text"].(string)
		if text == "" {
			return errors.New("text content blocks must be non-empty")
		}
		if strings.TrimSpace(text) != "" {
			said++
		}
	}
	if said == 0 {
		return errors.New("text content blocks must contain non-whitespace text")
	}
	return nil
}

func isThought(block map[string]any) bool {
	return block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

// checkThinking checks the position of thinking in a message. In a loop of tool calls, thinking that the request
// enables explicitly must come first.
func (m historyMessage) checkThinking(first bool) error {
	if m.role != "assistant" {
		return nil
	}
	for i, block := range m.blocks {
		if isThought(block) && i > 0 && isThought(m.blocks[i-1]) {
			return errors.New("thinking blocks must not be adjacent")
		}
	}
	if first && slices.ContainsFunc(m.blocks, isThought) && !isThought(m.blocks[0]) {
		return fmt.Errorf("the first block must be `thinking` or `redacted_thinking`; found `%v`", m.blocks[0]["type"])
	}
	return nil
}

// inLoop reports whether a message is followed by results of its calls.
func (h history) inLoop(i int) bool {
	return i+1 < len(h.messages) && slices.ContainsFunc(h.messages[i+1].blocks, func(b map[string]any) bool { return b["type"] == "tool_result" })
}

// checkSignatures checks that thinking follows the same messages as when it was made.
func (h history) checkSignatures(i int) error {
	for _, block := range h.messages[i].blocks {
		signature, _ := block["signature"].(string)
		if block["type"] != "thinking" || !strings.HasPrefix(signature, signedBy) {
			continue
		}
		if signature != h.signature(i) {
			return errors.New("invalid `signature` in `thinking` block: the block is bound to a different conversation")
		}
	}
	return nil
}

// signedBy begins the signatures of this server.
const signedBy = "carryontest-"

// signature returns the signature of thinking that follows the first n messages.
func (h history) signature(n int) string {
	prefix := append(make([]any, 0, 2+2*n), h.system, h.tools)
	for _, m := range h.messages[:n] {
		prefix = append(prefix, m.role, m.blocks)
	}
	sum := sha256.Sum256([]byte(marshal(prefix)))
	return signedBy + hex.EncodeToString(sum[:8])
}

// checkCalls checks that ids are unique, and that a call is followed by its result, before anything else.
func (h history) checkCalls(i int, ids map[string]bool) error {
	var open []string
	for _, block := range h.messages[i].blocks {
		id, _ := block["id"].(string)
		if block["type"] != "tool_use" {
			continue
		}
		if ids[id] {
			return fmt.Errorf("`tool_use` ids must be unique: %s", id)
		}
		ids[id] = true
		open = append(open, id)
	}
	if len(open) == 0 {
		return nil
	}
	var results []string
	if i+1 < len(h.messages) {
		for _, block := range h.messages[i+1].blocks {
			if block["type"] != "tool_result" {
				break
			}
			id, _ := block["tool_use_id"].(string)
			results = append(results, id)
		}
	}
	for _, id := range open {
		if !slices.Contains(results, id) {
			return fmt.Errorf("`tool_use` ids were found without `tool_result` blocks immediately after: %s", id)
		}
	}
	return nil
}

func (h history) checkTools() error {
	tools, _ := h.tools.([]any)
	names := map[any]bool{}
	for _, tool := range tools {
		members, _ := tool.(map[string]any)
		name := members["name"]
		if name != nil && names[name] {
			return fmt.Errorf("tools: tool names must be unique: %v", name)
		}
		names[name] = true
	}
	return nil
}

// signatureFor returns the signature of thinking in the answer to a request.
func signatureFor(body []byte) string {
	h, err := readHistory(body)
	if err != nil {
		return signedBy + "none"
	}
	return h.signature(len(h.messages))
}
