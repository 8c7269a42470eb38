package quirks

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// What the chunks of a turn begin with. The builders write the placeholder; the
// turn replaces it by one of the envelopes once it is known to be first or
// second.
const (
	placeholder    = `"id":"chatcmpl-?"`
	firstEnvelope  = `"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000001,"model":"model-one"`
	secondEnvelope = `"id":"chatcmpl-2","object":"chat.completion.chunk","created":1700000002,"model":"model-two"`
)

const done = "data: [DONE]\n\n"

// data returns an event.
func data(payload string) string { return "data: " + payload + "\n\n" }

// chunkOf returns an event with the members after the envelope.
func chunkOf(members ...string) string {
	return data("{" + placeholder + "," + strings.Join(members, ",") + "}")
}

// deltaChunk returns a chunk that adds the delta. More are further members of it.
func deltaChunk(delta string, more ...string) string {
	return chunkOf(append([]string{`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]`}, more...)...)
}

// finishChunk returns a chunk with a finish reason.
func finishChunk(delta, reason string, more ...string) string {
	return chunkOf(append([]string{
		`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + strconv.Quote(reason) + `}]`,
	}, more...)...)
}

// roleChunk returns the chunk that a stream begins with.
func roleChunk() string { return deltaChunk(`{"role":"assistant","content":""}`) }

// textChunks returns a chunk for each text.
func textChunks(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(deltaChunk(`{"content":` + jsonString(text) + `}`))
	}
	return b.String()
}

// callChunk returns a chunk with fragments of tool calls; see [spec].
func callChunk(specs ...string) string { return deltaChunk(callsDelta(specs...)) }

func callsDelta(specs ...string) string { return "{" + callList(specs...) + "}" }

// callList returns the member with tool calls, or with fragments of them; see [spec].
func callList(specs ...string) string {
	list := make([]string, 0, len(specs))
	for _, s := range specs {
		list = append(list, spec(s))
	}
	return `"tool_calls":[` + strings.Join(list, ",") + `]`
}

// spec returns a fragment of a tool call, written as "index id type name
// arguments", with _ for what is left out.
func spec(s string) string {
	part := strings.SplitN(s, " ", 5)
	text := func(value string) string {
		if value == "_" || value == "null" {
			return value
		}
		return jsonString(value)
	}
	return object("index", part[0], "id", text(part[1]), "type", text(part[2]),
		"function", object("name", text(part[3]), "arguments", text(part[4])))
}

// object returns a JSON object of names and values, without those that are _.
func object(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "_" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(pairs[i]) + ":" + pairs[i+1])
	}
	return "{" + b.String() + "}"
}

// usageChunk returns the chunk that reports the usage of a stream.
func usageChunk(usage string) string { return chunkOf(`"choices":[]`, `"usage":`+usage) }

// tokens returns a usage.
func tokens(prompt, completion int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`,
		prompt, completion, prompt+completion)
}

func jsonString(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return err.Error() // a string always has an encoding
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// counted returns the tokens that a client counts.
func counted(usage string) Usage {
	var u struct {
		Prompt     json.Number `json:"prompt_tokens"`
		Completion json.Number `json:"completion_tokens"`
		Total      json.Number `json:"total_tokens"`
		In         struct {
			Cached json.Number `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning json.Number `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if usage == "" || json.Unmarshal([]byte(usage), &u) != nil {
		return Usage{}
	}
	return Usage{
		Prompt: rounded(u.Prompt), Completion: rounded(u.Completion), Total: rounded(u.Total),
		Cached: rounded(u.In.Cached), Reasoning: rounded(u.Out.Reasoning),
	}
}

func rounded(n json.Number) int64 {
	f, err := n.Float64()
	if err != nil {
		return 0
	}
	return int64(f)
}
