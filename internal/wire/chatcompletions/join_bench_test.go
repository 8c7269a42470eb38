package chatcompletions_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/httprr"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// twoTurns answers a call with one turn, and its continuation with another. It
// records when the second is asked for.
type twoTurns struct {
	first, second string
	asked         int
	sought        time.Time
}

func (t *twoTurns) RoundTrip(r *http.Request) (*http.Response, error) {
	body := t.first
	t.asked++
	if t.asked%2 == 0 {
		t.sought = time.Now()
		body = t.second
	}
	return inMemory(body).RoundTrip(r)
}

// oneMore is a list for one continuation.
func oneMore() *middleware.Middleware {
	return middleware.New(
		todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress}),
		middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}),
	)
}

// conversation is a request with a history of so many messages.
func conversation(messages int) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"messages":[`)
	for range messages / 2 {
		b.WriteString(`{"role":"user","content":"What does the next function of the file do, and does it need to change?"},` +
			`{"role":"assistant","content":"It reads the file line by line, and yes: it should stop at the first error."},`)
	}
	b.WriteString(`{"role":"user","content":"Go on."}],"tools":[` + httprr.Tool + `]}`)
	return b.String()
}

// BenchmarkLaterTurn reads an answer of two turns through the transport. Metric
// ns/chunk is the cost of a chunk of the second.
func BenchmarkLaterTurn(b *testing.B) {
	for _, stream := range typicalStreams() {
		b.Run(stream.name, func(b *testing.B) {
			base := &twoTurns{first: typicalStreams()[0].body, second: stream.body}
			carried := transport.New(base, oneMore())
			buffer := make([]byte, 32<<10)
			var took time.Duration
			for b.Loop() {
				base.sought = time.Time{}
				body := sendBench(b, carried, benchRequest)
				drain(b, body, buffer)
				took += time.Since(base.sought)
				_ = body.Close()
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N)/float64(stream.events()), "ns/chunk")
		})
	}
}

// BenchmarkJoin measures the time from when the transport reads the end of turn
// 1 to the continuation's request.
func BenchmarkJoin(b *testing.B) {
	first := typicalStreams()[0].body
	for _, messages := range []int{10, 500} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			request := conversation(messages)
			base := &twoTurns{first: first, second: first}
			end := new(time.Time)
			carried := transport.New(endRecorded{base, end}, oneMore())
			buffer := make([]byte, 32<<10)
			var took time.Duration
			for b.Loop() {
				*end, base.sought = time.Time{}, time.Time{}
				body := sendBench(b, carried, request)
				drain(b, body, buffer)
				took += base.sought.Sub(*end)
				_ = body.Close()
			}
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "us/join")
		})
	}
}

// endRecorded records when the first body of a call was read to its end.
type endRecorded struct {
	http.RoundTripper
	end *time.Time
}

func (n endRecorded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := n.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &recordedBody{response.Body, n.end}
	}
	return response, err
}

type recordedBody struct {
	io.ReadCloser
	end *time.Time
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.end.IsZero() && strings.HasSuffix(string(p[:n]), "data: [DONE]\n\n") {
		*b.end = time.Now()
	}
	return n, err
}
