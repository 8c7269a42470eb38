package protocols_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// working are requests of a user turn that has called a tool.
func (s *speaker) working(stream bool) string {
	switch s {
	case chatSpeaker:
		return fmt.Sprintf(`{"model":"m","stream":%t,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[`+
			`{"id":"c","type":"function","function":{"name":"edit_file","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}],`+
			`"tools":[{"type":"function","function":{"name":"edit_file","parameters":{"type":"object"}}}]}`, stream)
	case messagesSpeaker:
		return fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":9,"stream":%t,"messages":[{"role":"user","content":"Go."},`+
			`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"edit_file","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}],`+
			`"tools":[{"name":"edit_file","input_schema":{"type":"object"}}]}`, stream)
	case responsesSpeaker:
		return fmt.Sprintf(`{"model":"m","stream":%t,"store":false,"input":[{"role":"user","content":"Go."},`+
			`{"type":"function_call","call_id":"c","name":"edit_file","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"ok"}],`+
			`"tools":[{"type":"function","name":"edit_file","parameters":{"type":"object","properties":{}}}]}`, stream)
	}
	return `{"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"functionCall":{"name":"edit_file","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"edit_file","response":{"r":"ok"}}}]}],"tools":[{"functionDeclarations":[{"name":"edit_file"}]}]}`
}

// checked is an exchange with a check: each byte that was shown, with its time.
type checked struct {
	exchanged
	pieces []piece
	asked  int
}

type piece struct {
	text string
	at   time.Duration
}

// check has the model answer a call, with a check that takes its time. The check fails as
// often as there are answers but the last.
func (s *speaker) check(t *testing.T, stream bool, takes time.Duration, answers ...answerFunc) checked {
	t.Helper()
	var got checked
	base := &answering{t: t, answers: answers, kind: "text/event-stream"}
	path := s.path
	if !stream {
		base.kind, path = "application/json", s.unaryPath
	}
	ctx, outcomes := middleware.Capture(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test"+path, strings.NewReader(s.working(stream)))
	require.NoError(t, err)
	mw := middleware.New(todo.FromConversation(), wiretest.Continuations(3), middleware.WithCheck(func(ctx context.Context, _ middleware.NextTurn) error {
		got.asked++
		fails := got.asked < len(answers)
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return ctx.Err()
		}
		if fails {
			return &middleware.Unmet{Name: "make test", Text: "FAIL"}
		}
		return nil
	}))
	began := time.Now()
	response, err := transport.New(base, mw).RoundTrip(r)
	require.NoError(t, err)
	buffer := make([]byte, 1<<16)
	for err == nil {
		var n int
		n, err = response.Body.Read(buffer)
		got.pieces = append(got.pieces, piece{string(buffer[:n]), time.Since(began)})
		got.shown += string(buffer[:n])
	}
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, response.Body.Close())
	synctest.Wait()
	got.requests, got.outcome = base.asked, outcomes.Last()
	return got
}

// While a check runs, a stream shows events that its protocol has and clients pass over.
func TestStreamIsKeptAliveWhileACheckRuns(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			got := s.check(t, true, 45*time.Second, whole(s.stream(1, stops, part{says, "Done."})), whole(s.stream(2, stops, part{says, "Mended."})))
			joined := s.readStream(t, got.shown)
			assert.True(t, joined.isWhole)
			assert.Equal(t, "Done.Mended.", strings.ReplaceAll(joined.text, "\n", ""))
			assert.Equal(t, reasons.CheckPassed, got.outcome.Reason)
			assert.Equal(t, 2, got.asked)
			beats := 0
			for i := 1; i < len(got.pieces); i++ {
				if got.pieces[i].at > got.pieces[i-1].at && got.pieces[i].at%(45*time.Second) != 0 {
					beats++
					assert.Empty(t, s.readStream(t, got.pieces[i].text).text)
					assert.NotContains(t, got.pieces[i].text, "\n:", "comments are no signs of life to all clients")
				}
			}
			if s == geminiSpeaker {
				assert.Zero(t, beats, "its clients lose answers by an empty part")
			} else {
				assert.Equal(t, 8, beats, "%+v", got.pieces)
			}
		})
	})
}

// Where nothing can be shown meanwhile, a check ends before clients give up. Elsewhere it
// takes its time.
func TestLongCheck(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			first := s.stream(1, stops, part{says, "Done."})
			got := s.check(t, true, 5*time.Minute, whole(first))
			if s == geminiSpeaker {
				assert.Equal(t, reasons.CheckUnknown, got.outcome.Reason)
				assert.Equal(t, 200*time.Second, got.pieces[len(got.pieces)-1].at)
				assert.Equal(t, first, got.shown)
				return
			}
			assert.Equal(t, reasons.CheckPassed, got.outcome.Reason)
			assert.Equal(t, "Done.", s.readStream(t, got.shown).text)
			assert.True(t, s.readStream(t, got.shown).isWhole)
		})
	})
}

// An answer whose check passes at once is the provider's own bytes.
func TestCheckThatPassesLeavesTheAnswerAsItCame(t *testing.T) {
	t.Parallel()
	inEveryProtocol(t, func(t *testing.T, s *speaker) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			for _, stream := range []bool{true, false} {
				answer := s.document(1, stops, part{says, "Done."})
				if stream {
					answer = s.stream(1, stops, part{says, "Done."})
				}
				got := s.check(t, stream, time.Second, whole(answer))
				assert.Equal(t, answer, got.shown)
				assert.Equal(t, reasons.CheckPassed, got.outcome.Reason)
			}
		})
	})
}
