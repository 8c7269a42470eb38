package main

import (
	"fmt"
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
			promise{"proxy, " + p.name + ": 256 flushed events", "<= 5 % over bare", func(pairs int) result { return p.events(command, pairs) }},
			promise{"proxy, " + p.name + ": whole answers", ">= 0.95 of the throughput", func(pairs int) result { return p.throughput(command, pairs) }},
		)
	}
	return all
}

// protocolBench measures a protocol through a proxy. The requests are those of an agent in the middle of its work,
// whose model does not stall.
type protocolBench struct {
	name, path string
	request    func(kind string) string
	stream     func(texts int) []string
	whole      string
}

// The kinds of answers, which the requests name as their model.
const (
	oneEvent   = "one-event"   // and its end
	manyEvents = "many-events" // each of them flushed
	wholeOne   = "whole"       // not streamed
)

// firstByte measures by how much the proxy delays the first byte of a stream.
func (p protocolBench) firstByte(command string, pairs int) result {
	lines := open(command, 1)
	defer lines.close()
	request := posted(p.path, p.request(oneEvent))
	_, added := compareTimes(
		func() time.Duration { return lines.bare[0].firstByte(request) },
		func() time.Duration { return lines.carried[0].firstByte(request) }, pairs)
	r := atMost(100, added.over(float64(time.Microsecond)/typicalChunkTime()))
	r.text += " µs"
	return r
}

// events compares a long stream, each of whose events is flushed.
func (p protocolBench) events(command string, pairs int) result {
	lines := open(command, 1)
	defer lines.close()
	request := posted(p.path, p.request(manyEvents))
	ratio, _ := pair{func() { lines.bare[0].whole(request) }, func() { lines.carried[0].whole(request) }}.compare(pairs)
	return percent(5, ratio)
}

// throughput compares how long concurrent clients wait for their answers.
func (p protocolBench) throughput(command string, pairs int) result {
	const clients, each = 8, 8
	lines := open(command, clients)
	defer lines.close()
	request := posted(p.path, p.request(wholeOne))
	all := func(lines []*line) func() {
		return func() { atOnce(lines, func(l *line) { runTimes(each, func() { l.whole(request) }) }) }
	}
	ratio, _ := pair{all(lines.bare), all(lines.carried)}.compare(pairs)
	inverse := interval{1 / ratio.high, 1 / ratio.median, 1 / ratio.low}
	return result{fmt.Sprintf("%.3f (%.3f to %.3f)", inverse.median, inverse.low, inverse.high), inverse.high >= 0.95}
}

// proxied returns the protocols to measure.
func proxied() []protocolBench {
	return []protocolBench{
		{"Chat Completions", "/chat/completions", chatAgent, func(texts int) []string { return turn(texts, "tool_calls") }, chatWhole},
		{"Responses", "/responses", responsesAgent, responsesTurn, responsesWhole},
		{"Messages", "/messages", messagesAgent, func(texts int) []string { return messagesTurn(texts, "tool_use") }, messagesWhole},
	}
}

// agentTexts are the texts that an agent sends with each request, about 8 KB.
type agentTexts struct{ system, task, list, result, read, file, schema string }

func textsOfAgent() agentTexts {
	sentences := func(s string, n int) string { return strings.TrimSpace(strings.Repeat(s+" ", n)) }
	return agentTexts{
		system: sentences("You are an agent that edits the files of a repository with its tools until the task of its user is done.", 15),
		task:   "Write a parser for the configuration files, with tests.",
		list:   `{\"todos\":[{\"id\":\"1\",\"content\":\"Write the lexer\",\"status\":\"completed\"},{\"id\":\"2\",\"content\":\"Write the parser\",\"status\":\"in_progress\"},{\"id\":\"3\",\"content\":\"Write tests\",\"status\":\"pending\"}]}`,
		result: "The list was written. Go on with it.",
		read:   `{\"path\":\"lexer.go\"}`,
		file:   sentences(`func (l *lexer) next() rune { r := l.input[l.at]; l.at++; return r }\n`, 40),
		schema: `{"type":"object","properties":{"path":{"type":"string","description":"` +
			sentences("The path of the file, from the root of the repository.", 10) + `"},"text":{"type":"string"}},"required":["path"]}`,
	}
}

const listSchema = `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},` +
	`"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}}}}}}`

func isStream(kind string) string { return strconv.FormatBool(kind != wholeOne) }

func chatAgent(kind string) string {
	t := textsOfAgent()
	call := func(id, name, arguments, result string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]},` +
			`{"role":"tool","tool_call_id":"` + id + `","content":"` + result + `"}`
	}
	tool := func(name, schema string) string {
		return `{"type":"function","function":{"name":"` + name + `","parameters":` + schema + `}}`
	}
	return `{"model":"` + kind + `","stream":` + isStream(kind) + `,"messages":[{"role":"system","content":"` + t.system + `"},{"role":"user","content":"` + t.task + `"},` +
		call("call_1", "todo_write", t.list, t.result) + "," + call("call_2", "read_file", t.read, t.file) +
		`],"tools":[` + tool("todo_write", listSchema) + "," + tool("read_file", t.schema) + "," + tool("edit_file", t.schema) + `]}`
}

func responsesAgent(kind string) string {
	t := textsOfAgent()
	call := func(id, name, arguments, result string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":"` + arguments + `"},` +
			`{"type":"function_call_output","call_id":"` + id + `","output":"` + result + `"}`
	}
	tool := func(name, schema string) string {
		return `{"type":"function","name":"` + name + `","strict":false,"parameters":` + schema + `}`
	}
	return `{"model":"` + kind + `","stream":` + isStream(kind) + `,"store":false,"instructions":"` + t.system + `","input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + t.task + `"}]},` +
		call("call_1", "todo_write", t.list, t.result) + "," + call("call_2", "read_file", t.read, t.file) +
		`],"tools":[` + tool("todo_write", listSchema) + "," + tool("read_file", t.schema) + "," + tool("edit_file", t.schema) + `]}`
}

func messagesAgent(kind string) string {
	t := textsOfAgent()
	call := func(id, name, arguments, result string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + strings.ReplaceAll(arguments, `\"`, `"`) + `}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + result + `"}]}`
	}
	tool := func(name, schema string) string {
		return `{"name":"` + name + `","input_schema":` + schema + `}`
	}
	return `{"model":"` + kind + `","stream":` + isStream(kind) + `,"max_tokens":1000,"system":"` + t.system + `","messages":[{"role":"user","content":"` + t.task + `"},` +
		call("call_1", "todo_write", t.list, t.result) + "," + call("call_2", "read_file", t.read, t.file) +
		`],"tools":[` + tool("todo_write", listSchema) + "," + tool("read_file", t.schema) + "," + tool("edit_file", t.schema) + `]}`
}

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
)
