package prompt_test

import (
	"errors"
	"testing"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/prompt"
)

const benchTask = "Implement the retry logic of the upload client and test it"

func BenchmarkPrompt(b *testing.B) {
	var builtIn continuation.Templates
	list := prompt.List{Todos: 100, Open: 40, Next: [prompt.MaxNext]string{benchTask, benchTask}, Tool: "todo_write"}
	cases := []struct {
		name  string
		texts continuation.Templates
		in    prompt.Input
	}{
		{"mode=standard", builtIn, prompt.Input{Task: benchTask, List: list, Attempt: 1}},
		{"mode=yolo", builtIn, prompt.Input{Task: benchTask, List: list, Attempt: 1, Mode: continuation.ApprovalYOLO}},
		{"mode=oneline", continuation.OneLineTemplates(), prompt.Input{Task: benchTask, Attempt: 1}},
		{"mode=retry", builtIn, prompt.Input{
			Task: benchTask, Attempt: 2, Last: decision.ResultNoProgress,
		}},
		{"mode=rejected", builtIn, prompt.Input{
			Task: benchTask, Attempt: 3, Mode: continuation.ApprovalYOLO,
			Rejection: errors.New("Reason too brief (min 10 characters for clarity)"),
		}},
		{"mode=untidy", builtIn, prompt.Input{Task: "- [ ] It's\n" + benchTask, Attempt: 1}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			p, err := prompt.New(c.texts)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_ = p.Prompt(c.in)
			}
		})
	}
}
