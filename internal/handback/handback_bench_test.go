package handback_test

import (
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/handback"
)

// report is a text of 2 KB as agents end their turns with it.
var report = strings.Repeat(`The second part of the migration is in place. Here is what changed since the first one:

- **Model**: the table has an index on `+"`tenant_id`"+`, and the rows of deleted tenants are gone
- **Routes**: "/v2/items" answers with pages of 50 items, and names the next page in a header
- **Tests**: 42 new ones, all of them green; the slow ones run only with `+"`-slow`"+`

`, 4) + "Two of the five parts are finished. The exporter was not touched, as you asked. "

func BenchmarkOf(b *testing.B) {
	long := strings.Repeat("The exporter writes one row for each item and skips the rest. ", 40)[:2<<10]
	for name, text := range map[string]string{
		"report":        report,
		"step":          report + "Now I will write the exporter.",
		"question":      report + "Shall I go on with the exporter?",
		"options":       report + "Which one first?\n\n1. the exporter\n2. the importer\n\nI would start with the importer.",
		"one paragraph": long,
		"Russian":       strings.Repeat("Вторая часть готова, тесты проходят. ", 31),
		"Chinese":       strings.Repeat("第二部分已经完成，所有测试都通过了。", 37),
		"fenced":        "Shall I apply it?\n\n```go\n" + strings.Repeat("x := y ? 1 : 2\n", 130) + "```\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				handback.Of(text)
			}
		})
	}
}
