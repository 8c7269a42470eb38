package main

import (
	"strconv"
	"strings"
	"time"
)

// proxyPromises compare `carryon proxy`, with its defaults, with a bare reverse proxy. Each is a separate process, and
// so is the model. Without the command there are none.
func proxyPromises(command string) []promise {
	if command == "" {
		return nil
	}
	var all []promise
	for _, p := range proxied() {
		all = append(all,
			promise{"proxy, " + p.name + ": first byte", "<= 100 µs later", func(pairs int) result { return p.firstByte(command, 5*pairs) }},
			promise{"proxy, " + p.name + ": 256 flushed events", "<= 1.25 of the CPU time", func(pairs int) result { return p.events(command, pairs) }},
			promise{"proxy, " + p.name + ": whole answers, 4 KB asked", "<= 1.2 of the CPU time", func(pairs int) result { return p.answers(command, shortTask, 1.2, pairs) }},
			promise{"proxy, " + p.name + ": whole answers, 60 KB asked", "<= 1.5 of the CPU time", func(pairs int) result { return p.answers(command, longTask, 1.5, pairs) }},
		)
	}
	return all
}

// protocolBench measures a protocol through a proxy. The requests are those of an agent in the middle of its work,
// whose model does not stall.
type protocolBench struct {
	name    string
	path    func(kind string) string // behind /v1
	request func(kind string, t task) string
	stream  func(texts int) []string
	whole   string
}

// always returns a path that is the same for every kind of answer.
func always(path string) func(string) string { return func(string) string { return path } }

// open starts the processes. The base URL of the upstream has a version where the paths have none of their own.
func (p protocolBench) open(command string, connections int) *sides {
	base := "/v1"
	if strings.HasPrefix(p.path(oneEvent), "beta/") {
		base = ""
	}
	return open(command, base, connections)
}

// posted returns the bytes of a request for a kind of answer.
func (p protocolBench) posted(kind string, t task) []byte {
	return posted(p.path(kind), p.request(kind, t))
}

// The kinds of answers, which the requests name as their model.
const (
	oneEvent   = "one-event"   // and its end
	manyEvents = "many-events" // each of them flushed
	wholeOne   = "whole"       // not streamed
)

// firstByte measures by how much the proxy delays the first byte of a stream.
func (p protocolBench) firstByte(command string, pairs int) result {
	lines := p.open(command, 1)
	defer lines.close()
	request := p.posted(oneEvent, shortTask)
	_, added := compareTimes(
		func() time.Duration { return lines.bare[0].firstByte(request) },
		func() time.Duration { return lines.carried[0].firstByte(request) }, pairs)
	r := atMost(100, added.over(float64(time.Microsecond)/typicalChunkTime()))
	r.text += " µs"
	return r
}

// events compares the CPU time of long streams, each of whose events is flushed.
func (p protocolBench) events(command string, pairs int) result {
	lines := p.open(command, 1)
	defer lines.close()
	request := p.posted(manyEvents, shortTask)
	return atMost(1.25, lines.compareCPU(pairs, func(l *line) { runTimes(4, func() { l.whole(request) }) }))
}

// answers compares the CPU time of the answers to clients that ask at the same time.
func (p protocolBench) answers(command string, t task, limit float64, pairs int) result {
	lines := p.open(command, 8)
	defer lines.close()
	request := p.posted(wholeOne, t)
	return atMost(limit, lines.compareCPU(pairs, func(l *line) { runTimes(8, func() { l.whole(request) }) }))
}

// proxied returns the protocols to measure.
func proxied() []protocolBench {
	return []protocolBench{
		{"Chat Completions", always("/chat/completions"), chatAgent, func(texts int) []string { return turn(texts, "tool_calls") }, chatWhole},
		{"Responses", always("/responses"), responsesAgent, responsesTurn, responsesWhole},
		{"Messages", always("/messages"), messagesAgent, func(texts int) []string { return messagesTurn(texts, "tool_use") }, messagesWhole},
		{"Gemini", geminiAgentPath, geminiAgent, func(texts int) []string { return geminiTurn(texts, true) }, geminiWhole},
	}
}

// task is how far an agent is with its work: how many tools it offers, and how many calls of them its request repeats.
type task struct{ tools, calls int }

// The tasks of about 4 KB and of about 60 KB: 60 messages and 25 tools.
var (
	shortTask = task{tools: 3, calls: 2}   //nolint:gochecknoglobals // constant
	longTask  = task{tools: 25, calls: 29} //nolint:gochecknoglobals // constant
)

const (
	agentTask  = "Write a parser for the configuration files, with tests."
	listCall   = `{\"todos\":[{\"id\":\"1\",\"content\":\"Write the lexer\",\"status\":\"completed\"},{\"id\":\"2\",\"content\":\"Write the parser\",\"status\":\"in_progress\"},{\"id\":\"3\",\"content\":\"Write tests\",\"status\":\"pending\"}]}`
	listResult = "The list was written. Go on with it."
	readCall   = `{\"path\":\"lexer.go\"}`
	listSchema = `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},` +
		`"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}}}}}}`
)

// filled returns text that fills what an agent sends.
func filled(sentence string, n int) string { return strings.TrimSpace(strings.Repeat(sentence+" ", n)) }

func (task) system() string {
	return filled("You are an agent that edits the files of a repository with its tools until the task of its user is done.", 8)
}

