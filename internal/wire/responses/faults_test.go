package responses_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// secondTurns are continuations that the drills break.
var secondTurns = map[string]fakellm.Turn{
	"text":           fakellm.Text("The parser is written now.").Reasoning("Think it over."),
	"call":           wiretest.Edit().AndText("Now.").Reasoning("Do it."),
	"pause":          fakellm.Pause(wiretest.Blocked).AndText("It fails.").Reasoning("Hm."),
	"pause alone":    fakellm.Pause(wiretest.Blocked).Reasoning("Hm."),
	"pause and call": fakellm.Pause(wiretest.Blocked).AndCall("edit_file", "{}").Reasoning("Hm."),
	"printed pause":  fakellm.Text("It fails. todo_pause('" + wiretest.Blocked + "')"),
	"refusal":        fakellm.Turn{}.Refusal("I can't do that."),
	"cut short":      fakellm.Text("The parser is").Finish("length"),
}

// A continuation may break off anywhere. It does not change the turn before it,
// and the strictest client reads the answer, unless a part of a call was shown.
func TestResponsesContinuationThatBreaksOffAtAnyByte(t *testing.T) {
	t.Parallel()
	for name, second := range secondTurns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan).Reasoning("First."), second)
			for n := 0; n < len(all[1]); n += wiretest.OneIn(31) {
				checkBroken(t, all[0], all[1][:n], io.EOF)
				if n%13 == 0 {
					checkBroken(t, all[0], all[1][:n], wiretest.ErrLost)
				}
			}
		})
	}
}

// checkBroken checks the answer of two turns, the second of which breaks off
// with an error.
func checkBroken(t *testing.T, first, second string, end error) {
	t.Helper()
	turns := []io.Reader{strings.NewReader(first), io.MultiReader(strings.NewReader(second), iotest.ErrReader(end))}
	body, err := readVia(t, &wiretest.Replay{Answers: turns}, wiretest.TwoTodos)
	answer, problem := readResponses(body)
	require.NoError(t, problem, "%s: %s", second, body)
	require.NotEmpty(t, answer.texts())
	require.True(t, strings.HasPrefix(answer.texts()[0], wiretest.Plan))
	if len(answer.calls()) > 0 && answer.kind == "" {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	require.NotEmpty(t, answer.kind, body)
}

// readVia reads a streamed answer through the transport.
func readVia(t *testing.T, base http.RoundTripper, todos todo.Provider, opts ...middleware.Option) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://model.test/v1/responses", strings.NewReader(responsesBody(true)))
	require.NoError(t, err)
	response, err := transport.New(base, wiretest.OneContinuation(todos, opts...)).RoundTrip(r)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	return string(body), err
}

// The caller's own turn passes unchanged, wherever it breaks off.
func TestResponsesFirstTurnThatBreaksOffAtAnyByte(t *testing.T) {
	t.Parallel()
	whole := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan).Reasoning("Think first.").AndCall("edit_file", "{}"))[0]
	for n := 0; n < len(whole); n += wiretest.OneIn(7) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		r, err := http.NewRequestWithContext(s.Ctx, http.MethodPost, fakellm.BaseURL+"/responses", strings.NewReader(responsesBody(true)))
		require.NoError(t, err)
		require.Equal(t, whole[:n], s.Send(t, r, fakellm.Raw(whole[:n])).Body)
	}
}

// The answer is the same whatever the sizes of the pieces and of the reads.
func TestResponsesInPiecesOfAnySize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // splits a text
	for name, second := range secondTurns {
		all := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan).Reasoning("First."), second)
		var want string
		for i := range 30 {
			turns := []io.Reader{&randomPieces{all[0], random, i > 0}, &randomPieces{all[1], random, i > 0}}
			got, err := readVia(t, &wiretest.Replay{Answers: turns}, wiretest.TwoTodos)
			require.NoError(t, err)
			if i == 0 {
				want = got
				_, err := readResponses(want)
				require.NoError(t, err, name)
			}
			require.Equal(t, want, got, name)
		}
	}
}

