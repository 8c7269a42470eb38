package gemini_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// streams answers requests with the next of its texts, in pieces of random sizes. An answer ends with its error.
type streams struct {
	texts []string
	errs  []error
	split *rand.Rand // nil for one piece
	asked int
}

func (s *streams) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	n := min(s.asked, len(s.texts)-1)
	s.asked++
	body := &splitBody{text: s.texts[n], split: s.split, err: io.EOF}
	if n < len(s.errs) && s.errs[n] != nil {
		body.err = s.errs[n]
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, ContentLength: -1, Request: r,
	}, nil
}

type splitBody struct {
	text  string
	split *rand.Rand
	err   error
}

func (b *splitBody) Read(p []byte) (int, error) {
	if b.text == "" {
		return 0, b.err
	}
	most := len(p)
	if b.split != nil {
		most = min(most, 1+b.split.IntN(200))
	}
	n := copy(p[:most], b.text)
	b.text = b.text[n:]
	return n, nil
}

func (*splitBody) Close() error { return nil }

func (a ask) from(tb testing.TB, s *streams) answer {
	tb.Helper()
	return a.over(tb, s, true, 0, func() []fakellm.Request { return nil })
}

// A first turn that breaks off anywhere is shown as it came, and not continued before its finish.
func TestFirstTurnThatBreaksOff(t *testing.T) {
	t.Parallel()
	first := whole([]string{of(says("Next I will")), of(signed(says(" write."), "s")), of(says(" So."), stop)})
	finish := strings.Index(first, stop) + len(stop)
	for _, err := range []error{nil, io.ErrUnexpectedEOF} {
		for at := range len(first) {
			s := &streams{texts: []string{first[:at], whole([]string{of(edits, stop)})}, errs: []error{err}}
			got := ask{attempts: 1}.from(t, s)
			if at < finish || err != nil {
				require.ErrorIs(t, got.err, err, "%d", at)
				require.True(t, strings.HasPrefix(withoutSpaces(got.raw), withoutSpaces(first[:min(at, finish-200)])), "%d: %q", at, got.raw)
				require.Equal(t, 1, s.asked, "%d", at)
			}
			if at < finish {
				require.Equal(t, first[:at], got.raw, "%d", at)
			}
		}
	}
}

func withoutSpaces(text string) string { return strings.ReplaceAll(text, " ", "") }

// A later turn that breaks off anywhere costs nothing that came before it: the answer ends as the first turn did. Only
// half an answer with a call in it is an error.
func TestLaterTurnThatBreaksOff(t *testing.T) {
	t.Parallel()
	first := whole([]string{of(says(wiretest.Plan)), of(says(" So."), stop)})
	for _, chunks := range [][]string{
		{of(says("One.")), of(signed(says(" Two."), "s")), of(`{"text":"Hm.","thought":true}`), of(says(""), stop)},
		{of(says("One.")), of(signed(edits, "s") + "," + edits), of(says(""), stop)},
		{of(says("I stop.")), of(signed(pauses, "s"), stop)},
	} {
		second := whole(chunks)
		called := strings.Index(second, "edit_file")
		for _, err := range []error{nil, io.ErrUnexpectedEOF} {
			for at := range len(second) {
				a := ask{attempts: 1}
				got := a.from(t, &streams{texts: []string{first, second[:at], ""}, errs: []error{nil, err}})
				if got.err != nil {
					require.True(t, called >= 0 && at > called, "%d: %v", at, got.err)
					require.NotContains(t, got.raw, `"finishReason"`)
					continue
				}
				a.read(t, &got, true)
				require.True(t, strings.HasPrefix(got.text(t), wiretest.Plan+" So."), got.raw)
				require.Equal(t, "STOP", got.finish())
			}
		}
	}
}

