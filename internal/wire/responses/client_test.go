package responses_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// responsesAnswer is an answer as a client reads it from the events of a stream,
// and as it reads it from the response object at their end.
type responsesAnswer struct {
	id, kind string // kind is the type of the event that ended it
	items    []map[string]any
	response map[string]any
	types    []string
	error    map[string]any
}

// texts returns the texts of the messages.
func (a *responsesAnswer) texts() []string {
	var all []string
	for _, item := range a.items {
		if item["type"] == "message" {
			all = append(all, textOfItem(item))
		}
	}
	return all
}

// failure returns the message of the error that the answer ended with, or "".
func (a *responsesAnswer) failure() string {
	failure := a.error
	if a.kind == "response.failed" {
		failure = a.response
	}
	if inner, ok := failure["error"].(map[string]any); ok {
		failure = inner
	}
	message, _ := failure["message"].(string)
	return message
}

// calls returns the names of the functions that were called, with their
// arguments.
func (a *responsesAnswer) calls() []string {
	var all []string
	for _, item := range a.items {
		if item["type"] == "function_call" {
			all = append(all, fmt.Sprint(item["name"], item["arguments"]))
		}
	}
	return all
}

func textOfItem(item map[string]any) string {
	var b strings.Builder
	content, _ := item["content"].([]any)
	for _, part := range content {
		if text, ok := part.(map[string]any)["text"].(string); ok {
			b.WriteString(text)
		}
	}
	return b.String()
}

// responsesReader reads a stream and refuses everything that any one of the
// strict clients refuses.
type responsesReader struct {
	answer   responsesAnswer
	ids      []string
	open     map[int]bool
	args     map[int]string
	texts    map[[2]int]string
	sequence int
	numbered bool
	began    bool
}

// readResponses reads a stream.
func readResponses(stream string) (a responsesAnswer, err error) {
	r := responsesReader{open: map[int]bool{}, args: map[int]string{}, texts: map[[2]int]string{}}
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%v", value)
		}
		a = r.answer
	}()
	for frame := range strings.SplitSeq(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		var name, data string
		for line := range strings.SplitSeq(frame, "\n") {
			if value, ok := strings.CutPrefix(line, "event: "); ok {
				name = value
			}
			if value, ok := strings.CutPrefix(line, "data: "); ok {
				data = value // each frame has one
			}
		}
		if data == "" || data == "[DONE]" {
			continue
		}
		var e map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(data)))
		if err := d.Decode(&e); err != nil {
			return r.answer, fmt.Errorf("%w: %s", err, data)
		}
		if _, err := d.Token(); err != io.EOF {
			return r.answer, fmt.Errorf("more behind the JSON: %s", data)
		}
		if name != "" && name != e["type"] {
			return r.answer, fmt.Errorf("the event is called %s and is %s", name, e["type"])
		}
		r.read(e)
	}
	return r.answer, nil
}

// numbers are the sequence numbers in a stream.
var numbers = regexp.MustCompile(`"sequence_number":\d+,`)

// withoutAside returns a stream without the events that are about no item.
func withoutAside(stream string) string {
	var b strings.Builder
	for frame := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		if strings.Contains(frame, `"type":"response.`) {
			b.WriteString(frame + "\n\n")
		}
	}
	return b.String()
}

