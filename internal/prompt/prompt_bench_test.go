package prompt_test

import (
	"errors"
	"testing"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/prompt"
)

const benchTask = "Implement the retry logic of the upload client and test it"

func BenchmarkPrompt(b *testing.B) {
	long := continuation.LongTemplates()
	cases := []struct {
		name  string
		texts continuation.Templates
		in    prompt.Input
	}{
		{"mode=standard", long, prompt.Input{Task: benchTask, Attempt: 1}},
		{"mode=yolo", long, prompt.Input{Task: benchTask, Attempt: 1, Mode: continuation.ApprovalYOLO}},
		{"mode=oneline", continuation.OneLineTemplates(), prompt.Input{Task: benchTask, Attempt: 1}},
		{"mode=retry", long, prompt.Input{
			Task: benchTask, Attempt: 2, Last: continuation.ResultNoProgress,
		}},
		{"mode=rejected", long, prompt.Input{
			Task: benchTask, Attempt: 3, Mode: continuation.ApprovalYOLO,
			Rejection: errors.New("Reason too brief (min 10 characters for clarity)"),
		}},
		{"mode=untidy", long, prompt.Input{Task: "- [ ] It's\n" + benchTask, Attempt: 1}},
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