// Continuations that fail in all other ways.
func TestContinuationsThatFail(t *testing.T) {
	t.Parallel()
	end := `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},"modelVersion":"m","responseId":"r"}`
	for name, turn := range map[string]fakellm.Turn{
		"500": fakellm.Status(500, `{"error":{"code":500}}`), "400": fakellm.Status(400, "no"), "JSON": fakellm.Status(200, of(edits, stop)),
		"an error": raw(`{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}`), "a bare error": fakellm.Raw("{\n \"error\": {\"code\": 503}\n}\n"),
		"blocked": raw(`{"promptFeedback":{"blockReason":"SAFETY"}}`), "a filter": raw(of("", `"finishReason":"SAFETY"`)),
		"a malformed call": raw(of(says("x"), `"finishReason":"MALFORMED_FUNCTION_CALL"`)), "nothing": raw(), "an unknown finish": raw(of(says("x"), `"finishReason":"NEW"`)),
		"not JSON": fakellm.Raw("data: {\"candidates\":[\r\n\r\n"), "encoded": raw(of(edits, stop)).Header("Content-Encoding", "gzip"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask{attempts: 1, turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), turn, turn, turn}}.play(t, true)
			assert.Equal(t, []string{wiretest.Plan}, got.shown(t))
			assert.Len(t, got.chunks, 2)
			assert.JSONEq(t, end, eventsOf(t, got.raw)[1])
			require.Error(t, got.outcome.Err)
			if name == "blocked" {
				require.ErrorContains(t, got.outcome.Err, "blocked the prompt")
			}
		})
	}
	later := fakellm.Status(429, `{"error":{"code":429,"details":[{"retryDelay":"20s"},{"retryDelay":"0s"}]}}`)
	assert.Len(t, ask{attempts: 1, turns: []fakellm.Turn{fakellm.Text(wiretest.Plan), later}}.play(t, true).requests, 2, "the wait would be too long")
	shown := ask{attempts: 1, turns: []fakellm.Turn{raw(of(says(wiretest.Plan), stop)), raw(of(says("One.")), `{"error":{"code":503}}`)}}.play(t, true)
	assert.Equal(t, []string{wiretest.Plan, "\n\nOne."}, shown.shown(t))
}

// A streamed answer and a whole one say the same.
func TestStreamedAndWholeAgree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // chooses turns
	turns := []func() fakellm.Turn{
		func() fakellm.Turn { return fakellm.Text("One. Two.") },
		func() fakellm.Turn { return fakellm.Text("").Reasoning("Hm.") },
		func() fakellm.Turn {
			return fakellm.Text("Then.").AndCall("edit_file", `{"n":1}`).AndCall("edit_file", `{"n":2}`)
		},
		func() fakellm.Turn {
			return fakellm.Text("I stop.").AndCall("todo_pause", `{"reason":"`+wiretest.Blocked+`"}`)
		},
		func() fakellm.Turn { return fakellm.Pause("stuck").AndCall("edit_file", `{}`) },
		func() fakellm.Turn { return fakellm.Pause("stuck") },
		func() fakellm.Turn { return fakellm.Text("Cut").Finish("MAX_TOKENS") },
		func() fakellm.Turn { return fakellm.Text("Then todo_pause('" + wiretest.Blocked + "')") },
		func() fakellm.Turn { return fakellm.Status(500, "{}") },
		func() fakellm.Turn { return fakellm.Text("Hidden").Finish("SAFETY").With(fakellm.OneChunk) },
	}
	for range 300 {
		a := ask{path: []string{studio, newest, vertex, assist}[random.IntN(4)], attempts: 1 + random.IntN(3), turns: []fakellm.Turn{fakellm.Text(wiretest.Plan)}}
		for range 8 {
			a.turns = append(a.turns, turns[random.IntN(len(turns))]())
		}
		if random.IntN(3) == 0 {
			a.options = []middleware.Option{middleware.WithPauseTool(middleware.PauseToolAlways)}
		}
		stream, document := a.play(t, true), a.play(t, false)
		require.Equal(t, stream.text(t), document.text(t))
		require.Equal(t, stream.finish(), document.finish())
		require.JSONEq(t, stream.usage(t), document.usage(t))
		require.Equal(t, calls(t, stream), calls(t, document))
		require.Equal(t, stream.outcome.Reason, document.outcome.Reason)
	}
}

// calls returns the calls of an answer, with their signatures.
func calls(t *testing.T, g answer) (shown []string) {
	t.Helper()
	for _, text := range g.shown(t) {
		if strings.Contains(text, "{") {
			shown = append(shown, text)
		}
	}
	return shown
}

