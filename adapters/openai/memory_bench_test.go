package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
)

// BenchmarkOpenStream holds many streams open in the middle of a turn. Metric
// B/stream is the live memory of each. What wrapped=true uses on top of
// wrapped=false is what carryon keeps, with the text of the turn.
func BenchmarkOpenStream(b *testing.B) {
	const open = 1000
	half := events()[:1+benchChunks/2]
	body := strings.Join(half, "")
	for _, wrapped := range []bool{false, true} {
		b.Run(fmt.Sprintf("wrapped=%v", wrapped), func(b *testing.B) {
			openStream := openers(b, "http://test", &http.Client{Transport: canned(body)})[wrapped]
			streams := make([]scenario.Receiver, open)
			for b.Loop() {
				before := measure.Live()
				for i := range streams {
					streams[i] = halfRead(b, openStream)
				}
				b.ReportMetric(float64(measure.Live()-before)/open, "B/stream")
				for i := range streams {
					_ = streams[i].Close()
					streams[i] = nil
				}
			}
			b.ReportMetric(float64(benchChunks/2*len(" some words")), "text-B/stream")
		})
	}
}

// halfRead opens a stream and reads all of the body but its end.
func halfRead(b *testing.B, open opener) scenario.Receiver {
	s, err := open()
	if err != nil {
		b.Fatal(err)
	}
	for range benchChunks/2 + 1 {
		if _, err := s.Recv(); err != nil && err != io.EOF { //nolint:errorlint // as go-openai returns it
			b.Fatal(err)
		}
	}
	return s
}
