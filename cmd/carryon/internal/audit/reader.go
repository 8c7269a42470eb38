package audit

import (
	"errors"
	"strings"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// reader reads the transcripts of an agent, line by line.
type reader interface {
	// line reads a line, and tells the conversation what it says. It fails if it does not know the line.
	line(raw []byte, c *conversation) error
	// end is called after the last line.
	end(c *conversation)
}

var (
	errUnknown = errors.New("a line of a kind that carryon does not know")
	errEmpty   = errors.New("a transcript in which carryon found no session")
	errSkip    = errors.New("a transcript of no user") // of a sub-agent, say
)

// format is the form of an agent's transcripts.
type format struct {
	agent  string
	folder string // below the home of the user
	suffix string // of the files
	also   string // a part of their paths
	not    string // what their paths do not have
	moved  []moved
	knows  func(line object) bool // whether a line can be of such a transcript only
	whole  bool                   // the transcript is one JSON object
	reader func() reader          // nil for a database
}

// moved is an environment variable that names another place.
type moved struct{ name, folder string }

// formats returns the forms that are known.
func formats() []format {
	return []format{
		{
			agent: "Codex", folder: ".codex/sessions", suffix: ".jsonl", also: "/rollout-", moved: []moved{{"CODEX_HOME", "sessions"}},
			knows: func(line object) bool {
				return isObject(line["payload"]) && line.text("type") != "" || isOldCodex(line)
			},
			reader: func() reader { return new(codexReader) },
		},
		{
			agent: "Copilot CLI", folder: ".copilot/session-state", suffix: ".jsonl", moved: []moved{{"COPILOT_HOME", "session-state"}},
			knows:  func(line object) bool { return isObject(line["data"]) && strings.Contains(line.text("type"), ".") },
			reader: func() reader { return new(copilotReader) },
		},
		{
			agent: "gemini-cli", folder: ".gemini/tmp", suffix: ".jsonl", also: "/chats/session-", moved: []moved{{"GEMINI_CLI_HOME", ".gemini/tmp"}},
			knows:  func(line object) bool { return line["projectHash"] != nil && line["sessionId"] != nil },
			reader: func() reader { return new(geminiReader) },
		},
		{ // before 0.40 or so, a chat was one JSON object
			agent: "gemini-cli", folder: ".gemini/tmp", suffix: ".json", also: "/chats/session-", moved: []moved{{"GEMINI_CLI_HOME", ".gemini/tmp"}}, whole: true,
			reader: func() reader { return new(geminiReader) },
		},
		{
			agent: "qwen-code", folder: ".qwen/projects", suffix: ".jsonl", also: "/chats/", moved: []moved{{"QWEN_RUNTIME_DIR", "projects"}, {"QWEN_HOME", "projects"}},
			knows: func(line object) bool {
				return line["sessionId"] != nil && membersOf(line["message"], "parts")["parts"] != nil
			},
			reader: func() reader { return new(qwenReader) },
		},
		{
			agent: "Claude Code", folder: ".claude/projects", suffix: ".jsonl", not: "/subagents/", moved: []moved{{"CLAUDE_CONFIG_DIR", "projects"}},
			knows: func(line object) bool {
				return line["sessionId"] != nil && membersOf(line["message"], "content")["content"] != nil || line.text("type") == "summary" && line["leafUuid"] != nil
			},
			reader: func() reader { return new(claudeReader) },
		},
		{agent: "opencode", folder: ".local/share/opencode", suffix: "/opencode.db", moved: []moved{{"XDG_DATA_HOME", "opencode"}}},
	}
}

// formatOf returns the format of a transcript with a line, or nil.
func formatOf(raw []byte) *format {
	line := membersOf(raw, "payload", "data", "type", "projectHash", "sessionId", "message", "leafUuid", "role", "content", "call_id")
	for _, f := range formats() {
		if f.knows != nil && f.knows(line) {
			return &f
		}
	}
	return nil
}

// isOldCodex reports whether a line is an item of the Responses API, as Codex wrote them
// before it put each into an envelope.
func isOldCodex(line object) bool {
	switch line.text("type") {
	case "message":
		return line["role"] != nil && valueKind(line["content"]) == '['
	case "function_call", "function_call_output":
		return line["call_id"] != nil
	}
	return false
}

func isObject(raw []byte) bool { return valueKind(raw) == '{' }

// valueKind returns the first byte of a JSON value.
func valueKind(raw []byte) byte {
	s := rawjson.Over(raw)
	return s.Kind()
}

// object is the members of a JSON object that a reader looks at.
type object map[string][]byte

// membersOf returns members of an object, or nil if raw is no object.
func membersOf(raw []byte, names ...string) object {
	s := rawjson.Over(raw)
	if s.Kind() != '{' {
		return nil
	}
	found := make(object, len(names))
	for name := range s.Members() {
		for _, wanted := range names {
			if name == wanted {
				found[wanted] = s.Raw()
			}
		}
	}
	if !s.OK() {
		return nil
	}
	return found
}

// text returns a member that is a string, valid as long as the line.
func (o object) text(name string) string { return rawjson.TextView(o[name]) }

// is reports whether a member is true.
func (o object) is(name string) bool { return string(o[name]) == "true" }

// number returns a member that is an integer, or 0.
func (o object) number(name string) int {
	n, _ := rawjson.Int(o[name])
	return n
}

// arguments returns a member as the arguments of a call: a string, or JSON.
func (o object) arguments(name string) string {
	if rawjson.IsString(o[name]) {
		return o.text(name)
	}
	return string(o[name])
}

// partsOf returns the elements of a content, or one text part if it is a string.
func partsOf(content []byte) []object {
	if rawjson.IsString(content) {
		return []object{{"type": []byte(`"text"`), "text": content}}
	}
	elements := rawjson.Elements(content)
	parts := make([]object, 0, len(elements))
	for _, raw := range elements {
		parts = append(parts, membersOf(raw, "type", "text", "id", "name", "input", "tool_use_id", "content", "thought", "functionCall", "functionResponse"))
	}
	return parts
}

// textIn returns the texts of a content.
func textIn(content []byte) string { return strings.Join(textsIn(content), "\n") }

// userTextIn returns the texts of a user's content as the engine tells them apart.
func userTextIn(content []byte) string { return strings.Join(textsIn(content), "\x00") }

func textsIn(content []byte) (texts []string) {
	for _, part := range partsOf(content) {
		if part["text"] != nil && !part.is("thought") {
			texts = append(texts, part.text("text"))
		}
	}
	return texts
}

// claudeReader reads Claude Code's transcripts. Each block of an answer has a line of its own.
type claudeReader struct{}

func (claudeReader) end(*conversation) {}

func (claudeReader) line(raw []byte, c *conversation) error {
	line := membersOf(raw, "type", "message", "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "rendered", "attachment", "uuid", "sessionId", "timestamp")
	c.seen(line.text("sessionId"), line.text("timestamp"))
	message := membersOf(line["message"], "content", "stop_reason", "usage")
	kind := line.text("type")
	switch {
	case line == nil, (kind == "user" || kind == "assistant") && message["content"] == nil:
		return errUnknown
	case line.is("isSidechain"), line.is("isCompactSummary"):
		return nil
	}
	switch kind {
	case "user":
		claudeUser(line.text("uuid"), message["content"], line.is("isMeta"), c)
	case "assistant":
		if line.is("isApiErrorMessage") {
			c.interrupted()
			return nil
		}
		c.id(line.text("uuid"))
		claudeAnswer(message, c)
	case "attachment":
		rendered := rawjson.Elements(line["rendered"])
		for _, text := range rendered {
			c.note(textIn(membersOf(text, "content")["content"]))
		}
		if len(rendered) == 0 { // of an older version
			c.note(textIn(membersOf(line["attachment"], "prompt")["prompt"]))
		}
	case "":
		return errUnknown
	}
	return nil
}

// claudeUser reads a message of the user, or the results of calls.
func claudeUser(id string, content []byte, meta bool, c *conversation) {
	var texts []string
	results := false
	for _, part := range partsOf(content) {
		switch part.text("type") {
		case "tool_result":
			c.result(part.text("tool_use_id"), textIn(part["content"]))
			results = true
		case "text":
			texts = append(texts, part.text("text"))
		}
	}
	text := strings.Join(texts, "\x00") // so the engine tells them apart
	switch {
	case strings.HasPrefix(text, "[Request interrupted by user"):
		c.interrupted()
	case text == "", isLocal(text):
	case results, meta:
		for _, text := range texts {
			c.note(text)
		}
	default:
		c.message(id, text)
	}
}

// isLocal reports whether Claude Code itself has answered a message.
func isLocal(text string) bool {
	for _, prefix := range [...]string{"<command-name>", "<local-command-", "<bash-"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

func claudeAnswer(message object, c *conversation) {
	usage := membersOf(message["usage"], "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
	cached := usage.number("cache_read_input_tokens") + usage.number("cache_creation_input_tokens")
	c.used(usage.number("input_tokens")+cached+usage.number("output_tokens"), usage.number("output_tokens"), cached)
	for _, part := range partsOf(message["content"]) {
		switch part.text("type") {
		case "text":
			c.says(part.text("text"))
		case "tool_use":
			c.calls(part.text("id"), part.text("name"), string(part["input"]))
			return
		}
	}
	if reason := message.text("stop_reason"); reason != "" && reason != "tool_use" {
		c.finishes(reason)
	}
}

// codexReader reads Codex's rollouts, which hold the items of the Responses API.
type codexReader struct{}

func (codexReader) end(*conversation) {}

func (codexReader) line(raw []byte, c *conversation) error {
	line := membersOf(raw, "type", "payload", "timestamp", "record_type", "id")
	c.seen("", line.text("timestamp"))
	switch {
	case line == nil, line["payload"] == nil && line["type"] == nil && line["id"] == nil && line["record_type"] == nil:
		return errUnknown
	case line["payload"] == nil: // of an older version
		if line["type"] == nil {
			c.seen(line.text("id"), "")
		}
		codexItem(raw, c)
		return nil
	}
	switch line.text("type") {
	case "session_meta":
		meta := membersOf(line["payload"], "thread_source", "id")
		if source := meta.text("thread_source"); source != "" && source != "user" {
			return errSkip
		}
		c.seen(meta.text("id"), "")
	case "response_item":
		codexItem(line["payload"], c)
	case "event_msg":
		codexEvent(line["payload"], c)
	}
	return nil
}

func codexItem(raw []byte, c *conversation) {
	item := membersOf(raw, "type", "role", "content", "call_id", "name", "arguments", "input", "output", "id")
	switch item.text("type") {
	case "message":
		text := textIn(item["content"])
		switch {
		case item.text("role") == "assistant":
			c.id(item.text("id"))
			c.says(text)
		case strings.HasPrefix(text, "<turn_aborted>"):
			c.interrupted()
		case item.text("role") == "user":
			c.message(item.text("id"), userTextIn(item["content"]))
		default:
			c.note(text)
		}
	case "function_call":
		c.calls(item.text("call_id"), item.text("name"), item.arguments("arguments"))
	case "custom_tool_call":
		c.calls(item.text("call_id"), item.text("name"), item.arguments("input"))
	case "local_shell_call":
		c.calls(item.text("call_id"), "local_shell", "{}")
	case "custom_tool_call_output":
		if item["name"] == nil { // otherwise a running script has sent it
			c.result(item.text("call_id"), textIn(item["output"]))
		}
	case "function_call_output":
		c.result(item.text("call_id"), textIn(item["output"]))
	}
}

func codexEvent(raw []byte, c *conversation) {
	event := membersOf(raw, "type", "info")
	switch event.text("type") {
	case "turn_aborted":
		c.interrupted()
	case "token_count":
		last := membersOf(event["info"], "last_token_usage")["last_token_usage"]
		usage := membersOf(last, "total_tokens", "output_tokens", "cached_input_tokens")
		c.used(usage.number("total_tokens"), usage.number("output_tokens"), usage.number("cached_input_tokens"))
	}
}

// qwenReader reads qwen-code's chats, which hold the contents of the Gemini API.
type qwenReader struct{}

func (qwenReader) end(*conversation) {}

func (qwenReader) line(raw []byte, c *conversation) error {
	line := membersOf(raw, "type", "uuid", "message", "usageMetadata", "sessionId", "timestamp")
	c.seen(line.text("sessionId"), line.text("timestamp"))
	parts, kind := membersOf(line["message"], "parts")["parts"], line.text("type")
	if parts == nil && (kind == "user" || kind == "assistant" || kind == "tool_result") {
		return errUnknown
	}
	switch kind {
	case "user":
		c.message(line.text("uuid"), userTextIn(parts))
	case "assistant":
		c.id(line.text("uuid"))
		usage := membersOf(line["usageMetadata"], "totalTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
		c.used(usage.number("totalTokenCount"), usage.number("candidatesTokenCount")+usage.number("thoughtsTokenCount"), usage.number("cachedContentTokenCount"))
		for _, part := range partsOf(parts) {
			geminiPart(part, c)
		}
	case "tool_result":
		for _, part := range partsOf(parts) {
			geminiPart(part, c)
		}
	case "":
		return errUnknown
	}
	return nil
}

// geminiPart reads a part of the model's answer, or the result of a call.
func geminiPart(part object, c *conversation) {
	switch {
	case part["functionCall"] != nil:
		call := membersOf(part["functionCall"], "id", "name", "args")
		c.calls(call.text("id"), call.text("name"), string(call["args"]))
	case part["functionResponse"] != nil:
		geminiResult(part["functionResponse"], c)
	case part["text"] != nil && !part.is("thought"):
		c.says(part.text("text"))
	}
}

func geminiResult(raw []byte, c *conversation) {
	result := membersOf(raw, "id", "response")
	response := membersOf(result["response"], "output", "error")
	text := response.text("output")
	if response["error"] != nil {
		text = "Error: " + response.text("error")
	}
	c.result(result.text("id"), text)
}

// geminiReader reads gemini-cli's chats. A message is written again when its calls have ended.
type geminiReader struct {
	last []byte // the newest answer, which may be written again
	id   string
}

func (r *geminiReader) line(raw []byte, c *conversation) error {
	line := membersOf(raw, "id", "type", "content", "kind", "$set", "sessionId", "timestamp")
	c.seen(line.text("sessionId"), line.text("timestamp"))
	switch {
	case line == nil:
		return errUnknown
	case line["kind"] != nil && line.text("kind") != "main":
		return errSkip
	case line.text("type") == "gemini":
		if line.text("id") != r.id {
			r.end(c)
		}
		r.last = append(r.last[:0], raw...)
		r.id = strings.Clone(line.text("id"))
	case line.text("type") == "user":
		r.end(c)
		if text := userTextIn(line["content"]); text != "" {
			c.message(line.text("id"), text)
		}
	case line.text("type") == "" && line["$set"] == nil && line["sessionId"] == nil:
		return errUnknown
	}
	return nil
}

// end reads the newest answer.
func (r *geminiReader) end(c *conversation) {
	if len(r.last) == 0 {
		return
	}
	answer := membersOf(r.last, "content", "toolCalls", "tokens")
	c.id(r.id)
	usage := membersOf(answer["tokens"], "total", "output", "thoughts", "cached")
	c.used(usage.number("total"), usage.number("output")+usage.number("thoughts"), usage.number("cached"))
	if text := textIn(answer["content"]); text != "" {
		c.says(text)
	}
	for _, raw := range rawjson.Elements(answer["toolCalls"]) {
		call := membersOf(raw, "id", "name", "args", "result")
		c.calls(call.text("id"), call.text("name"), string(call["args"]))
		for _, part := range partsOf(call["result"]) {
			geminiPart(part, c)
		}
	}
	r.last, r.id = r.last[:0], ""
}

// copilotReader reads the events of Copilot CLI's sessions.
type copilotReader struct{}

func (copilotReader) end(*conversation) {}

func (copilotReader) line(raw []byte, c *conversation) error {
	line := membersOf(raw, "type", "data", "id", "agentId", "timestamp")
	data := membersOf(line["data"], "content", "toolRequests", "toolCallId", "success", "result", "error", "usage", "sessionId")
	c.seen(data.text("sessionId"), line.text("timestamp"))
	switch {
	case line.text("type") == "":
		return errUnknown
	case !rawjson.IsEmpty(line["agentId"]): // of a sub-agent
		return nil
	}
	switch line.text("type") {
	case "user.message":
		c.message(line.text("id"), data.text("content"))
	case "assistant.message":
		c.id(line.text("id"))
		if text := data.text("content"); text != "" {
			c.says(text)
		}
		for _, raw := range rawjson.Elements(data["toolRequests"]) {
			call := membersOf(raw, "toolCallId", "name", "arguments")
			c.calls(call.text("toolCallId"), call.text("name"), call.arguments("arguments"))
		}
	case "tool.execution_complete":
		text := membersOf(data["result"], "content").text("content")
		if !data.is("success") {
			text = "Error: " + membersOf(data["error"], "message").text("message")
		}
		c.result(data.text("toolCallId"), text)
	case "session.usage_record":
		usage := membersOf(data["usage"], "inputTokens", "outputTokens", "cacheReadTokens")
		c.used(usage.number("inputTokens")+usage.number("outputTokens"), usage.number("outputTokens"), usage.number("cacheReadTokens"))
	case "abort":
		c.interrupted()
	}
	return nil
}
