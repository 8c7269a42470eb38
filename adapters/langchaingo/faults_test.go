package langchaingo_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/faults"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/middleware"
)

var sample = flag.Int("sample", 16, "have answers fail at one in so many offsets; 1 is every byte")

// An answer may fail at any byte and in any way: a program reads a correct answer or an error, and nothing is left
// open. The model's client hides some failures, and loses an answer after others. carryon takes what the client returns
// as true, so that it is never worse than the client alone.
func TestAnswersThatFailAnywhere(t *testing.T) {
	t.Parallel()
	for _, framing := range slices.Concat(faults.Streams(), faults.Wholes()) {
		t.Run(framing.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				offsets := 0
				for _, drill := range faults.Drills(framing) {
					offsets += failEverywhere(t, drill)
				}
				t.Log(offsets, "offsets")
			})
		})
	}
}

// failEverywhere plays a drill at its offsets, and returns their number.
func failEverywhere(t *testing.T, d faults.Drill) int {
	t.Helper()
	mw := middleware.New(twoTodos, onceMore)
	line := newLine(t, mw, d)
	first := line.alone(t.Context(), d.First())
	understood := line.understands(t.Context())
	offsets := d.Offsets(*sample)
	for _, at := range offsets {
		ctx := continuation.WithSession(t.Context(), strconv.Itoa(at))
		bare := line.alone(ctx, d.Alone(at))
		upstream := d.Upstream(at)
		got := line.carried(ctx, upstream)
		synctest.Wait()
		try := faults.Try{At: at, Understood: understood, Got: got.reading(), Without: bare.reading(), ThroughClient: true}
		require.NoError(t, d.JudgeAll(try, upstream))
		if upstream.Asked() == 1 {
			require.Equal(t, bare.answer, got.answer)
		} else {
			got.requireOneStory(t, first.answer)
		}
		state, err := mw.State(ctx)
		require.NoError(t, err)
		require.False(t, state.Active, "the session is left active")
	}
	return len(offsets)
}

// On a real connection, a reset is a reset of TCP.
func TestConnectionsThatAreReset(t *testing.T) {
	t.Parallel()
	for _, drills := range faults.Resets() {
		t.Run(drills[0].Framing.Name, func(t *testing.T) {
			t.Parallel()
			base := new(http.Transport)
			t.Cleanup(base.CloseIdleConnections)
			for _, drill := range drills {
				mw := middleware.New(twoTodos, onceMore)
				line := newLine(t, mw, drill)
				first, understood := line.alone(t.Context(), drill.First()), line.understands(t.Context())
				for _, at := range drill.Offsets(8) {
					ctx := continuation.WithSession(t.Context(), strconv.Itoa(at))
					upstream := drill.Upstream(at)
					got := line.served(ctx, upstream, base)
					bare := func(at int) quirks.Reading { return line.alone(ctx, drill.Alone(at)).reading() }
					try := faults.Try{
						At: at, Understood: understood, Got: got.reading(), Without: bare(at), Asked: upstream.Asked(), ThroughClient: true,
					}
					require.NoError(t, drill.JudgeReset(try, bare))
					got.requireOneStory(t, first.answer)
				}
			}
		})
	}
}

// line is a model whose client can be connected to one server after another.
type line struct {
	drill faults.Drill
	to    http.RoundTripper
	host  string // "" is as the request says
	bare  llms.Model
	model func() llms.Model // the bare one with carryon around it
}

func newLine(t *testing.T, mw *middleware.Middleware, d faults.Drill) *line {
	t.Helper()
	l := &line{drill: d}
	llm, err := openai.New(openai.WithToken("none"), openai.WithModel("test-model"),
		openai.WithBaseURL("http://upstream.test/v1"), openai.WithHTTPClient(&http.Client{Transport: l}))
	require.NoError(t, err)
	l.bare, l.model = llm, func() llms.Model { return carrylangchain.Wrap(llm, mw) }
	return l
}

// RoundTrip implements [http.RoundTripper].
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.host != "" {
		r = r.Clone(r.Context())
		r.URL.Host = l.host
	}
	return l.to.RoundTrip(r)
}

