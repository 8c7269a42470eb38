package transport_test

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
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// slow is an answer that begins after a delay and sends its words with a delay between them. The end of its request's
// ctx cuts it.
type slow struct {
	r           *http.Request
	first, each time.Duration
	rest        []string
	began       bool
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	wait := s.each
	if !s.began {
		s.began, wait = true, s.first
	}
	select {
	case <-time.After(wait):
	case <-s.r.Context().Done():
		return 0, s.r.Context().Err()
	}
	n := copy(p, s.rest[0])
	s.rest = s.rest[1:]
	return n, nil
}

func (s *slow) Close() error { return nil }

// pace is how slowly a turn is answered.
type pace struct{ first, each time.Duration }

// answerSlowly answers turn after turn, each at its own pace.
func answerSlowly(stream bool, turns ...pace) http.RoundTripper {
	asked := 0
	return wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		turn := turns[min(asked, len(turns)-1)]
		asked++
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
		words := []string{`{"choices":[{"message":{"content":"` + fmt.Sprint("Turn", asked) + `"},"finish_reason":"stop"}]}`}
		if stream {
			chunk := `data: {"id":"a","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}` + "\n\n"
			words = []string{
				fmt.Sprintf(chunk, fmt.Sprintf(`"content":"Turn%d"`, asked), "null"), fmt.Sprintf(chunk, `"content":"."`, "null"),
				fmt.Sprintf(chunk, "", `"stop"`) + doneMark,
			}
		}
		body := &slow{r: r, first: turn.first, each: turn.each, rest: words}
		if stream {
			return wiretest.Streamed(r, body), nil
		}
		response := wiretest.Answered(r, "")
		response.Body, response.ContentLength = body, -1
		return response, nil
	})
}

// The SDKs send how long they wait. A proxy has no other source for that. It returns the answer so far before they give
// up.
func TestTimeoutThatASDKTells(t *testing.T) {
	t.Parallel()
	const never = -1
	instant, slow := pace{}, pace{first: 5 * time.Second}
	for name, tt := range map[string]struct {
		language, timeout, read string
		stream                  bool
		second                  pace
		cut                     time.Duration // when the answer of turn 1 is all there is; never: the second comes, too
	}{
		"Go, whole":                      {"go", "2", "", false, slow, 1800 * time.Millisecond},
		"Go, streamed":                   {"go", "2", "", true, slow, 1800 * time.Millisecond},
		"Go, streamed at last":           {"go", "8", "", true, pace{time.Second, 4 * time.Second}, 7200 * time.Millisecond},
		"Go, in time":                    {"go", "20", "", true, slow, never},
		"Ruby":                           {"ruby", "2.0", "", true, slow, 1800 * time.Millisecond},
		"Java, both":                     {"java", "60", "3", true, slow, 2700 * time.Millisecond},
		"JavaScript, whole":              {"js", "2", "", false, slow, 1800 * time.Millisecond},
		"JavaScript, streamed":           {"js", "2", "", true, slow, never},
		"Python, whole":                  {"python", "", "2.0", false, slow, 1800 * time.Millisecond},
		"Python, streamed":               {"python", "", "2", true, slow, 1800 * time.Millisecond},
		"Python, a pause in the middle":  {"python", "", "4", true, pace{time.Second, 5 * time.Second}, 4600 * time.Millisecond},
		"Python, slow but steady":        {"python", "", "4", true, pace{3 * time.Second, 3 * time.Second}, never},
		"Python, with the other, too":    {"python", "2", "600", true, slow, 1800 * time.Millisecond},
		"Google, streamed":               {"google", "2", "", true, slow, 1800 * time.Millisecond},
		"Google, whole":                  {"google", "2", "", false, slow, 1800 * time.Millisecond},
		"nothing told":                   {"python", "", "", true, slow, never},
		"nothing that can be understood": {"go", "soon", "-1", false, slow, never},
		"less than a second":             {"go", "0", "NaN", false, slow, never},
		"milliseconds":                   {"js", "600000", "Inf", false, slow, never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), "s"))
				mw := wiretest.OneContinuation(wiretest.TwoTodos)
				r := wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(tt.stream))
				for header, value := range map[string]string{"Lang": tt.language, "Timeout": tt.timeout, "Read-Timeout": tt.read} {
					if value != "" {
						r.Header.Set("X-Stainless-"+header, value)
					}
				}
				if tt.language == "google" {
					r.Header = http.Header{"Content-Type": r.Header["Content-Type"], "X-Server-Timeout": {tt.timeout}}
				}
				began := time.Now()
				response, err := transport.New(answerSlowly(tt.stream, instant, tt.second), mw).RoundTrip(r)
				require.NoError(t, err)
				got, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				assert.Contains(t, string(got), "Turn1")
				assert.Equal(t, 1, strings.Count(string(got), `"stop"`))
				if tt.cut == never {
					assert.Contains(t, string(got), "Turn2")
					return
				}
				assert.Equal(t, tt.cut, time.Since(began))
				assert.Equal(t, reasons.Failed, outcomes.Last().Reason)
				state, err := statetest.State(ctx, mw)
				require.NoError(t, err)
				assert.Equal(t, decision.ResultTimeout, state.LastResult)
			})
		})
	}
}

