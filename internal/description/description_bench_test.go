package description_test

import (
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/description"
)

const benchTask = "Implement the retry logic of the upload client and test it"

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
				_ = description.Of(c.content)
			}
		})
	}
}

func BenchmarkBlank(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = description.Blank(benchTask)
	}
}
