package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/pause"
	"github.com/carryon-go/carryon/todo"
)

// reporter tells what goes to and fro. It sits below carryon, on the client, and
// sees every turn; the ctx tells it which ones carryon has added.
type reporter struct {
	callbacks.SimpleHandler

	w   io.Writer
	err error // of the first write that failed
}

func (r *reporter) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format+"\n", args...)
	}
}

// entry prints a text beside a label.
func (r *reporter) entry(label, text string) {
	r.printf("   %-7s  %s", label, text)
}

// HandleLLMGenerateContentStart tells what carryon asks.
func (r *reporter) HandleLLMGenerateContentStart(ctx context.Context, messages []llms.MessageContent) {
	if _, added := continuation.FromContext(ctx); !added {
		return
	}
	for _, part := range messages[len(messages)-1].Parts {
		text, _ := part.(llms.TextContent)
		for quoted := range strings.Lines(text.Text) {
			if strings.HasPrefix(quoted, "'") {
				r.entry("carryon", "asks the model to carry on with "+line(quoted))
			}
		}
	}
}

// HandleLLMGenerateContentEnd tells what the model has answered.
func (r *reporter) HandleLLMGenerateContentEnd(_ context.Context, answer *llms.ContentResponse) {
	for _, choice := range answer.Choices {
		if choice.Content != "" {
			r.entry("model", `"`+line(choice.Content)+`"`)
		}
		names := make([]string, 0, len(choice.ToolCalls))
		for _, call := range choice.ToolCalls {
			names = append(names, line(call.FunctionCall.Name))
		}
		if len(names) > 0 {
			r.entry("model", "calls "+strings.Join(names, ", "))
		}
	}
}

// end tells where a run came to rest, and why.
func (r *reporter) end(todos []todo.Todo, files int, outcome middleware.Outcome) {
	label, open := "DONE", 0
	for _, t := range todos {
		if t.Status.Active() {
			label = "STOPPED"
			open++
		}
	}
	r.entry(label, fmt.Sprintf("todos open: %d of %d; files written: %d", open, len(todos), files))
	if outcome.Ended {
		r.entry("", "carryon: "+outcome.Reason.String())
	}
}

// line returns text as one line that is safe to print, whatever a model wrote.
func line(text string) string { return pause.Sanitize(text) }
