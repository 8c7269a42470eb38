package messages_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// pieces gives a text in pieces of random sizes.
type pieces struct {
	text   string
	random *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.random.IntN(300))], p.text)
	p.text = p.text[n:]
	return n, nil
}

func inPieces(text string, seed uint64) io.Reader {
	return &pieces{text, rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // splits a text
}

// If carryon has nothing to do, any bytes pass unchanged.
func FuzzNothingToDo(f *testing.F) {
	for _, second := range seconds {
		f.Add(second, uint64(1))
	}
	f.Add(first, uint64(2))
	f.Fuzz(func(t *testing.T, answer string, seed uint64) {
		if strings.Contains(answer, "\xef\xbb\xbf") {
			return
		}
		base := &wiretest.Replay{Answers: []io.Reader{inPieces(answer, seed)}}
		response, err := transport.New(base, middleware.New(todo.Static())).RoundTrip(request(t, ask{}.body(true)))
		require.NoError(t, err)
		got, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, answer, string(got))
	})
}

// Whatever a second turn sends, in any pieces, the first stays unchanged, and
// the joined answer is complete or an error.
func FuzzSecondTurn(f *testing.F) {
	for _, second := range seconds {
		f.Add(second, uint64(1))
	}
	turn1 := first[:strings.Index(first, "event: message_delta")]
	f.Fuzz(func(t *testing.T, second string, seed uint64) {
		got, _, err := replayed(t, strings.NewReader(first), strings.NewReader(second))
		split, _, splitErr := replayed(t, inPieces(first, seed), inPieces(second, seed))
		require.Equal(t, err == nil, splitErr == nil)
		require.Equal(t, got, split, "any split of the same bytes gives the same")
		require.True(t, strings.HasPrefix(got, turn1))
		if err == nil {
			require.Equal(t, 1, strings.Count(got, "event: message_start\n"))
			require.Equal(t, 1, strings.Count(got, "event: message_delta\n"))
			require.True(t, strings.HasSuffix(got, event("message_stop", "")))
		}
	})
}

// Any JSON instead of a whole answer or a request does no harm.
func FuzzWholeAnswers(f *testing.F) {
	const whole = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Next."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`
	f.Add(ask{}.body(false), whole)
	f.Add(ask{messages: thinkingHistory}.body(false), strings.Replace(whole, `[{`, `[{"type":"tool_use","id":"t","name":"todo_pause","input":{}},{`, 1))
	f.Fuzz(func(t *testing.T, body, second string) {
		base := wiretest.ReplayOf(whole, second)
		base.Whole = true
		response, err := transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(request(t, body))
		require.NoError(t, err)
		got, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Contains(t, string(got), `{"type":"text","text":"Next."}`)
	})
}
