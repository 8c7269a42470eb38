package chatcompletions_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/internal/wire"
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
	{"lines of one byte and CR, after an event", "data: " + wiretest.SaysText + "\n\n", "x\r"},
	{"comments", "", ":\n"},
	{"data without a value", "", "data:\n"},
	{"lists", "", "data: [\n"},
	{"events named", "", "event: x\n"},
	{"events named errors", "", "event: error\n"},
	{"ids", "data: " + wiretest.SaysText + "\n\n", "id: 1\n"},
	{"retries and blank lines", "", "retry: 1\n\n"},
	{"bare objects", "", "{\n"},
	{"ends", "", "data: [DONE]\n\n"},
	{"bare ends", "data: " + wiretest.SaysText + "\n\n", "[DONE]\n"},
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
	{"text, the same shape", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysText + "\n\n"},
	{"text, shapes in turn", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysOther + "\n\n"},
	{"text without blank lines", "data: " + wiretest.SaysText + "\n", "data: " + wiretest.SaysText + "\n"},
	{"reasoning", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysReason + "\n\n"},
	{"usage", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysUsage + "\n\n"},
	{"finishes", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysFinish + "\n\n"},
	{"finishes with text", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysLast + "\n\n"},
	{"fragments of a call", "data: " + wiretest.SaysCall + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}}]}` + "\n\n"},
	{"a name that never ends", "data: " + wiretest.SaysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":""}}]}}]}` + "\n\n"},
	{"calls without end", "data: " + wiretest.SaysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"function":{"name":"edit_file","arguments":"{}"}}]}}]}` + "\n\n"},
	{"a call named again and again", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"function":{"name":"edit_file","arguments":"[1"}}]}}]}` + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"function":{"name":"edit_file","arguments":",1,1,1,1"}}]}}]}` + "\n\n"},
	{"calls in one event", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"edit_file"}}`, `,{"index":0,"id":"x"}`},
	{"calls that may be pauses", "data: " + wiretest.SaysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"todo"}}]}}]}` + "\n\n"},
	{"choices in one event", `data: {"id":"a","choices":[{"index":0}`, `,{"index":1}`},
	{"a text in parts of one letter", `data: {"id":"a","choices":[{"index":0,"delta":{"content":[{}`, `,{"type":"text","text":"x"}`},
	{"texts under one name", `data: {"id":"a","choices":[{"index":0,"delta":{"content":"x"`, `,"content":"x"`},
	{"reasonings under one name", `data: {"id":"a","choices":[{"index":0,"delta":{"reasoning":"x"`, `,"reasoning":"x"`},
	{"choices of one letter", `data: {"id":"a","choices":[{"index":0}`, `,{"index":0,"delta":{"content":"x"}}`},
	{"lists of choices", `data: {"id":"a","choices":[]`, `,"choices":[{"index":0,"delta":{"content":"x"}}]`},
	{"usages under one name", `data: {"id":"a","usage":{"total_tokens":1`, `,"x":1`},
	{"errors", "data: " + wiretest.SaysText + "\n\n", "data: " + wiretest.SaysError + "\n\n"},
	{"printed pauses", "data: " + wiretest.SaysText + "\n\n", `data: {"id":"a","choices":[{"delta":{"content":"todo_pause("}}]}` + "\n\n"},
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
	const good = "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	for _, tt := range attacks {
		for _, size := range []int{1400, 1 << 20} {
			play := func(first, second string) func() {
				return func() { wiretest.NewPlayer(b, wiretest.TwoTodos).Join(first, second, inBulk(tt.begin, size)) }
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
	const good = "data: " + wiretest.SaysText + "\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	for _, tt := range requestAttacks {
		for _, stream := range []bool{true, false} {
			play := func(n int) func() {
				body := `{"model":"m",` + repeated(tt.begin, tt.again, n) + tt.end
				if !strings.Contains(tt.begin, `"tools"`) {
					body += `,"tools":[` + wiretest.ChatTool + `]`
				}
				body += fmt.Sprintf(`,"stream":%t}`, stream)
				base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if stream {
						return wiretest.Streamed(r, io.NopCloser(strings.NewReader(good))), r.Body.Close()
					}
					return wiretest.Answered(r, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), r.Body.Close()
				})
				return func() {
					rt := transport.New(base, wiretest.OneContinuation(both{wiretest.TwoTodos, todo.FromConversation()}, middleware.WithPauseTool(middleware.PauseToolAlways)))
					response, err := rt.RoundTrip(wiretest.NewChatRequest(b, b.Context(), "http://model.test/v1", body))
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
				base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					asked++
					return wiretest.Answered(r, answers[min(asked, len(answers))-1]), r.Body.Close()
				})
				response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(wiretest.NewChatRequest(b, b.Context(), "http://model.test/v1", wiretest.ChatBody(false)))
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

// No caller knows the call of todo_pause, in whichever choice it comes. One of its own it
// does know.
func TestPauseInAnotherChoiceIsNotShown(t *testing.T) {
	t.Parallel()
	const call = `"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"todo_pause","arguments":"{}"}}]`
	for _, own := range []bool{false, true} {
		wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
			answer := func(choices string) string {
				if !w.Stream {
					return `{"id":"a","choices":[` + strings.ReplaceAll(choices, "delta", "message") + `]}`
				}
				return `data: {"id":"a","choices":[` + choices + "]}\n\ndata: [DONE]\n\n"
			}
			first := answer(`{"index":0,"delta":{"content":"One."},"finish_reason":"stop"}`)
			second := answer(`{"index":0,"delta":{"content":"Two."},"finish_reason":"stop"},{"index":1,"delta":{` + call + `},"finish_reason":"tool_calls"}`)
			asked := 0
			base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				asked++
				text := first
				if asked > 1 {
					text = second
				}
				if w.Stream {
					return wiretest.Streamed(r, io.NopCloser(strings.NewReader(text))), nil
				}
				return wiretest.Answered(r, text), nil
			})
			body := wiretest.ChatBody(w.Stream)
			if own {
				body = strings.Replace(body, "edit_file", "todo_pause", 1)
			}
			got := wiretest.ReadReply(transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(
				wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", body)))
			require.NoError(t, got.Err)
			assert.Equal(t, own, strings.Contains(got.Body, "todo_pause"), got.Body)
			assert.Equal(t, 2, asked)
			if !own {
				assert.Contains(t, got.Body, "One.")
				assert.Contains(t, got.Body, `"finish_reason":"stop"`)
			}
		})
	}
}

// A text of one turn is not repeated for each of several places in another turn.
func TestMembersThatComeTwiceAreNotMultiplied(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64<<10)
	id := long[:wire.MaxRepeated/2-10]
	first := `data: {"id":"` + id + `","model":"` + id + `","choices":[{"index":0,"delta":{"content":"Next."},"finish_reason":"stop"}],"usage":{"` +
		long + `":1}}` + "\n\ndata: [DONE]\n\n"
	for name, second := range map[string]string{
		"ids":      `{"id":"b"` + strings.Repeat(`,"id":"b"`, 1000) + `,"choices":[{"index":0,"delta":{"content":"On."}}]}`,
		"usages":   `{"id":"b","choices":[{"index":0,"delta":{"content":"On."},"finish_reason":"stop"}]` + strings.Repeat(`,"usage":{"a":1}`, 1000) + `}`,
		"texts":    `{"id":"b","choices":[{"index":0,"delta":{"content":"` + long + `"` + strings.Repeat(`,"content":"a"`, 1000) + `}}]}`,
		"deltas":   `{"id":"b","choices":[{"index":0,"delta":{"content":"` + long + `"}` + strings.Repeat(`,"delta":{"content":"a"}`, 1000) + `}]}`,
		"finishes": `{"id":"b","choices":[{"index":0,"delta":{"content":"a"}` + strings.Repeat(`,"finish_reason":"stop"`, 1000) + `}]}`,
		"choices":  `{"id":"b"` + strings.Repeat(`,"choices":[{"index":0,"delta":{"content":"a"}}]`, 1000) + `}`,
	} {
		got := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, "data: "+second+"\n\ndata: "+wiretest.SaysFinish+"\n\ndata: [DONE]\n\n", wiretest.Whole())
		require.Len(t, got.Requests, 1+3, "%s: nothing is shown of it", name)
		assert.Less(t, len(got.Body), 4*(len(first)+len(second)), name)
		assert.Contains(t, got.Outcome, "failed", name)
		wiretest.Reply{Body: got.Body}.Chat(t) // which is strict
	}

	// Nor is a continuation's text written into each of several lists of messages in a request.
	asked := 0
	base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		assert.Less(t, len(body), 4*len(long))
		asked++
		return wiretest.Answered(r, `{"choices":[{"message":{"content":"`+long+`"},"finish_reason":"stop"}]}`), r.Body.Close()
	})
	body := `{"tools":[` + wiretest.ChatTool + `]` + strings.Repeat(`,"messages":[]`, 999) + `,"messages":[{"role":"user","content":"Go."}]}`
	response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 2, asked)
}

const (
	bulk   = 32 << 10 // the length of a short attack
	longer = measure.Longer
)

// inBulk serves the beginning of a stream on its own, and then many bytes at once.
func inBulk(begin string, size int) wiretest.Split {
	came := false
	come := func() int {
		if !came {
			came = true
			return max(len(begin), 1)
		}
		return size
	}
	return wiretest.Split{Come: come, Read: wiretest.Always(size), End: io.EOF}
}

// Numbers too large for any program are still valid numbers in the joined answer.
func TestUsagesThatCannotBeAddedStayJSON(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e308", "-1e308", "1e400", "0.1e-400", strings.Repeat("9", 200), strings.Repeat("9", 200) + ".5", "1E5", "-0", "-0.0"} {
		stream := func(more string) string {
			return "data: " + wiretest.SaysText + "\n\ndata: " + strings.Replace(wiretest.SaysUsage, `"total_tokens":7`, `"cost":`+number+more, 1) +
				"\n\ndata: " + wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
		}
		got := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(strings.Replace(stream(""), wiretest.SaysUsage, "", 1), stream(""), wiretest.Whole())
		require.Len(t, got.Requests, 2)
		wiretest.Reply{Body: got.Body}.Chat(t) // which is strict
	}
}

// Extremely deep nesting does no harm.
func TestDeepJSON(t *testing.T) {
	t.Parallel()
	const depth = 100_000
	deep := strings.Repeat(`{"a":[`, depth) + strings.Repeat(`]}`, depth)
	first := "data: " + wiretest.SaysText + "\n\ndata: " + strings.Replace(wiretest.SaysUsage, `"total_tokens":7`, `"deep":`+deep, 1) + "\n\ndata: " +
		wiretest.SaysFinish + "\n\ndata: [DONE]\n\n"
	got := wiretest.NewPlayer(t, wiretest.TwoTodos).Join(first, strings.Replace(first, "So,", "Now,", 1), wiretest.Whole())
	assert.Len(t, got.Requests, 2)
	assert.Contains(t, got.Body, deep)

	base := &wiretest.Tap{Base: wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, r.Body)
		return wiretest.Answered(r, "{}"), errors.Join(err, r.Body.Close())
	})}
	body := strings.Replace(wiretest.ChatBody(false), `"content":"Write and test the parser."`, `"content":`+deep, 1)
	request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", body)
	response, err := transport.New(base, middleware.New(todo.Static())).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, []string{body}, base.Bodies())
}
