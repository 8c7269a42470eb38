package responses_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// shape is the form of a stream of many items or parts. A stream of a shape may
// have any length.
type shape struct {
	kind    string   // of the items
	events  []string // of each of them
	index   string   // how the output index follows from the number of an item
	id      string   // likewise
	content string   // likewise
	order   string   // of the events
	text    string   // of a delta
	output  string   // what the response object lists
}

// shapeOf returns one of the shapes.
func shapeOf(seed uint64) shape {
	r := rand.New(rand.NewPCG(seed, 34)) //nolint:gosec // picks cases, guards nothing
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	s := shape{
		kind:    pick("message", "message", "message", "reasoning", "function_call", "todo_pause", "web_search_call", "shell_call", "compaction", "later"),
		index:   pick("0", "i", "i/2", "i%2", "none"),
		id:      pick("one", "each", "long", "none", "numbered"),
		content: pick("0", "i", "i%2", "i%300", "-i"),
		order:   pick("by item", "by event", "there and back"),
		text:    pick("x", "todo_", "t", "todo_pause('a') "),
		output:  pick("none", "all", "one", "reversed"),
	}
	all := map[string][]string{
		"message":       {itemAdded, partAdded, textDelta, annotated, textDelta, refusalDelta, textDone, partDone, itemDone},
		"reasoning":     {itemAdded, summaryDelta, itemDone},
		"function_call": {itemAdded, argumentsDelta, argumentsDone, itemDone},
		"todo_pause":    {itemAdded, argumentsDelta, argumentsDone, itemDone},
	}[s.kind]
	if all == nil {
		all = []string{itemAdded, "response.later.delta", itemDone}
	}
	for len(s.events) == 0 {
		s.events = slices.DeleteFunc(slices.Clone(all), func(string) bool { return r.IntN(3) == 0 })
	}
	return s
}

const (
	itemAdded      = "response.output_item.added"
	itemDone       = "response.output_item.done"
	partAdded      = "response.content_part.added"
	partDone       = "response.content_part.done"
	textDelta      = "response.output_text.delta"
	textDone       = "response.output_text.done"
	annotated      = "response.output_text.annotation.added"
	refusalDelta   = "response.refusal.delta"
	summaryDelta   = "response.reasoning_summary_text.delta"
	argumentsDelta = "response.function_call_arguments.delta"
	argumentsDone  = "response.function_call_arguments.done"
)

// number applies a rule such as "i%2" to the number of an item.
func number(rule string, i int) int {
	switch rule {
	case "i":
		return i
	case "-i":
		return -i
	case "i/2":
		return i / 2
	case "i%2":
		return i % 2
	case "i%300":
		return i % 300
	}
	return 0
}

func (s shape) idOf(i int) string {
	switch s.id {
	case "one":
		return "a"
	case "each":
		return "a" + strconv.Itoa(i)
	case "numbered": // as carryon numbers ids that come again
		return "a" + strings.Repeat("_2", i%3)
	case "long":
		return strings.Repeat("a", 3000)
	}
	return ""
}

// item returns the i-th item, whole or as it begins.
func (s shape) item(i int, whole bool) string {
	members := fmt.Sprintf(`"type":%q`, s.kind)
	if id := s.idOf(i); id != "" {
		members += `,"id":"` + id + `"`
	}
	switch s.kind {
	case "message":
		if whole {
			return `{` + members + `,"role":"assistant","content":[{"type":"output_text","text":"` + s.text + `","annotations":[]}]}`
		}
		return `{` + members + `,"role":"assistant","content":[]}`
	case "function_call", "todo_pause":
		name := map[string]string{"function_call": "edit_file", "todo_pause": "todo_pause"}[s.kind]
		return `{"type":"function_call","id":"` + s.idOf(i) + fmt.Sprintf(`","call_id":"c%d","name":%q,"arguments":"{}"}`, i, name)
	}
	return `{` + members + `}`
}

// event returns an event of the i-th item.
func (s shape) event(kind string, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `data: {"type":%q,"sequence_number":%d`, kind, i)
	if s.index != "none" {
		fmt.Fprintf(&b, `,"output_index":%d`, number(s.index, i))
	}
	if kind == itemAdded || kind == itemDone {
		b.WriteString(`,"item":` + s.item(i, kind == itemDone))
		return b.String() + "}\n\n"
	}
	if id := s.idOf(i); id != "" && s.id != "long" {
		fmt.Fprintf(&b, `,"item_id":%q`, id)
	}
	fmt.Fprintf(&b, `,"content_index":%d,"delta":%q,"text":%q,"arguments":"{}","annotation":{"type":"a"}`, number(s.content, i), s.text, s.text)
	fmt.Fprintf(&b, `,"part":{"type":"output_text","text":%q}`, s.text)
	return b.String() + "}\n\n"
}