// With nothing to do, the bytes of any stream are the same, in whatever pieces they come.
func FuzzNothingToDo(f *testing.F) {
	for i, text := range seeds() {
		f.Add(text, uint64(i)) //nolint:gosec // a small number
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		done := todo.Static(todo.Todo{ID: "1", Content: "a", Status: todo.Completed})
		for _, path := range []string{studio, assist} {
			s := &streams{texts: []string{text}, split: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // splits a text
			got := ask{path: path, todos: done}.from(t, s)
			require.NoError(t, got.err)
			require.Equal(t, text, got.raw)
		}
	})
}

// Whatever the second turn is, the answer is the same in whatever pieces it comes, and has the form of one.
func FuzzLaterTurn(f *testing.F) {
	for i, text := range seeds() {
		f.Add(text, uint64(i)) //nolint:gosec // a small number
	}
	first := whole([]string{of(says(wiretest.Plan)), of(says(" So."), stop)})
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		a := ask{attempts: 1}
		whole := a.from(t, &streams{texts: []string{first, text, ""}})
		s := &streams{texts: []string{first, text, ""}, split: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // splits a text
		got := a.from(t, s)
		require.Equal(t, whole.err, got.err)
		require.Equal(t, whole.raw, got.raw)
		if got.err != nil {
			return
		}
		finishes := 0
		for _, data := range eventsOf(t, got.raw) {
			var c chunk
			if !json.Valid([]byte(data)) || json.Unmarshal([]byte(data), &c) != nil {
				return // as it came
			}
			require.Len(t, c.Candidates, 1, data)
			require.NotEmpty(t, c.Candidates[0].Content.Parts, data)
			if c.Candidates[0].FinishReason != nil {
				finishes++
			}
		}
		require.Equal(t, 1, finishes, got.raw)
	})
}

func seeds() []string {
	chunks := []string{
		of(says("One.")), of(signed(says("Two."), "s"), stop), of(`{"text":"Hm.","thought":true}`), of(edits+","+pauses, stop),
		of(`{"functionCall":{"name":"todo_pause","willContinue":true}}`), of(`{"functionCall":{"partialArgs":[{"jsonPath":"$.reason","stringValue":"x"}]}}`, stop),
		of(`{"toolCall":{}},{"toolResponse":{}},{"executableCode":{}}`), `{"error":{"code":503}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`,
		of(says("todo_pause('"+wiretest.Blocked+"')"), stop), of(says("Cut"), `"finishReason":"MAX_TOKENS"`, `"groundingMetadata":{"a":1}`), `{"candidates":[{},{}]}`,
	}
	all := []string{"", ": ping\n\n", "data: [DONE]\n\n", whole(chunks), strings.ReplaceAll(whole(chunks), "\r", "")}
	for _, c := range chunks {
		all = append(all, whole([]string{c}), whole([]string{`{"response":` + c + `,"traceId":"t"}`}), "data: "+c)
	}
	return all
}

// BenchmarkHostile reads and shows chunks of many members, parts or counts: the throughput must not fall with the size.
func BenchmarkHostile(b *testing.B) {
	for name, chunk := range map[string]func(n int) string{
		"parts":  func(n int) string { return of(strings.Repeat(says("a")+",", n)+edits, stop) },
		"pauses": func(n int) string { return of(strings.Repeat(signed(pauses, "s")+",", n)+edits, stop) },
		"members": func(n int) string {
			return `{` + strings.Repeat(`"usageMetadata":{},"candidates":[],`, n) + of(says("a"), stop)[1:]
		},
		"counts": func(n int) string {
			return withUsage(of(says("a"), stop), `{`+strings.Repeat(`"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":1}],`, n)+`"x":1}`)
		},
		"modalities": func(n int) string {
			return withUsage(of(says("a"), stop), `{"candidatesTokensDetails":[`+strings.Repeat(`{"modality":"TEXT","tokenCount":1},`, n)+`{}]}`)
		},
	} {
		for _, n := range []int{1 << 8, 1 << 14} {
			texts := []string{whole([]string{of(says(wiretest.Plan), stop)}), whole([]string{chunk(n)}), ""}
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(texts[1])))
				for b.Loop() {
					ask{attempts: 1}.from(b, &streams{texts: texts})
				}
			})
		}
	}
}
