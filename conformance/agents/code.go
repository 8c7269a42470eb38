package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// codeTool runs JavaScript, in which all other tools of Codex are functions.
const codeTool = "exec"

// inCode reports whether the agent wants its tools to be called from JavaScript, as Codex does with its default models.
func inCode(r fakellm.Request) bool {
	return slices.Contains(r.Tools, codeTool) && slices.Contains(r.Tools, "wait")
}

// updateListInCode is updateList for an agent that wants JavaScript.
func updateListInCode(r fakellm.Request, written int) (fakellm.Turn, bool) {
	listed := -1
	for _, c := range callsOf(r) {
		if c.Name == codeTool && strings.Contains(c.Arguments, "tools.update_plan(") {
			listed = strings.Count(c.Arguments, "completed")
		}
	}
	if listed >= written || !strings.Contains(string(r.Body), "update_plan") {
		return fakellm.Turn{}, false
	}
	plan := strings.ReplaceAll(todos("plan", "")(written), `"content"`, "step")
	return script("const r = await tools.update_plan(" + plan + "); text(r);"), true
}

// script is a call of the tool that runs JavaScript.
func script(source string) fakellm.Turn { return custom(codeTool, source) }

// isCustom reports whether a tool of a Responses request takes plain text.
func isCustom(r fakellm.Request, name string) bool {
	tools, _ := r.JSON()["tools"].([]any)
	return slices.ContainsFunc(tools, func(tool any) bool {
		t, _ := tool.(map[string]any)
		return t["type"] == "custom" && t["name"] == name
	})
}

// custom is a call of a tool that takes plain text.
func custom(name, input string) fakellm.Turn {
	id := time.Now().UnixNano()
	item := map[string]any{
		"type": "custom_tool_call", "id": fmt.Sprint("ctc_", id), "status": "completed", "call_id": fmt.Sprint("call_", id), "name": name, "input": input,
	}
	usage := map[string]any{
		"input_tokens": 1000, "output_tokens": 20, "total_tokens": 1020, "input_tokens_details": map[string]int{"cached_tokens": 0}, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
	}
	response := map[string]any{"id": fmt.Sprint("resp_", id), "object": "response", "status": "completed", "output": []any{item}, "usage": usage}
	begun := map[string]any{"id": response["id"], "object": "response", "status": "in_progress", "output": []any{}}
	return fakellm.Chunks(
		toJSON(map[string]any{"type": "response.created", "sequence_number": 0, "response": begun}),
		toJSON(map[string]any{"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
		toJSON(map[string]any{"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item}),
		toJSON(map[string]any{"type": "response.completed", "sequence_number": 3, "response": response}),
	).Delay(time.Millisecond)
}