// stream returns a stream of about that many bytes.
func (s shape) stream(bytes int) string {
	count := 1
	for size := 0; size < bytes; count++ {
		for _, kind := range s.events {
			size += len(s.event(kind, count))
		}
	}
	var b strings.Builder
	b.WriteString(typedStream(createdEvent("r2")))
	switch s.order {
	case "by item":
		for i := range count {
			for _, kind := range s.events {
				b.WriteString(s.event(kind, i))
			}
		}
	default:
		for n, kind := range s.events {
			for i := range count {
				if n%2 == 1 && s.order == "there and back" {
					i = count - 1 - i
				}
				b.WriteString(s.event(kind, i))
			}
		}
	}
	return b.String() + typedStream(completedEvent("r2", s.list(count)))
}

// list returns the items of the response object.
func (s shape) list(count int) string {
	var items []string
	switch s.output {
	case "all", "reversed":
		for i := range count {
			items = append(items, s.item(i, true))
		}
	case "one":
		items = slices.Repeat([]string{s.item(0, true)}, count)
	}
	if s.output == "reversed" {
		slices.Reverse(items)
	}
	return strings.Join(items, ",")
}

// Sizes of the answers whose cost is compared.
const (
	shortAnswer = 16 << 10
	longAnswer  = measure.Longer * shortAnswer
)

// The cost of an answer grows with its length, not with the square, whatever
// the shape of its items: as turn 1, as turn 2, and not streamed.
func BenchmarkShapesAreLinear(b *testing.B) {
	first := wiretest.Bytes(b, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	document := wiretest.Bytes(b, "/responses", responsesBody(false), fakellm.Text(wiretest.Plan))[0]
	for seed := range uint64(400 / wiretest.OneIn(20)) {
		s := shapeOf(seed)
		whole := s
		whole.output = map[string]string{"none": "all"}[s.output] + strings.TrimPrefix(s.output, "none")
		for name, play := range map[string]func(bytes int) func(){
			"turn 1":     func(n int) func() { turn := s.stream(n); return func() { playTurns(b, true, turn, turn) } },
			"turn 2":     func(n int) func() { turn := s.stream(n); return func() { playTurns(b, true, first, turn) } },
			"unary":      func(n int) func() { d := whole.document(n); return func() { playTurns(b, false, d, d) } },
			"unary, 2nd": func(n int) func() { d := whole.document(n); return func() { playTurns(b, false, document, d) } },
		} {
			measure.Linear(b, fmt.Sprintf("%d, %s: %+v", seed, name, s), play(shortAnswer), play(longAnswer))
		}
	}
}

// members are what the shapes of requests and of usages repeat: each with its
// number in it, or the same again and again.
var members = map[string]struct{ begin, again, end string }{
	"messages":             {`"input":[{"role":"user","content":"Go."}`, `,{"role":"user","content":"N"}`, `]`},
	"parts of a message":   {`"input":[{"role":"user","content":[{"type":"input_text","text":"Go."}`, `,{"type":"input_text","text":"N"}`, `]}]`},
	"calls":                {`"input":[{"role":"user","content":"Go."}`, `,{"type":"function_call","call_id":"cN","name":"update_plan","arguments":"{}"}`, `]`},
	"outputs":              {`"input":[{"role":"user","content":"Go."}`, `,{"type":"function_call_output","call_id":"cN","output":"ok"}`, `]`},
	"calls with outputs":   {`"input":[{"role":"user","content":"Go."}`, `,{"type":"custom_tool_call","call_id":"cN","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"cN","output":"ok"}`, `]`},
	"lists":                {`"input":[{"role":"user","content":"Go."}`, `,{"type":"function_call","call_id":"cN","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"N\",\"status\":\"pending\"}]}"},{"type":"function_call_output","call_id":"cN","output":"ok"}`, `]`},
	"additional tools":     {`"input":[{"role":"user","content":"Go."}`, `,{"type":"additional_tools","tools":[{"type":"function","name":"fN"}]}`, `]`},
	"tools":                {`"input":"Go.","tools":[{"type":"function","name":"f"}`, `,{"type":"function","name":"fN"}`, `]`},
	"tools in a namespace": {`"input":"Go.","tools":[{"type":"namespace","name":"f","tools":[{"type":"function","name":"f"}`, `,{"type":"function","name":"fN"}`, `]}]`},
	"allowed tools":        {`"input":"Go.","tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}`, `,{"type":"function","name":"fN"}`, `]}`},
	"names":                {`"input":"Go."`, `,"xN":1`, ``},
	"previous ids":         {`"input":"Go."`, `,"previous_response_id":null`, ``},
}

// usages likewise.
var usages = map[string]string{
	"counts": `,"xN":1`, "counts of the prompt": `,"input_N_tokens":1`, "details": `,"input_tokens_details":{"xN":1}`, "deep": `,"x":{"N":{"a":{"b":1}}}`,
}

// grown returns about that many bytes of again, with numbers or without.
func grown(again string, bytes int, numbered bool) string {
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		n := "1"
		if numbered {
			n = strconv.Itoa(i)
		}
		b.WriteString(strings.ReplaceAll(again, "N", n))
	}
	return b.String()
}