// randomPieces gives a text whole, or in pieces of random sizes.
type randomPieces struct {
	text   string
	random *rand.Rand
	split  bool
}

// Read implements [io.Reader].
func (p *randomPieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := len(b)
	if p.split {
		n = min(n, 1+p.random.IntN(300))
	}
	n = copy(b[:n], p.text)
	p.text = p.text[n:]
	return n, nil
}

// FuzzResponses reads any two turns: with nothing to do the first is byte
// identical, and no input makes carryon panic.
func FuzzResponses(f *testing.F) {
	for _, second := range secondTurns {
		all := wiretest.Bytes(f, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan).Reasoning("First."), second)
		f.Add(all[0], all[1])
		f.Add(all[1], all[0])
		f.Add(strings.ReplaceAll(all[0], "\n", "\r\n"), all[1][:len(all[1])/2])
	}
	f.Add("event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"x\"}}\n\n", "data: {}\n\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, todos := range []todo.Provider{todo.Static(), wiretest.TwoTodos} {
			base := wiretest.ReplayOf(first, second, second, second)
			got, _ := readVia(t, base, todos)
			if base.Asked == 1 {
				assert.Equal(t, first, got)
			}
		}
	})
}

// Damaged answers cause no panic, in any mode.
func TestResponsesThatAreDamaged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // damages a text
	for name, second := range secondTurns {
		all := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan).Reasoning("First."), second)
		for i := range 400 / wiretest.OneIn(4) {
			first, second := damaged(all[i%3%2], random), damaged(all[1], random)
			var opts []middleware.Option
			if i%2 == 0 {
				opts = append(opts, middleware.WithPauseTool(middleware.PauseToolAlways))
			}
			base := wiretest.ReplayOf(first, second, second, second)
			got, _ := readVia(t, base, wiretest.TwoTodos, opts...)
			if base.Asked == 1 && len(opts) == 0 {
				require.Equal(t, first, got, name)
			}
		}
	}
}

// damaged returns a text in which some bytes are changed, missing or added.
func damaged(text string, random *rand.Rand) string {
	b := []byte(text)
	for range 1 + random.IntN(4) {
		i := random.IntN(len(b))
		switch random.IntN(3) {
		case 0:
			b[i] = byte(random.IntN(256))
		case 1:
			b = slices.Delete(b, i, min(len(b), i+random.IntN(20)))
		default:
			b = slices.Insert(b, i, []byte("{}")...)
		}
	}
	return string(b)
}

// Some gateways stream no call, and list it in the response object alone. A todo_pause
// there pauses, and is not shown.
func TestPauseThatIsOnlyListed(t *testing.T) {
	t.Parallel()
	all := wiretest.Bytes(t, "/responses", responsesBody(true), fakellm.Text(wiretest.Plan), fakellm.Pause(wiretest.Blocked).AndText("It fails."))
	var streamed strings.Builder
	for event := range strings.SplitAfterSeq(all[1], "\n\n") {
		if isCall := strings.Contains(event, "function_call"); !isCall || strings.Contains(event, `"response.completed"`) {
			streamed.WriteString(event)
		}
	}
	require.Contains(t, streamed.String(), "todo_pause")
	pauses := 0
	body, err := readVia(t, &wiretest.Replay{Answers: []io.Reader{strings.NewReader(all[0]), strings.NewReader(streamed.String())}}, wiretest.TwoTodos,
		middleware.WithObserver(middleware.Observer{PauseCalled: func(context.Context, middleware.PauseCalled) { pauses++ }}))
	require.NoError(t, err)
	assert.NotContains(t, body, `"todo_pause"`)
	answer, problem := readResponses(body)
	require.NoError(t, problem)
	assert.Empty(t, answer.calls())
	assert.Contains(t, strings.Join(answer.texts(), ""), "It fails.")
	assert.Equal(t, 1, pauses)
}
