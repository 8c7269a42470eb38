package chatcompletions_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/middleware"
)

// BenchmarkGoOpenAI reads streams with go-openai, bare and with the transport by
// turns, so that what else the machine does hits both alike. Metric ratio is the
// median of carried/bare, and added-ns/event the median of what the transport
// adds to an event.
func BenchmarkGoOpenAI(b *testing.B) {
	stream := typicalStreams()[0]
	server := flushing(b, stream)
	for _, source := range []struct {
		name, url string
		base      http.RoundTripper
	}{
		{"memory", "http://test", inMemory(stream.body)},
		{"loopback", server.URL, server.Client().Transport},
	} {
		b.Run("source="+source.name, func(b *testing.B) {
			read := [2]func(){
				goOpenAIReader(b, source.url, source.base),
				goOpenAIReader(b, source.url, transport.New(source.base, middleware.New(recordedDone))),
			}
			var ratios, added []float64
			for i := 0; b.Loop(); i++ {
				var took [2]float64
				for j := range 2 {
					carried := (i + j) % 2 // the first one of a pair is not always the same
					start := time.Now()
					read[carried]()
					took[carried] = float64(time.Since(start).Nanoseconds())
				}
				ratios = append(ratios, took[1]/took[0])
				added = append(added, (took[1]-took[0])/float64(stream.events()))
			}
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(added), "added-ns/event")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// goOpenAIReader returns what reads a stream to its end with go-openai.
func goOpenAIReader(tb testing.TB, url string, through http.RoundTripper) func() {
	tb.Helper()
	config := openai.DefaultConfig("no key")
	config.BaseURL, config.HTTPClient = url, &http.Client{Transport: through}
	client := openai.NewClientWithConfig(config)
	request := openai.ChatCompletionRequest{
		Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Go on."}},
		Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "edit_file"}}},
	}
	return func() {
		s, err := client.CreateChatCompletionStream(tb.Context(), request)
		if err != nil {
			tb.Fatal(err)
		}
		defer s.Close()
		for {
			if _, err := s.Recv(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				tb.Fatal(err)
			}
		}
	}
}

// flushing returns a server that flushes after every event.
func flushing(tb testing.TB, stream benchStream) *httptest.Server {
	tb.Helper()
	events := strings.SplitAfter(stream.body, "\n\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events {
			_, _ = fmt.Fprint(w, event)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	tb.Cleanup(server.Close)
	return server
}
