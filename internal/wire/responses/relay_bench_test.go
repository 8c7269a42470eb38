package responses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire/responses"
)

func BenchmarkRelay(b *testing.B) {
	const events = 4096
	var s strings.Builder
	part := `"item_id":"msg_01830d662ab3856501693c32138de48190a4b4d7a1b2f7c9e3","output_index":0,"content_index":0,`
	s.WriteString("event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\"}}\n\n" +
		"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"msg_01830d662ab3856501693c32138de48190a4b4d7a1b2f7c9e3\",\"type\":\"message\",\"content\":[]}}\n\n")
	for i := range events {
		fmt.Fprintf(&s, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,%s\"delta\":\" some words\",\"logprobs\":[],\"obfuscation\":\"Pq3kX\"}\n\n", i+2, part)
	}
	_, request, _ := responses.New().Parse(nil, []byte(`{}`), nil)
	buffer := make([]byte, 32<<10)
	b.SetBytes(int64(s.Len()))
	b.ReportAllocs()
	for b.Loop() {
		body, _ := wiretest.Open(request, strings.NewReader(s.String()))
		for {
			if _, err := body.Read(buffer); err != nil {
				break
			}
		}
	}
}
