package openai_test

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

	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// benchChunks is how many chunks of text the measured streams have.
const benchChunks = 256

// opener opens a stream of a turn that is not continued, bare or wrapped.
type opener func() (scenario.Receiver, error)

func openers(b *testing.B, url string, client *http.Client) map[bool]opener {
	config := scenario.Config(url, client.Transport)
	ctx, request := b.Context(), scenario.Request()
	sdk, wrapped := scenario.SDKClient(config), scenario.TypedStream.Client(config, middleware.New(scenario.TwoTodos()))
	return map[bool]opener{
		false: func() (scenario.Receiver, error) { return sdk.Stream(ctx, request) },
		true:  func() (scenario.Receiver, error) { return wrapped.Stream(ctx, request) },
	}
}

// openAndRead reads a stream to its end.
func openAndRead(tb testing.TB, open opener) {
	tb.Helper()
	s, err := open()
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

// events returns the body of a turn of benchChunks chunks.
func events() []string { return eventsOf(benchChunks) }

// eventsOf returns the body of a turn that ends with a tool call, so that it is
// not continued.
func eventsOf(chunks int) []string {
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
	list := []string{fmt.Sprintf(chunk, `{"role":"assistant","content":""}`, "null")}
	for range chunks {
		list = append(list, fmt.Sprintf(chunk, `{"content":" some words"}`, "null"))
	}
	return append(list,
		fmt.Sprintf(chunk, `{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"edit_file","arguments":"{}"}}]}`, "null"),
		fmt.Sprintf(chunk, `{}`, `"tool_calls"`), "data: [DONE]\n\n")
}

// canned answers every request from memory.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(c))),
	}, nil
}

// BenchmarkStream reads a whole stream from memory: what carryon costs beside
// the SDK's own decoding. Metric ns/chunk is the time of one chunk.
func BenchmarkStream(b *testing.B) {
	body := canned(strings.Join(events(), ""))
	for _, wrapped := range []bool{false, true} {
		b.Run(fmt.Sprintf("source=memory/wrapped=%v", wrapped), func(b *testing.B) {
			open := openers(b, "http://test", &http.Client{Transport: body})[wrapped]
			b.ReportAllocs()
			for b.Loop() {
				openAndRead(b, open)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchChunks, "ns/chunk")
		})
	}
	server := flushing(b)
	for _, wrapped := range []bool{false, true} {
		b.Run(fmt.Sprintf("source=loopback/wrapped=%v", wrapped), func(b *testing.B) {
			open := openers(b, server.URL, server.Client())[wrapped]
			b.ReportAllocs()
			for b.Loop() {
				openAndRead(b, open)
			}
		})
	}
}

// BenchmarkStreamRatio reads bare and wrapped streams in turn, so that other
// load of the machine affects both alike. Metric ratio is the median of
// wrapped/bare, and added-ns/chunk the median of what wrapping adds to a chunk.
func BenchmarkStreamRatio(b *testing.B) {
	server := flushing(b)
	sources := []struct {
		name, url string
		client    *http.Client
	}{
		{"memory", "http://test", &http.Client{Transport: canned(strings.Join(events(), ""))}},
		{"loopback", server.URL, server.Client()},
	}
	for _, source := range sources {
		b.Run("source="+source.name, func(b *testing.B) {
			open := openers(b, source.url, source.client)
			var ratios, added []float64
			for i := 0; b.Loop(); i++ {
				var took [2]float64
				for j := range 2 {
					wrapped := (i + j) % 2 // the first one of a pair is not always the same
					start := time.Now()
					openAndRead(b, open[wrapped == 1])
					took[wrapped] = float64(time.Since(start).Nanoseconds())
				}
				ratios = append(ratios, took[1]/took[0])
				added = append(added, (took[1]-took[0])/benchChunks)
			}
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(added), "added-ns/chunk")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// flushing returns a server that flushes after every event.
func flushing(b *testing.B) *httptest.Server {
	list := events()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range list {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	b.Cleanup(server.Close)
	return server
}
