package transport_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
)

// endpoints are those of the protocols, with a request for each, streamed or not.
var endpoints = map[string]func(stream bool) string{
	"/chat/completions": func(stream bool) string { return wiretest.ChatBody(stream) },
	"/responses":        func(stream bool) string { return responsesBody(stream) },
	"/messages": func(stream bool) string {
		return fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":9,"stream":%t,"messages":[{"role":"user","content":"Go."}],`+
			`"tools":[{"name":"edit_file","input_schema":{"type":"object"}}]}`, stream)
	},
}

// broken is the part of an answer that comes before its connection fails.
func broken(part string, end error) io.Reader {
	return io.MultiReader(strings.NewReader(part), iotest.ErrReader(end))
}

// replay answers one request after the other with a stream.
func replay(t *testing.T, path, body string, answers ...io.Reader) (shown string, sent int, outcome middleware.Outcome) {
	t.Helper()
	base := &wiretest.Replay{Answers: answers}
	ctx, outcomes := middleware.Capture(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test/v1"+path, strings.NewReader(body))
	require.NoError(t, err)
	clock := testclock.Option[middleware.Option](testclock.New())
	response, err := transport.New(base, middleware.New(wiretest.TwoTodos, wiretest.Unhurried, clock)).RoundTrip(r)
	require.NoError(t, err)
	got, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	if err != nil { // half a call
		require.Contains(t, string(got), "edit_file")
	}
	return string(got), base.Asked, outcomes.Last()
}

// A continuation whose connection fails is sent once more if nothing of it was
// shown yet, and otherwise not. The second try is shown as if there had been no
// first.
func TestContinuationThatBreaksOffIsSentOnceMore(t *testing.T) {
	t.Parallel()
	turns := []fakellm.Turn{
		wiretest.Edit().AndText("Now.").Reasoning("Do it."), wiretest.Edit(), fakellm.Text("Done.").Finish("length"), fakellm.Pause(wiretest.Blocked),
	}
	for path, bodyOf := range endpoints {
		for i, turn := range turns {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				body := bodyOf(true)
				all := answersOf(t, path, body, fakellm.Text(wiretest.Plan), turn)
				first, second := all[0], all[1]
				want, _, _ := replay(t, path, body, strings.NewReader(first), strings.NewReader(second))
				for _, end := range []error{io.EOF, errors.New("reset")} {
					again, once := 0, 0
					for n := 0; n < len(second); n += wiretest.OneIn(29) {
						got, sent, outcome := replay(t, path, body, strings.NewReader(first), broken(second[:n], end), strings.NewReader(second))
						switch {
						case sent == 3:
							again++
							require.Equal(t, want, got, "%d: %s", n, second[:n])
							require.NoError(t, outcome.Err)
							require.Equal(t, 3, outcome.Turns)
							require.Zero(t, once, "something was shown of less than this: %s", second[:n])
						case outcome.Err != nil:
							once++
						}
					}
					assert.Positive(t, again)
					assert.Equal(t, i < 3, once > 0, "a call of todo_pause is never shown")
				}
			})
		}
	}
}

// In any protocol, a provider may say in its header when to try again, or not
// to.
func TestProviderSaysWhenAContinuationIsSentOnceMore(t *testing.T) {
	t.Parallel()
	const aDay = "86400"
	failures := map[string]struct {
		status  int
		header  [2]string
		waits   time.Duration
		refuses bool
	}{
		"nothing":           {503, [2]string{}, 0, false},
		"seconds":           {429, [2]string{"Retry-After", "7"}, 7 * time.Second, false},
		"a date":            {503, [2]string{"Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"}, 9 * time.Second, false}, // a bubble's time
		"milliseconds":      {429, [2]string{"Retry-After-Ms", "1500"}, 1500 * time.Millisecond, false},
		"the past":          {429, [2]string{"Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT"}, 0, false},
		"garbage":           {429, [2]string{"Retry-After", "soon"}, 0, false},
		"negative":          {529, [2]string{"Retry-After", "-5"}, 0, false},
		"too long":          {429, [2]string{"Retry-After", "11"}, 0, true},
		"a day":             {429, [2]string{"Retry-After", aDay}, 0, true},
		"for ever":          {503, [2]string{"Retry-After", strings.Repeat(aDay, 99)}, 0, true},
		"no":                {503, [2]string{"X-Should-Retry", "false"}, 0, true},
		"yes":               {503, [2]string{"X-Should-Retry", "true"}, 0, false},
		"yes, to a refusal": {400, [2]string{"X-Should-Retry", "true"}, 0, true},
	}
	for path, body := range endpoints {
		for _, stream := range []bool{true, false} {
			for name, failure := range failures {
				t.Run(fmt.Sprint(path, " ", stream, " ", name), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						down := fakellm.Status(failure.status, `{"error":{"type":"overloaded_error","message":"Later."}}`)
						if failure.header[0] != "" {
							down = down.Header(failure.header[0], failure.header[1])
						}
						turns := []fakellm.Turn{fakellm.Text(wiretest.Plan), down.Header("Date", "")}
						if !failure.refuses {
							turns = append(turns, wiretest.Edit().AndText("Here it is."))
						}
						server := fakellm.NewServer(t, turns...)
						ctx, outcomes := middleware.Capture(t.Context())
						r, err := http.NewRequestWithContext(ctx, http.MethodPost, fakellm.BaseURL+path, strings.NewReader(body(stream)))
						require.NoError(t, err)
						began := time.Now()
						got := wiretest.ReadReply(transport.New(server.Transport(), middleware.New(wiretest.TwoTodos, wiretest.Unhurried)).RoundTrip(r))
						require.NoError(t, got.Err)
						assert.Contains(t, got.Body, "parser.")
						assert.Equal(t, failure.waits, time.Since(began))
						assert.Len(t, server.Requests(), len(turns))
						assert.Equal(t, failure.refuses, outcomes.Last().Err != nil)
						assert.Equal(t, !failure.refuses, strings.Contains(got.Body, "Here "))
					})
				})
			}
		}
	}
}

// answersOf returns the streamed answers of a server to one request after another.
func answersOf(t *testing.T, path, body string, turns ...fakellm.Turn) []string {
	t.Helper()
	server := fakellm.NewServer(t, turns...)
	var all []string
	for range turns {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fakellm.BaseURL+path, strings.NewReader(body))
		require.NoError(t, err)
		response, err := server.Transport().RoundTrip(r)
		require.NoError(t, err)
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		all = append(all, string(answer))
	}
	return all
}
