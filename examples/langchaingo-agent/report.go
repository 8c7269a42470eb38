package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/examples/internal/plaintext"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// reporter prints requests and answers. It is a callback of the client, below
// carryon, so it sees every turn; the ctx says which turns carryon added.
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

// entry prints a text to the right of a label.
func (r *reporter) entry(label, text string) {
	r.printf("   %-7s  %s", label, text)
}

// HandleLLMGenerateContentStart prints carryon's prompt.
func (r *reporter) HandleLLMGenerateContentStart(ctx context.Context, messages []llms.MessageContent) {
	if _, added := continuation.FromContext(ctx); !added {
		return
	}
	for _, part := range messages[len(messages)-1].Parts {
		text, _ := part.(llms.TextContent)
		for quoted := range strings.Lines(text.Text) {
			if strings.HasPrefix(quoted, "'") {
				r.entry("carryon", "asks the model to carry on with "+plaintext.OneLine(quoted))
			}
		}
	}
}

// HandleLLMGenerateContentEnd prints the model's answer.
func (r *reporter) HandleLLMGenerateContentEnd(_ context.Context, answer *llms.ContentResponse) {
	for _, choice := range answer.Choices {
		if choice.Content != "" {
			r.entry("model", `"`+plaintext.OneLine(choice.Content)+`"`)
		}
		names := make([]string, 0, len(choice.ToolCalls))
		for _, call := range choice.ToolCalls {
			names = append(names, plaintext.OneLine(call.FunctionCall.Name))
		}
		if len(names) > 0 {
			r.entry("model", "calls "+strings.Join(names, ", "))
		}
	}
}

// end prints how a run ended, and why.
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
