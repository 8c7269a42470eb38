package langchaingo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/middleware"
)

// FuzzStreamedText checks that the streamed text equals the returned one,
// however a continuation's text is cut into chunks, and that a tool call
// streamed between the texts does not change.
func FuzzStreamedText(f *testing.F) {
	f.Add("Did two:", 3, "search")
	f.Add("I can't. todo_pause('"+blocked+"')", 5, "todo_pause")
	f.Add("todo_pause(", 1, "todo_")
	f.Add(`[{"id":"1"}]`, 4, `"`)
	f.Add("é\xff ` todo", 1, "<&>\x00")
	f.Fuzz(func(t *testing.T, text string, size int, name string) {
		name = strings.ToValidUTF8(name, "") // as it comes out of JSON
		call := toolCall("c1", name, "{}")
		chunk := encodeCall(name)
		turn := 0
		model := spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
			turn++
			if turn == 1 {
				return says("Did one:", "stop"), o.StreamingFunc(ctx, []byte("Did one:"))
			}
			for _, piece := range cut(text, size) {
				if err := o.StreamingFunc(ctx, []byte(piece)); err != nil {
					return nil, err
				}
			}
			answer := says(text, "tool_calls")
			answer.Choices[0].ToolCalls = []llms.ToolCall{call}
			return answer, o.StreamingFunc(ctx, []byte(chunk))
		})
		r := new(recording)
		answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos, onceMore)).
			GenerateContent(t.Context(), question(), withTools("search"), r.option())
		if err != nil {
			t.Fatal(err)
		}
		shown, got := r.text(), answer.Choices[0]
		if len(got.ToolCalls) == 1 {
			if !strings.Contains(shown, chunk) {
				t.Errorf("the call %q is not in what was shown: %q", chunk, shown)
			}
			shown = strings.Replace(shown, chunk, "", 1)
		} else if !strings.EqualFold(name, "todo_pause") {
			t.Errorf("a call of %q was left out", name)
		}
		if shown != got.Content {
			t.Errorf("shown    %q\nreturned %q", shown, got.Content)
		}
	})
}

// cut cuts a text into chunks of at least that many bytes, and not into too
// many.
func cut(text string, size int) (chunks []string) {
	size = max(size, 1, len(text)/100)
	for len(text) > size {
		chunks = append(chunks, text[:size])
		text = text[size:]
	}
	return append(chunks, text)
}
