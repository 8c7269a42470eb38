package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// attacks are streams that try to make reading expensive: each has a beginning, and a part that it repeats.
var attacks = []struct{ name, begin, again string }{
	{"LF", "", "\n"},
	{"CR", "", "\r"},
	{"CRLF", "", "\r\n"},
	{"no line at all", "", "x"},
	{"one line of data", "data: ", "x"},
	{"lines of one byte", "", "x\n"},
	{"lines of one byte and CR", "", "x\r"},
	{"lines of one byte and CR, after an event", "data: " + saysText + "\n\n", "x\r"},
	{"comments", "", ":\n"},
	{"data without a value", "", "data:\n"},
	{"lists", "", "data: [\n"},
	{"events named", "", "event: x\n"},
	{"events named errors", "", "event: error\n"},
	{"ids", "data: " + saysText + "\n\n", "id: 1\n"},
	{"retries and blank lines", "", "retry: 1\n\n"},
	{"bare objects", "", "{\n"},
	{"ends", "", "data: [DONE]\n\n"},
	{"bare ends", "data: " + saysText + "\n\n", "[DONE]\n"},
	{"empty objects", "", "data: {}\n\n"},
	{"objects begun again and again", "", "data: {\n"},
	{"an object in many lines", "data: {\n", "data: \n"},
	{"a list in many lines", "data: {\"x\":[1\n", "data: ,1\n"},
	{"brackets in many lines", "data: {\"x\":\n", "data: [\n"},
	{"a string in many lines", "data: {\"x\":\"\n", "data: y\n"},
	{"strings in many lines", "data: {\"x\":[\"\"\n", "data: ,\"\\\"\"\n"},
	{"a line of brackets", "data: {\"x\":", "["},
	{"a line of quotes", "data: {\"x\":[", `"",`},
	{"a line of escapes", "data: {\"x\":\"", `\"`},
	{"text in one event", `data: {"id":"a","choices":[{"index":0,"delta":{"content":"`, `\u00fc`},
	{"text, the same shape", "data: " + saysText + "\n\n", "data: " + saysText + "\n\n"},
	{"text, shapes in turn", "data: " + saysText + "\n\n", "data: " + saysText + "\n\ndata: " + saysOther + "\n\n"},
	{"text without blank lines", "data: " + saysText + "\n", "data: " + saysText + "\n"},
	{"reasoning", "data: " + saysText + "\n\n", "data: " + saysReason + "\n\n"},
	{"usage", "data: " + saysText + "\n\n", "data: " + saysUsage + "\n\n"},
	{"finishes", "data: " + saysText + "\n\n", "data: " + saysFinish + "\n\n"},
	{"finishes with text", "data: " + saysText + "\n\n", "data: " + saysLast + "\n\n"},
	{"fragments of a call", "data: " + saysCall + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}}]}` + "\n\n"},
	{"a name that never ends", "data: " + saysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":""}}]}}]}` + "\n\n"},
	{"calls without end", "data: " + saysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"function":{"name":"edit_file","arguments":"{}"}}]}}]}` + "\n\n"},
	{"a call named again and again", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"function":{"name":"edit_file","arguments":"[1"}}]}}]}` + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"function":{"name":"edit_file","arguments":",1,1,1,1"}}]}}]}` + "\n\n"},
	{"calls in one event", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"edit_file"}}`, `,{"index":0,"id":"x"}`},
	{"calls that may be pauses", "data: " + saysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"todo"}}]}}]}` + "\n\n"},
	{"choices in one event", `data: {"id":"a","choices":[{"index":0}`, `,{"index":1}`},
	{"a text in parts of one letter", `data: {"id":"a","choices":[{"index":0,"delta":{"content":[{}`, `,{"type":"text","text":"x"}`},
	{"texts under one name", `data: {"id":"a","choices":[{"index":0,"delta":{"content":"x"`, `,"content":"x"`},
	{"reasonings under one name", `data: {"id":"a","choices":[{"index":0,"delta":{"reasoning":"x"`, `,"reasoning":"x"`},
	{"choices of one letter", `data: {"id":"a","choices":[{"index":0}`, `,{"index":0,"delta":{"content":"x"}}`},
	{"lists of choices", `data: {"id":"a","choices":[]`, `,"choices":[{"index":0,"delta":{"content":"x"}}]`},
	{"usages under one name", `data: {"id":"a","usage":{"total_tokens":1`, `,"x":1`},
	{"errors", "data: " + saysText + "\n\n", "data: " + saysError + "\n\n"},
	{"printed pauses", "data: " + saysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"content":"todo_pause("}}]}` + "\n\n"},
}

// endings end the attacks that are worst with a whole event.
var endings = map[string]string{
	"a text in parts of one letter": "]}}]}\n\n", "texts under one name": "}}]}\n\n", "reasonings under one name": "}}]}\n\n",
	"choices of one letter": "]}\n\n", "lists of choices": "}\n\n", "usages under one name": "}}\n\n",
}

// repeated returns an attack of about n bytes.
func repeated(begin, again string, n int) string {
	return begin + strings.Repeat(again, (n+len(again)-1)/len(again))
}

// The cost of an answer grows with its length, not with the square, whatever its content.
func BenchmarkAttacksAreLinear(b *testing.B) {
	const good = "data: " + saysText + "\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
	for _, tt := range attacks {
		for _, size := range []int{1400, 1 << 20} {
			play := func(first, second string) func() {
				return func() { join(b, twoTodos, first, second, inBulk(tt.begin, size)) }
			}
			end := endings[tt.name]
			few, many := repeated(tt.begin, tt.again, bulk)+end, repeated(tt.begin, tt.again, longer*bulk)+end
			name := fmt.Sprintf("%s, %d bytes at a time", tt.name, size)
			measure.Linear(b, name, play(few, good), play(many, good))
			measure.Linear(b, name+", in turn 2", play(good, few), play(good, many))
		}
	}
}

// requestAttacks are members of requests that try to make parsing expensive.
var requestAttacks = []struct{ name, begin, again, end string }{
	{"messages", `"messages":[{}`, `,{"role":"user","content":"x"}`, `]`},
	{"a message in parts of one letter", `"messages":[{"role":"user","content":[{}`, `,{"type":"text","text":"x"}`, `]}]`},
	{"results that nothing asked for", `"messages":[{"role":"user","content":"x"}`, `,{"role":"tool","tool_call_id":"x","content":"y"}`, `]`},
	{"calls without results", `"messages":[{"role":"user","content":"x"}`, `,{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"a"}}]}`, `]`},
	{"calls, and results of others", `"messages":[{"role":"user","content":"x"}`, `,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n"}}]},{"role":"tool","tool_call_id":"x"}`, `]`},
	{"lists of todos", `"messages":[{"role":"user","content":"x"}`, `,{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"todo_write","arguments":"{\"merge\":true,\"todos\":[{\"content\":\"x\"}]}"}}]}`, `]`},
	{"a long list of todos", `"messages":[{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"todo_write","arguments":"{\"todos\":[{}`, `,{\"content\":\"x\"}`, `]}"}}]}]`},
	{"todos in a call each", `"messages":[{"role":"user","content":"x"}`, `,{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"TaskCreate","arguments":"{\"subject\":\"x\"}"}}]},{"role":"tool","tool_call_id":"x","content":"Task #1 created"}`, `]`},
	{"tools that look like todo tools", `"messages":[{"role":"user","content":"x"}`, `,{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"my_todos","arguments":"{\"items\":[{\"status\":\"x\"}]}"}}]}`, `]`},
	{"a long list in a result", `"messages":[{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"todo_read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"`, `- [ ] x\n`, `"}]`},
	{"lists of messages", `"messages":[]`, `,"messages":[{"role":"user","content":"x"}]`, ``},
	{"reasonings of one message", `"messages":[{"role":"assistant"`, `,"reasoning":"x"`, `}]`},
	{"tools", `"messages":[{"role":"user","content":"x"}],"tools":[{}`, `,{"type":"function","function":{"name":"x"}}`, `]`},
	{"tools that may be called", `"messages":[{"role":"user","content":"x"}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{}`, `,{"type":"function","name":"x"}`, `]}}`},
	{"names", `"messages":[{"role":"user","content":"x"}]`, `,"x":1`, ``},
	{"names with escapes", `"messages":[{"role":"user","content":"x"}]`, `,"\u00fc":1`, ``},
	{"stores", `"messages":[{"role":"user","content":"x"}]`, `,"store":true,"metadata":{}`, ``},
	{"predictions", `"messages":[{"role":"user","content":"x"}]`, `,"prediction":1`, ``},
}

// The cost of a request grows with its length, too.
func BenchmarkAttacksOfRequestsAreLinear(b *testing.B) {
	const good = "data: " + saysText + "\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
	for _, tt := range requestAttacks {
		for _, stream := range []bool{true, false} {
			play := func(n int) func() {
				body := `{"model":"m",` + repeated(tt.begin, tt.again, n) + tt.end
				if !strings.Contains(tt.begin, `"tools"`) {
					body += `,"tools":[` + editFile + `]`
				}
				body += fmt.Sprintf(`,"stream":%t}`, stream)
				base := roundTrip(func(r *http.Request) (*http.Response, error) {
					if stream {
						return streamed(r, io.NopCloser(strings.NewReader(good))), r.Body.Close()
					}
					return answered(r, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), r.Body.Close()
				})
				return func() {
					rt := transport.New(base, oneContinuation(both{twoTodos, todo.FromConversation()}, middleware.WithPauseTool(middleware.PauseToolAlways)))
					response, err := rt.RoundTrip(newRequest(b, b.Context(), "http://model.test/v1", body))
					require.NoError(b, err)
					_, err = io.Copy(io.Discard, response.Body)
					require.NoError(b, errors.Join(err, response.Body.Close()))
				}
			}
			measure.Linear(b, fmt.Sprintf("%s, streamed: %t", tt.name, stream), play(bulk), play(longer*bulk))
		}
	}
}

// both is a fixed list, and a source that is read only for the cost of reading it.
type both struct{ list, read todo.Provider }

func (b both) Todos(ctx context.Context) ([]todo.Todo, error) {
	_, _ = b.read.Todos(ctx) // there may be none
	return b.list.Todos(ctx)
}

// answerAttacks are answers in one piece that try to make reading expensive.
var answerAttacks = []struct{ name, begin, again, end string }{
	{"a text in parts of one letter", `{"choices":[{"message":{"content":[{}`, `,{"type":"text","text":"x"}`, `]},"finish_reason":"stop"}]}`},
	{"choices", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}`, `,{"message":{"content":"x"}}`, `]}`},
	{"calls", `{"choices":[{"message":{"tool_calls":[{}`, `,{"id":"x","function":{"name":"y"}}`, `]},"finish_reason":"stop"}]}`},
	{"pauses", `{"choices":[{"message":{"content":"x","tool_calls":[{}`, `,{"id":"x","function":{"name":"todo_pause"}}`, `]},"finish_reason":"stop"}]}`},
	{"numbers of a usage", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"total_tokens":1`, `,"x":1`, `}}`},
	{"usages in usages", `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"total_tokens":1`, `,"x":{"a":{"b":{"c":1}}}`, `}}`},
	{"brackets", `{"choices":`, `[`, ``},
	{"ticks", `{"choices":[{"message":{"content":"`, "`", `"},"finish_reason":"stop"}]}`},
	{"printed pauses", `{"choices":[{"message":{"content":"x`, "todo_pause('", `"},"finish_reason":"stop"}]}`},
	{"printed pauses as JSON", `{"choices":[{"message":{"content":"`, `{\"name\":\"todo_pause\",`, `"},"finish_reason":"stop"}]}`},
	{"printed pauses in parts", `{"choices":[{"message":{"content":[{}`, `,{"type":"text","text":"todo_pause('"}`, `]},"finish_reason":"stop"}]}`},
}

func BenchmarkAttacksOfWholeAnswersAreLinear(b *testing.B) {
	const good = `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"total_tokens":1}}`
	for _, tt := range answerAttacks {
		play := func(answers ...string) func() {
			return func() {
				asked := 0
				base := roundTrip(func(r *http.Request) (*http.Response, error) {
					asked++
					return answered(r, answers[min(asked, len(answers))-1]), r.Body.Close()
				})
				response, err := transport.New(base, oneContinuation(twoTodos)).RoundTrip(newRequest(b, b.Context(), "http://model.test/v1", bodyOf(false)))
				require.NoError(b, err)
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(b, errors.Join(err, response.Body.Close()))
			}
		}
		few, many := repeated(tt.begin, tt.again, bulk)+tt.end, repeated(tt.begin, tt.again, longer*bulk)+tt.end
		measure.Linear(b, tt.name, play(few, good), play(many, good))
		measure.Linear(b, tt.name+", in turn 2", play(good, few), play(good, many))
	}
}

// A text of one turn is not repeated for each of several places in another turn.
func TestMembersThatComeTwiceAreNotMultiplied(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64<<10)
	first := `data: {"id":"` + long + `","model":"` + long + `","choices":[{"index":0,"delta":{"content":"Next."},"finish_reason":"stop"}],"usage":{"` +
		long + `":1}}` + "\n\ndata: [DONE]\n\n"
	for name, second := range map[string]string{
		"ids":      `{"id":"b"` + strings.Repeat(`,"id":"b"`, 1000) + `,"choices":[{"index":0,"delta":{"content":"On."}}]}`,
		"usages":   `{"id":"b","choices":[{"index":0,"delta":{"content":"On."},"finish_reason":"stop"}]` + strings.Repeat(`,"usage":{"a":1}`, 1000) + `}`,
		"texts":    `{"id":"b","choices":[{"index":0,"delta":{"content":"` + long + `"` + strings.Repeat(`,"content":"a"`, 1000) + `}}]}`,
		"deltas":   `{"id":"b","choices":[{"index":0,"delta":{"content":"` + long + `"}` + strings.Repeat(`,"delta":{"content":"a"}`, 1000) + `}]}`,
		"finishes": `{"id":"b","choices":[{"index":0,"delta":{"content":"a"}` + strings.Repeat(`,"finish_reason":"stop"`, 1000) + `}]}`,
		"choices":  `{"id":"b"` + strings.Repeat(`,"choices":[{"index":0,"delta":{"content":"a"}}]`, 1000) + `}`,
	} {
		got := join(t, twoTodos, first, "data: "+second+"\n\ndata: "+saysFinish+"\n\ndata: [DONE]\n\n", whole())
		require.Len(t, got.Requests, 1+3, "%s: nothing is shown of it", name)
		assert.Less(t, len(got.Body), 4*(len(first)+len(second)), name)
		assert.Contains(t, got.Outcome, "failed", name)
		reply{Body: got.Body}.reading(t) // which is strict
	}

	// Nor is a continuation's text written into each of several lists of messages in a request.
	asked := 0
	base := roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		assert.Less(t, len(body), 4*len(long))
		asked++
		return answered(r, `{"choices":[{"message":{"content":"`+long+`"},"finish_reason":"stop"}]}`), r.Body.Close()
	})
	body := `{"tools":[` + editFile + `]` + strings.Repeat(`,"messages":[]`, 999) + `,"messages":[{"role":"user","content":"Go."}]}`
	response, err := transport.New(base, oneContinuation(twoTodos)).RoundTrip(newRequest(t, t.Context(), "http://model.test/v1", body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 2, asked)
}

const (
	bulk   = 32 << 10 // the length of a short attack
	longer = measure.Longer
)

// inBulk serves the beginning of a stream on its own, and then many bytes at once.
func inBulk(begin string, size int) split {
	came := false
	come := func() int {
		if !came {
			came = true
			return max(len(begin), 1)
		}
		return size
	}
	return split{come: come, read: always(size), end: io.EOF}
}

// From an event over the limit on, the rest of the stream passes unread.
func TestEventOverTheLimitPassesAsItComes(t *testing.T) {
	t.Parallel()
	head := `data: {"id":"a","choices":[{"index":0,"delta":{"content":"`
	tail := `"}}]}` + "\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
	for _, tt := range []struct{ size, requests int }{{transport.MaxEvent - 1, 1 + 3}, {transport.MaxEvent + 1<<20, 1}} {
		asked, end := 0, new(ending)
		base := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			if asked > 1 {
				return answered(r, "{}"), nil
			}
			body := io.MultiReader(strings.NewReader(head), &endless{'x', tt.size - len(head) - 6}, strings.NewReader(tail))
			return streamed(r, io.NopCloser(body)), nil
		})
		request := newRequest(t, t.Context(), "http://model.test/v1", bodyOf(true))
		response, err := transport.New(base, oneContinuation(twoTodos)).RoundTrip(request)
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
	base := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked++
		if asked == 1 {
			text := "data: " + saysText + "\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
			return streamed(r, io.NopCloser(strings.NewReader(text))), nil
		}
		return streamed(r, io.NopCloser(io.MultiReader(strings.NewReader("data: "), &endless{'x', 2 * transport.MaxEvent}))), nil
	})
	ctx, outcomes := middleware.Capture(t.Context())
	request := newRequest(t, ctx, "http://model.test/v1", bodyOf(true))
	got := readReply(transport.New(base, oneContinuation(twoTodos)).RoundTrip(request))
	require.NoError(t, got.Err)
	assert.Equal(t, "data: "+saysText+"\n\ndata: "+saysFinish+"\n\ndata: [DONE]\n\n", got.Body)
	require.Error(t, outcomes.Last().Err)
}

// Numbers too large for any program are still valid numbers in the joined answer.
func TestUsagesThatCannotBeAddedStayJSON(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e308", "-1e308", "1e400", "0.1e-400", strings.Repeat("9", 200), strings.Repeat("9", 200) + ".5", "1E5", "-0", "-0.0"} {
		stream := func(more string) string {
			return "data: " + saysText + "\n\ndata: " + strings.Replace(saysUsage, `"total_tokens":7`, `"cost":`+number+more, 1) +
				"\n\ndata: " + saysFinish + "\n\ndata: [DONE]\n\n"
		}
		got := join(t, twoTodos, strings.Replace(stream(""), saysUsage, "", 1), stream(""), whole())
		require.Len(t, got.Requests, 2)
		reply{Body: got.Body}.reading(t) // which is strict
	}
}

// Extremely deep nesting does no harm.
func TestDeepJSON(t *testing.T) {
	t.Parallel()
	const depth = 100_000
	deep := strings.Repeat(`{"a":[`, depth) + strings.Repeat(`]}`, depth)
	first := "data: " + saysText + "\n\ndata: " + strings.Replace(saysUsage, `"total_tokens":7`, `"deep":`+deep, 1) + "\n\ndata: " +
		saysFinish + "\n\ndata: [DONE]\n\n"
	got := join(t, twoTodos, first, first, whole())
	assert.Len(t, got.Requests, 2)
	assert.Contains(t, got.Body, deep)

	base := new(keeper)
	body := strings.Replace(bodyOf(false), `"content":"Write and test the parser."`, `"content":`+deep, 1)
	request := newRequest(t, t.Context(), "http://model.test/v1", body)
	response, err := transport.New(base, middleware.New(todo.Static())).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, []string{body}, base.bodies)
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
				base := roundTrip(func(r *http.Request) (*http.Response, error) {
					asked++
					if asked == 1 {
						return streamed(r, io.NopCloser(strings.NewReader("data: "+saysText+"\n\ndata: "+saysFinish+"\n\ndata: [DONE]\n\n"))), r.Body.Close()
					}
					return streamed(r, babble{again, read}), r.Body.Close()
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				response, err := transport.New(base, oneContinuation(twoTodos)).RoundTrip(newRequest(t, ctx, "http://model.test/v1", bodyOf(true))) //nolint:bodyclose // closed closes it
				require.NoError(t, err)
				defer closed(t, response)
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
