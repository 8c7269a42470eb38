package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/internal/wire/sse"
	"github.com/carryon-go/carryon/middleware"
)

// From an event over the limit on, the rest of the stream passes unread.
func TestEventOverTheLimitPassesAsItComes(t *testing.T) {
	t.Parallel()
	head := `data: {"id":"a","choices":[{"index":0,"delta":{"content":"`
	tail := `"}}]}` + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	for _, tt := range []struct{ size, requests int }{{sse.MaxEvent - 1, 1 + 3}, {sse.MaxEvent + 1<<20, 1}} {
		asked, end := 0, new(ending)
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			if asked > 1 {
				return wiretest.Answered(r, "{}"), nil
			}
			body := io.MultiReader(strings.NewReader(head), &endless{'x', tt.size - len(head) - 6}, strings.NewReader(tail))
			return wiretest.Streamed(r, io.NopCloser(body)), nil
		})
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(true))
		response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(request)
		require.NoError(t, err)
		n, err := io.CopyBuffer(end, response.Body, make([]byte, 1<<20))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, int64(tt.size-6+len(tail)), n)
		assert.Equal(t, tt.requests, asked)
		if asked == 1 {
			assert.True(t, strings.HasSuffix(end.text, tail))
		}
	}
}

// ending keeps the end of what is written to it.
type ending struct{ text string }

func (e *ending) Write(p []byte) (int, error) {
	const kept = 1 << 10
	text := e.text + string(p[max(0, len(p)-kept):])
	e.text = text[max(0, len(text)-kept):]
	return len(p), nil
}

// A continuation with such an event fails.
func TestEventOverTheLimitFailsAContinuation(t *testing.T) {
	t.Parallel()
	asked := 0
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		asked++
		if asked == 1 {
			text := "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
			return wiretest.Streamed(r, io.NopCloser(strings.NewReader(text))), nil
		}
		return wiretest.Streamed(r, io.NopCloser(io.MultiReader(strings.NewReader("data: "), &endless{'x', 2 * sse.MaxEvent}))), nil
	})
	ctx, outcomes := middleware.Capture(t.Context())
	request := wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(true))
	got := wiretest.ReadReply(transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(request))
	require.NoError(t, got.Err)
	assert.Equal(t, "data: "+wiretest.SaysText+"\n\ndata: "+wiretest.SaysFinish+"\n\ndata: [DONE]\n\n", got.Body)
	require.Error(t, outcomes.Last().Err)
}

// What each later chunk repeats of the first ones must be small.
func TestLargeIDsAreNotRepeated(t *testing.T) {
	t.Parallel()
	const gemini = `{"candidates":[{"content":{"parts":[{"text":"One."}],"role":"model"},"finishReason":"STOP"}],`
	large := strings.Repeat("x", wire.MaxRepeated)
	answers := map[string][]string{}
	for _, member := range []string{`"id":"a`, `"object":"chat`, `"model":"m`} {
		says := strings.Replace(wiretest.SaysText, member, member+large, 1)
		answers["Chat Completions, "+member] = []string{"/chat/completions", wiretest.ChatBody(true), says, wiretest.SaysFinish, "[DONE]"}
	}
	for _, member := range []string{`"responseId":"` + large + `"`, `"modelVersion":"` + large + `"`, `"usageMetadata":{"promptTokenCount":1,"x":"` + large + `"}`} {
		answers["Gemini, "+member[:15]] = []string{
			"/models/gemini-3:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"Go."}]}],"tools":[{"functionDeclarations":[{"name":"edit_file"}]}]}`, gemini + member + "}",
		}
	}
	for name, answer := range answers {
		stream, asked := "data: "+strings.Join(answer[2:], "\n\ndata: ")+"\n\n", 0
		base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			return wiretest.Streamed(r, io.NopCloser(strings.NewReader(stream))), nil
		})
		request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", answer[1])
		request.URL, _ = request.URL.Parse("/v1" + answer[0])
		got := wiretest.ReadReply(transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(request))
		require.NoError(t, got.Err, name)
		assert.Equal(t, stream, got.Body, name)
		assert.Equal(t, 1, asked, name)
	}
}

// babble is a body that never stops, whatever is cancelled or closed.
type babble struct {
	again string
	read  func() // called on each Read
}

func (b babble) Read(p []byte) (int, error) {
	b.read()
	n := copy(p, b.again)
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
	return n - n%len(b.again), nil
}

func (babble) Close() error { return nil }

// The end of ctx, and Close, end a Read that has shown nothing for a long time.
func TestEndlessReadEnds(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]string{
		"comments": ":\n\n", "empty chunks": `data: {"id":"a","choices":[{"index":0,"delta":{}}]}` + "\n\n", "blank lines": "\n",
		"fragments of a name": `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":""}}]}}]}` + "\n\n",
		"one line":            "x", "lines": "data: {" + strings.Repeat("x", 1<<10) + "\n", "[DONE] and more": "data: [DONE]\n\n",
	} {
		for _, how := range []string{"cancel", "close"} {
			if name == "lines" && how == "close" && measure.RaceDetector {
				continue // slow there, and much the same as "one line"
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				asked, reads := 0, make(chan struct{})
				read := sync.OnceFunc(func() { close(reads) })
				base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					asked++
					if asked == 1 {
						return wiretest.Streamed(r, io.NopCloser(strings.NewReader("data: "+wiretest.SaysText+"\n\ndata: "+wiretest.SaysFinish+"\n\ndata: [DONE]\n\n"))), r.Body.Close()
					}
					return wiretest.Streamed(r, babble{again, read}), r.Body.Close()
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(true)))
				require.NoError(t, err)
				defer wiretest.Closed(t, response)
				over := make(chan error)
				go func() {
					_, err := io.Copy(io.Discard, response.Body)
					over <- err
				}()
				<-reads
				if how == "cancel" {
					cancel()
				} else {
					require.NoError(t, response.Body.Close())
				}
				err = <-over
				if err == nil {
					assert.Contains(t, []string{"one line", "lines", "[DONE] and more"}, name, "where the continuation fails by itself")
				}
			})
		}
	}
}
