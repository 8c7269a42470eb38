package chatcompletions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
)

// inMemory answers every request with the same stream, from memory.
type inMemory string

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(m))), ContentLength: -1, Request: r,
	}, nil
}

// benchRequest asks for a stream, with a tool.
const benchRequest = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Go on."}],"tools":[` + httprr.Tool + `]}`

// sendBench sends a request and returns the body of the answer.
func sendBench(tb testing.TB, through http.RoundTripper, request string) io.ReadCloser {
	tb.Helper()
	return openBench(tb, through, request).Body
}

func openBench(tb testing.TB, through http.RoundTripper, request string) *http.Response {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://test/v1/chat/completions", strings.NewReader(request))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := through.RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	return response
}

// drain reads a body to its end, and returns how much there was.
func drain(tb testing.TB, body io.Reader, buffer []byte) int {
	tb.Helper()
	for total := 0; ; {
		n, err := body.Read(buffer)
		total += n
		if errors.Is(err, io.EOF) {
			return total
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// benchStream is a stream of a turn with nothing to do.
type benchStream struct {
	name string
	body string
}

// events is how many events there are in the stream.
func (s benchStream) events() int { return strings.Count(s.body, "data:") }

// blank is what ends its events.
func (s benchStream) blank() string {
	if strings.Contains(s.body, "\r\n") {
		return "\r\n\r\n"
	}
	return "\n\n"
}

// named returns the stream with an event field in each event.
func (s benchStream) named() benchStream {
	return benchStream{s.name + "-named", strings.ReplaceAll(s.body, "data: ", "event: chunk\ndata: ")}
}

// text is the length of the text in its first events.
func (s benchStream) text(events int) (n int) {
	for _, event := range strings.SplitAfter(s.body, s.blank())[:events] {
		var chunk openai.ChatCompletionStreamResponse
		if json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &chunk) == nil {
			n += len(chunk.Choices[0].Delta.Content)
		}
	}
	return n
}

// typicalStreams are made after what providers send.
func typicalStreams() []benchStream {
	return []benchStream{
		streamOf("openai", `{"id":"chatcmpl-C6bjxzOr3Oz1rTiafksd6himIit3q","object":"chat.completion.chunk","created":1755691077,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_80956533cb","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null,"obfuscation":"%s"}`,
			[]string{`{"role":"assistant","content":"","refusal":null}`}, words(`{"content":%q}`), "stop"),
		streamOf("deepseek", `{"id":"3d4ef5a4-0b1f-4d53-9f2f-1f2b4a5c9d3e","object":"chat.completion.chunk","created":1755691077,"model":"deepseek-reasoner","system_fingerprint":"fp_393bca965e_prod0623","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]}`,
			[]string{`{"role":"assistant","content":null,"reasoning_content":""}`}, append(words(`{"content":null,"reasoning_content":%q}`), words(`{"content":%q,"reasoning_content":null}`)...), "stop"),
		streamOf("tool-calls", `{"id":"chatcmpl-C6bjxzOr3Oz1rTiafksd6himIit3q","object":"chat.completion.chunk","created":1755691077,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_80956533cb","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null,"obfuscation":"%s"}`,
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_8kTn2nLZ0ZL1p4y1cW6kB2vq","type":"function","function":{"name":"edit_file","arguments":""}}],"refusal":null}`},
			words(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`), "tool_calls"),
		perplexityStream(),
	}
}

func words(delta string) []string {
	text := strings.Fields(strings.Repeat(`The quick brown "fox" jumps over the lazy dog, and then some 12 more. Übrigens: {"a":1} `, 16))
	all := make([]string, len(text))
	for i, word := range text {
		all[i] = fmt.Sprintf(delta, " "+word)
	}
	return all
}

func streamOf(name, chunk string, first, rest []string, finish string) benchStream {
	var b strings.Builder
	put := func(delta, finish string, i int) {
		args := []any{delta, finish}
		if strings.Count(chunk, "%") == 3 {
			args = append(args, "XjUSo1V9SbZuWwpMP"[:5+i%12])
		}
		fmt.Fprintf(&b, "data: "+chunk+"\n\n", args...)
	}
	for i, delta := range slices.Concat(first, rest) {
		put(delta, "null", i)
	}
	put("{}", fmt.Sprintf("%q", finish), 0)
	b.WriteString("data: [DONE]\n\n")
	return benchStream{name, b.String()}
}

// perplexityStream repeats in each chunk what has been said, and counts tokens.
func perplexityStream() benchStream {
	var b strings.Builder
	const chunk = "data: {\"id\": \"ebde16f7-5fad-49df-b901-e1d266d9883b\", \"model\": \"sonar\", \"created\": 1755877605, \"usage\": {\"prompt_tokens\": 12, \"completion_tokens\": %d, \"total_tokens\": %d, \"search_context_size\": \"low\"}, \"object\": \"chat.completion\", \"choices\": [{\"index\": 0, \"finish_reason\": %s, \"message\": {\"role\": \"assistant\", \"content\": %q}, \"delta\": {\"role\": \"assistant\", \"content\": %q}}]}\r\n\r\n"
	said := ""
	for i, word := range strings.Fields(strings.Repeat("The largest countries of the world are these, by their area: ", 16)) {
		said += " " + word
		fmt.Fprintf(&b, chunk, i, i+12, "null", said, " "+word)
	}
	fmt.Fprintf(&b, chunk, 200, 212, `"stop"`, said, "")
	return benchStream{"perplexity", b.String()}
}

// recordedStreams are the streams that the module of langchaingo has recorded.
func recordedStreams(tb testing.TB) []benchStream {
	tb.Helper()
	chats, err := recordedChats()
	if err != nil {
		tb.Fatal(err)
	}
	var streams []benchStream
	for _, chat := range chats {
		if chat.Streamed && len(chat.Answer) > 0 {
			streams = append(streams, benchStream{"recorded-" + strings.TrimSuffix(chat.Name, "/1"), string(chat.Answer)})
		}
	}
	return streams
}

// BenchmarkRelay reads streams with nothing to do. Metric GB/s is the
// throughput, and ratio the time relative to reading the same bytes bare.
func BenchmarkRelay(b *testing.B) {
	mw := middleware.New(recordedDone)
	for _, stream := range slices.Concat(typicalStreams(), []benchStream{typicalStreams()[0].named()}, recordedStreams(b)) {
		for _, size := range []int{32 << 10, 4 << 10} {
			b.Run(fmt.Sprintf("%s/buffer=%d", stream.name, size), func(b *testing.B) {
				carried := transport.New(inMemory(stream.body), mw)
				buffer := make([]byte, size)
				var opening, reading time.Duration
				b.SetBytes(int64(len(stream.body)))
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					body := sendBench(b, carried, benchRequest)
					opened := time.Now()
					if n := drain(b, body, buffer); n != len(stream.body) {
						b.Fatal(n)
					}
					reading += time.Since(opened)
					_ = body.Close()
					opening += opened.Sub(start)
				}
				perRead := float64(reading.Nanoseconds()) / float64(b.N)
				b.ReportMetric(float64(len(stream.body))/perRead, "GB/s")
				b.ReportMetric(perRead/float64(stream.events()), "ns/event")
				b.ReportMetric(float64(opening.Nanoseconds())/float64(b.N), "ns/open")
			})
		}
	}
}

// relayed returns a function that reads a stream with nothing to do.
func relayed(tb testing.TB, stream benchStream) func() {
	tb.Helper()
	carried, buffer := transport.New(inMemory(stream.body), middleware.New(recordedDone)), make([]byte, 4<<10)
	return func() {
		body := sendBench(tb, carried, benchRequest)
		drain(tb, body, buffer)
		_ = body.Close()
	}
}

// An event is relayed as a whole: another line in it adds no work.
func TestNamedEventsAllocateNoMore(t *testing.T) {
	if measure.RaceDetector {
		t.Skip("the race detector allocates")
	}
	for _, stream := range typicalStreams()[:3] {
		bare := measure.Allocations(relayed(t, stream))
		named := measure.Allocations(relayed(t, stream.named()))
		assert.InDelta(t, bare, named, 2, stream.name)
		assert.Less(t, bare, 90.0, stream.name)
	}
}

// BenchmarkNamedEvents reads a stream with and without event fields by turns.
// Metric ratio is the median of named/unnamed.
func BenchmarkNamedEvents(b *testing.B) {
	for _, stream := range typicalStreams()[:3] {
		b.Run(stream.name, func(b *testing.B) {
			read := [2]func(){relayed(b, stream), relayed(b, stream.named())}
			var ratios []float64
			for i := 0; b.Loop(); i++ {
				var took [2]float64
				for j := range 2 {
					named := (i + j) % 2
					start := time.Now()
					read[named]()
					took[named] = float64(time.Since(start).Nanoseconds())
				}
				ratios = append(ratios, took[1]/took[0])
			}
			b.ReportMetric(median(ratios), "ratio")
		})
	}
}
