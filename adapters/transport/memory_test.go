package transport_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A body gets memory for the bytes that have arrived, not for the announced length.
func TestMemoryGrowsAsBytesCome(t *testing.T) { //nolint:paralleltest // measures memory
	rt := func(answer string, length int64) http.RoundTripper {
		return transport.New(wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, r.Body)
			response := wiretest.Answered(r, answer)
			response.ContentLength = length
			return response, err
		}), wiretest.OneContinuation(wiretest.TwoTodos))
	}
	const lie, little = transport.MaxBody, 256 << 10
	request := func() *http.Request {
		r := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(false))
		r.GetBody = nil
		return r
	}
	used := measure.Allocated(func() {
		r := request()
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF))), lie
		_, err := rt("{}", -1).RoundTrip(r)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
	assert.Less(t, used, uint64(little), "of a request")
	used = measure.Allocated(func() {
		response, err := rt("{", lie).RoundTrip(request())
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	})
	assert.Less(t, used, uint64(little), "of an answer")
}

// A body passes whole, whatever its length and the announced length.
func TestBodiesOfAnyLengthPass(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 511, 512, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300_000, transport.MaxBody, transport.MaxBody + 1}
	if !measure.RaceDetector { // which makes large ones slow
		sizes = append(sizes, transport.MaxBody+1<<20)
	}
	for _, size := range sizes {
		text := `{"x":"` + strings.Repeat("x", max(size-8, 0)) + `"}`
		text = text[:min(size, len(text))]
		for _, length := range []int64{-1, int64(size), int64(size / 2), int64(2*size + 1)} {
			if size > 1<<20 && length != int64(size) && (length != -1 || measure.RaceDetector) {
				continue
			}
			var sent int64
			rt := transport.New(wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				n, err := io.Copy(io.Discard, r.Body)
				sent = n
				response := wiretest.Answered(r, text)
				response.ContentLength = length
				return response, err
			}), middleware.New(todo.Static()))
			r := wiretest.NewChatRequest(t, t.Context(), "http://model.test/v1", wiretest.ChatBody(false))
			r.GetBody, r.ContentLength, r.Body = nil, length, io.NopCloser(strings.NewReader(text))
			response, err := rt.RoundTrip(r)
			require.NoError(t, err)
			got, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, int64(size), sent)
			assert.Zero(t, strings.Compare(text, string(got)), "%d bytes of which %d were announced", size, length)
		}
	}
}

// Names of sessions come from headers, too. However long they are, little of them is kept, and no two are mixed up.
func TestLongNamesOfSessionsAreNotKept(t *testing.T) { //nolint:paralleltest // measures memory
	const calls, size = 50, 900 << 10
	tasks := middleware.New(todo.Static(todo.Todo{ID: "1", Content: "Write the parser", Status: todo.InProgress}), wiretest.Unhurried, wiretest.Unattended)
	name := func(i int) string { return strings.Repeat("x", size) + string(rune('a'+i)) }
	ask := func(i int) {
		asked := 0
		rt := transport.New(wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			return wiretest.Answered(r, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), r.Body.Close()
		}), tasks)
		ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), name(i)))
		response, err := rt.RoundTrip(wiretest.NewChatRequest(t, ctx, "http://model.test/v1", wiretest.ChatBody(false)))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, 3, asked, "each has a budget of its own")
		assert.LessOrEqual(t, len(outcomes.Last().Session), 128)
	}
	ask(0)
	before := measure.Live()
	for i := 1; i < calls; i++ {
		ask(i)
		ctx := continuation.WithSession(t.Context(), name(i))
		require.NoError(t, tasks.Settings().SetTodoContinuation(t.Context(), name(i), false))
		values, err := tasks.Settings().Load(t.Context(), continuation.Session(ctx))
		require.NoError(t, err)
		assert.False(t, values.TodoContinuation)
	}
	values, err := tasks.Settings().Load(t.Context(), name(0))
	require.NoError(t, err)
	assert.True(t, values.TodoContinuation)
	assert.Less(t, measure.Live()-before, int64(2*size))
	runtime.KeepAlive(tasks)
}