// file is the result of reading a file.
func (t task) file() string {
	return filled(`func (l *lexer) next() rune { r := l.input[l.at]; l.at++; return r }\n`, 14+t.calls/14)
}

// schema is that of all tools but the one that writes the list.
func (t task) schema() string {
	return `{"type":"object","properties":{"path":{"type":"string","description":"` +
		filled("The path of the file, from the root of the repository.", 5+t.tools/4) + `"},"text":{"type":"string"}},"required":["path"]}`
}

// eachTool returns the declarations of the tools, with commas between them.
func (t task) eachTool(declare func(name, schema string) string) string {
	all := []string{declare("todo_write", listSchema), declare("read_file", t.schema())}
	for i := len(all); i < t.tools; i++ {
		all = append(all, declare("edit_file_"+strconv.Itoa(i), t.schema()))
	}
	return strings.Join(all, ",")
}

// eachCall returns the calls and their results, with commas between them. The first one writes the list.
func (t task) eachCall(call func(id, name, arguments, result string) string) string {
	all := []string{call("call_1", "todo_write", listCall, listResult)}
	for i := len(all); i < t.calls; i++ {
		all = append(all, call("call_"+strconv.Itoa(i+1), "read_file", readCall, t.file()))
	}
	return strings.Join(all, ",")
}

func isStream(kind string) string { return strconv.FormatBool(kind != wholeOne) }

func chatAgent(kind string, t task) string {
	call := func(id, name, arguments, result string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]},` +
			`{"role":"tool","tool_call_id":"` + id + `","content":"` + result + `"}`
	}
	tool := func(name, schema string) string {
		return `{"type":"function","function":{"name":"` + name + `","parameters":` + schema + `}}`
	}
	return `{"model":"` + kind + `","stream":` + isStream(kind) + `,"messages":[{"role":"system","content":"` + t.system() + `"},{"role":"user","content":"` + agentTask + `"},` +
		t.eachCall(call) + `],"tools":[` + t.eachTool(tool) + `]}`
}

func responsesAgent(kind string, t task) string {
	call := func(id, name, arguments, result string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":"` + arguments + `"},` +
			`{"type":"function_call_output","call_id":"` + id + `","output":"` + result + `"}`
	}
	tool := func(name, schema string) string {
		return `{"type":"function","name":"` + name + `","strict":false,"parameters":` + schema + `}`
	}
	return `{"model":"` + kind + `","stream":` + isStream(kind) + `,"store":false,"instructions":"` + t.system() + `","input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + agentTask + `"}]},` +
		t.eachCall(call) + `],"tools":[` + t.eachTool(tool) + `]}`
}

func messagesAgent(kind string, t task) string {
	call := func(id, name, arguments, result string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + plain(arguments) + `}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + result + `"}]}`
	}
	tool := func(name, schema string) string {
		return `{"name":"` + name + `","input_schema":` + schema + `}`
	}
	return `{"model":"` + kind + `","stream":` + isStream(kind) + `,"max_tokens":1000,"system":"` + t.system() + `","messages":[{"role":"user","content":"` + agentTask + `"},` +
		t.eachCall(call) + `],"tools":[` + t.eachTool(tool) + `]}`
}

// geminiAgentPath names the kind of answer, because the model of a request stands in its path.
func geminiAgentPath(kind string) string {
	if kind == wholeOne {
		return "beta/models/" + kind + ":generateContent"
	}
	return "beta/models/" + kind + ":streamGenerateContent?alt=sse"
}

func geminiAgent(_ string, t task) string {
	call := func(_, name, arguments, result string) string {
		return `{"role":"model","parts":[{"functionCall":{"name":"` + name + `","args":` + plain(arguments) + `}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"` + name + `","response":{"output":"` + result + `"}}}]}`
	}
	tool := func(name, schema string) string {
		return `{"name":"` + name + `","parameters":` + schema + `}`
	}
	return `{"systemInstruction":{"parts":[{"text":"` + t.system() + `"}]},"contents":[{"role":"user","parts":[{"text":"` + agentTask + `"}]},` +
		t.eachCall(call) + `],"tools":[{"functionDeclarations":[` + t.eachTool(tool) + `]}]}`
}

// plain returns arguments as an object, from their form in a string.
func plain(arguments string) string { return strings.ReplaceAll(arguments, `\"`, `"`) }

// The answers that are not streamed: a sentence and a call.
const (
	chatWhole = `{"id":"chatcmpl-1","object":"chat.completion","created":1755691077,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"I will write the parser now, and then its tests.","tool_calls":[{"id":"call_3","type":"function","function":{"name":"edit_file","arguments":"{}"}}]},` +
		`"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	responsesWhole = `{"id":"resp_1","object":"response","created_at":1755691077,"status":"completed","model":"m","output":[` +
		`{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I will write the parser now, and then its tests.","annotations":[]}]},` +
		`{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_3","name":"edit_file","arguments":"{}"}],` +
		`"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`
	messagesWhole = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I will write the parser now, and then its tests."},` +
		`{"type":"tool_use","id":"toolu_3","name":"edit_file","input":{}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}`
	geminiWhole = `{"candidates":[{"content":{"parts":[{"text":"I will write the parser now, and then its tests."},{"functionCall":{"name":"edit_file_2","args":{}}}],"role":"model"},` +
		`"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},"modelVersion":"m","responseId":"r"}`
)