func must(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

func (r *responsesReader) read(e map[string]any) {
	kind, _ := e["type"].(string)
	r.answer.types = append(r.answer.types, kind)
	must(r.answer.kind == "", "%s behind the end", kind)
	_, hasError := e["error"]
	must(!hasError || kind == "error" || kind == "", "%s with an error", kind)
	r.count(e)
	must(r.began || kind == "response.created" || kind == "error", "%s before response.created", kind)
	switch kind {
	case "response.created":
		must(!r.began, "a second response.created")
		r.began = true
		r.answer.id, _ = e["response"].(map[string]any)["id"].(string)
	case "response.in_progress", "response.queued", "keepalive":
		must(len(r.answer.items) == 0 || kind == "keepalive", "%s in the middle", kind)
	case "response.completed", "response.incomplete", "response.failed":
		r.end(kind, e)
	case "error", "":
		r.answer.error = e
	default:
		r.item(kind, e)
	}
}

func (r *responsesReader) count(e map[string]any) {
	n, ok := e["sequence_number"].(float64)
	must(!r.began || ok == r.numbered || e["type"] == nil, "%s: numbered or not", e["type"])
	r.numbered = ok
	if ok {
		must(!r.began || int(n) == r.sequence+1, "%s: number %v after %d", e["type"], n, r.sequence)
		r.sequence = int(n)
	}
}

func (r *responsesReader) item(kind string, e map[string]any) {
	number, hasIndex := e["output_index"].(float64)
	must(hasIndex, "%s without an index", kind)
	index := int(number)
	if kind == "response.output_item.added" {
		r.add(index, e["item"].(map[string]any))
		return
	}
	must(index < len(r.answer.items), "%s: nothing at %d", kind, index)
	must(r.open[index], "%s: %d has ended", kind, index)
	item := r.answer.items[index]
	if id, ok := e["item_id"]; ok {
		must(id == item["id"], "%s: item %v is %v", kind, id, item["id"])
	}
	part, _ := e["content_index"].(float64)
	at := [2]int{index, int(part)}
	text := func(name string) string { s, _ := e[name].(string); return s }
	switch kind {
	case "response.content_part.added":
		content, _ := item["content"].([]any)
		must(int(part) == len(content), "part %v after %d", part, len(content))
		item["content"] = append(content, e["part"])
	case "response.output_text.delta":
		content, _ := item["content"].([]any)
		must(int(part) < len(content), "no part %v", part)
		r.texts[at] += text("delta")
	case "response.output_text.done":
		must(r.texts[at] == text("text"), "text %q was %q", text("text"), r.texts[at])
	case "response.content_part.done":
		said, _ := e["part"].(map[string]any)["text"].(string)
		must(item["type"] != "message" || r.texts[at] == said, "part %q was %q", said, r.texts[at])
	case "response.function_call_arguments.delta":
		r.args[index] += text("delta")
	case "response.function_call_arguments.done":
		must(r.args[index] == text("arguments"), "arguments %q were %q", text("arguments"), r.args[index])
	case "response.output_item.done":
		r.close(index, e["item"].(map[string]any))
	}
}

func (r *responsesReader) add(index int, item map[string]any) {
	must(index == len(r.answer.items), "item %d after %d", index, len(r.answer.items))
	id, _ := item["id"].(string)
	must(id == "" || !slices.Contains(r.ids, id), "a second item %s", id)
	call, _ := item["call_id"].(string)
	must(item["type"] != "function_call" || !slices.Contains(r.ids, call), "a second call %s", call)
	if item["type"] == "function_call" {
		r.ids = append(r.ids, call)
	}
	r.ids = append(r.ids, id)
	r.answer.items = append(r.answer.items, item)
	r.open[index] = true
}

func (r *responsesReader) close(index int, item map[string]any) {
	was := r.answer.items[index]
	must(was["id"] == item["id"] && was["type"] == item["type"], "item %v became %v", was, item)
	if item["type"] == "function_call" {
		arguments, _ := item["arguments"].(string)
		must(json.Valid([]byte(arguments)), "half a call ends: %q", arguments)
		must(r.args[index] == "" || r.args[index] == arguments, "arguments %q were %q", arguments, r.args[index])
	}
	if item["type"] == "message" {
		var said strings.Builder
		for part := range len(item["content"].([]any)) {
			said.WriteString(r.texts[[2]int{index, part}])
		}
		must(said.String() == textOfItem(item), "message %q was %q", textOfItem(item), said.String())
	}
	r.answer.items[index], r.open[index] = item, false
}

func (r *responsesReader) end(kind string, e map[string]any) {
	r.answer.kind = kind
	r.answer.response, _ = e["response"].(map[string]any)
	must(r.answer.response["id"] == r.answer.id, "id %v was %v", r.answer.response["id"], r.answer.id)
	must("response."+fmt.Sprint(r.answer.response["status"]) == kind, "%s with status %v", kind, r.answer.response["status"])
	for index, open := range r.open {
		must(!open || kind != "response.completed", "item %d is open at the end", index)
	}
	output, _ := r.answer.response["output"].([]any)
	must(len(output) == 0 || len(output) == len(r.answer.items) || kind == "response.failed", "%d items at the end, %d before it", len(output), len(r.answer.items))
	for i := range output {
		item, was := output[i].(map[string]any), r.answer.items[i]
		must(item["type"] == was["type"] && item["id"] == was["id"], "item %d is %v at the end, was %v", i, item, was)
		must(textOfItem(item) == textOfItem(was), "text %q at the end, was %q", textOfItem(item), textOfItem(was))
		must(fmt.Sprint(item["arguments"]) == fmt.Sprint(was["arguments"]), "arguments %q at the end, were %q", item["arguments"], was["arguments"])
	}
}