// A client's timeout never cuts the caller's own turn. If it has passed when that turn ends, there is no continuation.
func TestToldTimeoutLeavesTheCallersOwnTurnAlone(t *testing.T) {
	t.Parallel()
	for _, told := range []string{"header", "ctx"} {
		for _, stream := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				ctx, outcomes := middleware.Capture(t.Context())
				if told == "ctx" {
					ctx = continuation.WithDeadline(continuation.WithDeadline(ctx, time.Now().Add(2*time.Second)), time.Now().Add(time.Hour))
				}
				r := wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(stream))
				if told == "header" {
					r.Header.Set("X-Stainless-Timeout", "2")
				}
				began := time.Now()
				response, err := transport.New(answerSlowly(stream, pace{time.Minute, time.Minute}), wiretest.OneContinuation(wiretest.TwoTodos)).RoundTrip(r)
				require.NoError(t, err)
				got, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				assert.Contains(t, string(got), `"stop"`)
				assert.GreaterOrEqual(t, time.Since(began), time.Minute)
				assert.Zero(t, outcomes.Last().Attempts)
				assert.Equal(t, 1, outcomes.Last().Turns)
			})
		}
	}
}

// A deadline from WithDeadline cuts a continuation like a deadline of the ctx itself.
func TestDeadlineThatEndsNoContext(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx := continuation.WithDeadline(t.Context(), time.Now().Add(10*time.Second))
			began := time.Now()
			response, err := transport.New(answerSlowly(stream, pace{}, pace{first: time.Hour}), wiretest.OneContinuation(wiretest.TwoTodos)).
				RoundTrip(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(stream)))
			require.NoError(t, err)
			got, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Contains(t, string(got), "Turn1")
			assert.Equal(t, 9*time.Second, time.Since(began))
			require.NoError(t, ctx.Err())
		})
	}
}

// The first event of an answer counts as its first chunk, although it says nothing.
func TestFirstEventIsTheFirstChunk(t *testing.T) {
	t.Parallel()
	for path, events := range map[string][]string{
		"/responses": {
			"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n",
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n",
		},
		"/messages": {
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
		},
		"/chat/completions": {
			"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n",
			"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
		},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				base := wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					return wiretest.Streamed(r, &slow{r: r, first: time.Second, each: time.Minute, rest: events}), r.Body.Close()
				})
				var times middleware.Times
				observer := middleware.Observer{TurnEnded: func(_ context.Context, e middleware.TurnEnded) { times = e.Times }}
				body := `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Go on."}],"input":"Go on.","tools":[{"type":"function","name":"edit_file"}]}`
				rt := transport.New(base, middleware.New(todo.Static(), middleware.WithObserver(observer)))
				request := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", body)
				request.URL.Path = "/v1" + path
				got := wiretest.ReadReply(rt.RoundTrip(request))
				require.NoError(t, got.Err)
				assert.Equal(t, strings.Join(events, ""), got.Body)
				assert.Equal(t, time.Second, times.FirstChunk.Sub(times.Began))
				assert.Equal(t, time.Second+time.Minute, times.Finished.Sub(times.Began))
			})
		})
	}
}