// alone makes a call to the bare model.
func (l *line) alone(ctx context.Context, upstream http.RoundTripper) *told {
	l.to = upstream
	return askModel(ctx, l.bare, l.drill.Framing.Whole)
}

// carried makes a call to the wrapped model.
func (l *line) carried(ctx context.Context, upstream http.RoundTripper) *told {
	l.to = upstream
	return askModel(ctx, l.model(), l.drill.Framing.Whole)
}

// served is carried over HTTP.
func (l *line) served(ctx context.Context, upstream http.Handler, base http.RoundTripper) *told {
	server := httptest.NewServer(upstream)
	defer server.Close()
	l.host = server.Listener.Addr().String()
	defer func() { l.host = "" }()
	return l.carried(ctx, base)
}

// understands reports whether the client reads the failing answer correctly when it is complete.
func (l *line) understands(ctx context.Context) bool {
	return assert.ObjectsAreEqual(l.drill.Means(), l.alone(ctx, l.drill.Untouched()).reading())
}

// told is what a program gets from a call: through its streaming function, if it has one, and in the answer.
type told struct {
	recording

	streamed bool
	answer   *llms.ContentResponse
	err      error
}

// askModel makes a call, streamed unless the answer is to come in one piece.
func askModel(ctx context.Context, model llms.Model, whole bool) *told {
	r := new(told)
	options := []llms.CallOption{withTools("edit_file", "run_tests", "todo_write")}
	r.streamed = !whole
	if r.streamed {
		options = append(options, r.option())
	}
	r.answer, r.err = model.GenerateContent(ctx, question(), options...)
	return r
}

// reading returns the program's reading: the streamed text, if the call streams, and the rest from the answer.
func (r *told) reading() quirks.Reading {
	text, _ := r.parts()
	if r.err != nil {
		return quirks.Reading{Text: text, Err: quirks.Problem(r.err)}
	}
	choice := r.answer.Choices[0]
	if !r.streamed {
		text = choice.Content
	}
	count := func(name string) int64 {
		n, _ := choice.GenerationInfo[name].(int)
		return int64(n)
	}
	reading := quirks.Reading{Text: text, Finish: choice.StopReason, Usage: quirks.Usage{
		Prompt: count("PromptTokens"), Completion: count("CompletionTokens"), Total: count("TotalTokens"),
	}}
	for _, call := range choice.ToolCalls {
		reading.Calls = append(reading.Calls, quirks.Call{
			ID: call.ID, Type: call.Type, Name: call.FunctionCall.Name, Arguments: call.FunctionCall.Arguments,
		})
	}
	return reading
}

// requireOneStory checks that the streamed text and the answer are the same. If the continuation fails, the answer is
// that of turn 1, with an error if a part of a call was streamed.
func (r *told) requireOneStory(t *testing.T, first *llms.ContentResponse) {
	t.Helper()
	text, calls := r.parts()
	for _, call := range calls {
		require.NotEqual(t, "todo_pause", call.FunctionCall.Name)
	}
	require.NotNil(t, r.answer)
	if r.err != nil || r.streamed && r.answer.Choices[0].Content != text {
		require.Equal(t, first, r.answer)
		require.Equal(t, r.err != nil, len(calls) > 0, "an error if calls were streamed, and only then: %v", r.err)
		return
	}
	if r.streamed {
		require.Equal(t, r.answer.Choices[0].ToolCalls, calls)
	}
}

// parts returns the streamed parts: the text, and the calls as the client joins them.
func (r *told) parts() (text string, calls []llms.ToolCall) {
	var b strings.Builder
	for _, chunk := range r.chunks {
		var parts []struct {
			ID, Type string
			Function llms.FunctionCall
		}
		if !strings.HasPrefix(chunk, "[{") || json.Unmarshal([]byte(chunk), &parts) != nil {
			b.WriteString(chunk)
			continue
		}
		for _, part := range parts {
			if last := len(calls) - 1; part.Type == "" && last >= 0 {
				calls[last].FunctionCall.Arguments += part.Function.Arguments
			} else {
				calls = append(calls, llms.ToolCall{ID: part.ID, Type: part.Type, FunctionCall: &part.Function})
			}
		}
	}
	return b.String(), calls
}
