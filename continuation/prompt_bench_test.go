package continuation_test

import (
	"strings"
	"testing"

	"github.com/carryon-go/carryon/continuation"
)

const benchTask = "Implement the retry logic of the upload client and test it"

func BenchmarkPrompt(b *testing.B) {
	long := continuation.LongTemplates()
	cases := []struct {
		name  string
		texts continuation.Templates
		in    continuation.PromptInput
	}{
		{"mode=standard", long, continuation.PromptInput{Task: benchTask, Attempt: 1}},
		{"mode=yolo", long, continuation.PromptInput{Task: benchTask, Attempt: 1, YOLO: true}},
		{"mode=oneline", continuation.OneLineTemplates(), continuation.PromptInput{Task: benchTask, Attempt: 1}},
		{"mode=retry", long, continuation.PromptInput{
			Task: benchTask, Attempt: 2, Previous: continuation.PreviousNoProgress,
		}},
		{"mode=rejected", long, continuation.PromptInput{
			Task: benchTask, Attempt: 3, YOLO: true,
			Previous: continuation.PreviousRejected, Problem: "Reason too brief (min 10 characters for clarity)",
		}},
		{"mode=untidy", long, continuation.PromptInput{Task: "- [ ] It's\n" + benchTask, Attempt: 1}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			p, err := continuation.NewPrompter(c.texts)
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

func BenchmarkDescribe(b *testing.B) {
	for _, c := range []struct{ name, content string }{
		{"content=clean", benchTask},
		{"content=marker", "- [ ] " + benchTask},
		{"content=untidy", " It's\n" + benchTask},
		{"content=wide", strings.Repeat("修复登录页面", 10)},
		{"content=huge", strings.Repeat("word ", 2<<20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = continuation.Describe(c.content)
			}
		})
	}
}

func BenchmarkBlank(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = continuation.Blank(benchTask)
	}
}
