package rawjson_test

import (
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/rawjson"
)

// BenchmarkValidObjectEnd compares the check of a chunk with the search for its end,
// which it replaces.
func BenchmarkValidObjectEnd(b *testing.B) {
	chunk := func(text string) []byte {
		return []byte(`{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1700000000,"model":"gpt-5","choices":[{"index":0,"delta":{"content":"` +
			text + `"},"logprobs":null,"finish_reason":null}]}`)
	}
	for name, data := range map[string][]byte{
		"short":   chunk(" word"),
		"long":    chunk(strings.Repeat("some text of the model, ", 40)),
		"letters": chunk(strings.Repeat("日本語のテキスト、", 40)),
		"escapes": chunk(strings.Repeat(`a line\n`, 40)),
	} {
		for of, end := range map[string]func([]byte) int{"end": rawjson.ObjectEnd, "valid": rawjson.ValidObjectEnd} {
			b.Run(name+"/"+of, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					end(data)
				}
			})
		}
	}
}