// The cost of a request and of a usage grows with its length, too.
func BenchmarkShapesOfRequestsAreLinear(b *testing.B) {
	for _, numbered := range []bool{false, true} {
		for name, m := range members {
			play := func(n int) func() {
				body := `{"stream":true,` + m.begin + grown(m.again, n, numbered) + m.end
				if !strings.Contains(body, `"tools":[{"type":"f`) {
					body += `,"tools":[{"type":"function","name":"edit_file"}]`
				}
				turns := []string{"data: " + `{"type":"response.created","response":{"id":"r1"}}` + "\n\n" + typedStream(messageEvents("m1", wiretest.Plan)...) + typedStream(completedEvent("r1", ""))}
				return func() { playRequest(b, body+"}", todo.FromConversation(), append(turns, turns...)...) }
			}
			measure.Linear(b, fmt.Sprintf("%s, %t", name, numbered), play(shortAnswer), play(longAnswer))
		}
		for name, again := range usages {
			play := func(n int) func() {
				document := func(id string) string {
					return `{"id":"` + id + `","object":"response","status":"completed","output":[` + messageItem("m1", wiretest.Plan) +
						`],"usage":{"input_tokens":5,"output_tokens":5,"total_tokens":10` + grown(again, n, numbered) + `}}`
				}
				one, two := document("r1"), document("r2")
				return func() { playTurns(b, false, one, two) }
			}
			measure.Linear(b, fmt.Sprintf("usage: %s, %t", name, numbered), play(shortAnswer), play(longAnswer))
		}
	}
}

// document returns an answer in one piece of about that many bytes.
func (s shape) document(bytes int) string {
	count := bytes/len(s.item(1, true)) + 1
	return `{"id":"r2","object":"response","status":"completed","output":[` + s.list(count) + `]}`
}

// playTurns plays a call, and reads its answer.
func playTurns(tb testing.TB, stream bool, turns ...string) {
	tb.Helper()
	playRequest(tb, responsesBody(stream), wiretest.TwoTodos, turns...)
}

func playRequest(tb testing.TB, body string, todos todo.Provider, turns ...string) {
	tb.Helper()
	base := wiretest.ReplayOf(turns...)
	base.Whole = !strings.Contains(body, `"stream":true`)
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://model.test/v1/responses", strings.NewReader(body))
	require.NoError(tb, err)
	response, err := transport.New(base, wiretest.OneContinuation(todos, middleware.WithPauseTool(middleware.PauseToolAlways))).RoundTrip(r)
	require.NoError(tb, err)
	_, _ = io.Copy(io.Discard, response.Body) // which may break off in a call
	require.NoError(tb, response.Body.Close())
}

// endless is a stream of a shape that never ends, and that does something at
// its n-th read.
type endless struct {
	begin, again string
	at           int
	n            int
	then         func()
	closed       bool
}

func (e *endless) Read(p []byte) (int, error) {
	if e.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	e.n++
	if e.n == e.at {
		e.then()
	}
	if e.begin == "" {
		e.begin = e.again
	}
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	return n, nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

// A continuation without end ends with the caller's ctx and with Close,
// whatever its shape.
func TestShapesWithoutEndAreEnded(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	for seed := range uint64(64) {
		s := shapeOf(seed)
		for _, closes := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			var body io.Closer
			second := &endless{begin: typedStream(createdEvent("r2")), at: 50, then: cancel}
			for _, kind := range s.events {
				second.again += s.event(kind, int(seed))
			}
			if closes {
				second.then = func() { assert.NoError(t, body.Close()) }
			}
			base := &wiretest.Replay{Answers: []io.Reader{strings.NewReader(first), second}}
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test/v1/responses", strings.NewReader(responsesBody(true)))
			require.NoError(t, err)
			response, err := transport.New(base, wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(r)
			require.NoError(t, err)
			body = response.Body
			_, err = io.Copy(io.Discard, response.Body)
			if closes && !slices.Contains(s.events, "response.refusal.delta") { // a refused continuation ends before that
				require.Error(t, err, s)
			} else {
				assert.True(t, err == nil || errors.Is(err, context.Canceled) || errors.Is(err, transport.ErrUnreadable), "%v: %+v", err, s)
			}
			require.NoError(t, response.Body.Close())
			assert.True(t, second.closed, s)
			cancel()
		}
	}
}

// A turn keeps no more than an answer may have: one whose items have no end
// ends by itself.
func TestTurnOfItemsWithoutEndEnds(t *testing.T) {
	t.Parallel()
	first := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan))[0]
	large := `{"id":"ws_2","type":"web_search_call","status":"completed","x":"` + strings.Repeat("x", 1<<20) + `"}`
	small := `{"id":"ws_2","type":"web_search_call","status":"completed"}`
	for name, item := range map[string]string{"large": large, "many": small} {
		second := &endless{begin: typedStream(createdEvent("r2")), again: typedStream(`response.output_item.added "output_index":0,"item":`+item, `response.output_item.done "output_index":0,"item":`+item)}
		body, err := readVia(t, &wiretest.Replay{Answers: []io.Reader{strings.NewReader(first), second}}, wiretest.TwoTodos)
		require.NoError(t, err, name)
		assert.True(t, second.closed, name)
		assert.Equal(t, 1, strings.Count(body, `"type":"response.completed"`), name)
	}
}
