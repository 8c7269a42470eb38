package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// Not parallel: allocations are counted in the whole process.
func TestRelayAllocatesNothingPerChunk(t *testing.T) {
	allocations := func(chunks int, wrapped bool) float64 {
		config := scenario.Config("http://test", canned(strings.Join(eventsOf(chunks), "")))
		c := scenario.SDKClient(config)
		if wrapped {
			c = scenario.TypedStream.Client(config, middleware.New(scenario.TwoTodos()))
		}
		return measure.Allocations(func() {
			openAndRead(t, func() (scenario.Receiver, error) { return c.Stream(t.Context(), scenario.Request()) })
		})
	}
	added := func(chunks int) float64 { return allocations(chunks, true) - allocations(chunks, false) }
	// The one copy of the text grows in a few steps, and under the race detector
	// the SDK's own allocations vary; one for each chunk would be 256.
	assert.Less(t, added(320)-added(64), 128.0, "for 256 chunks more")
}

func TestRangeThatIsLeftEarlyClosesTheStream(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"One", "Four"} {
		s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
		s.Server.Append(scenario.ThreeTurns()...)
		got, err := s.TypedClient().CreateChatCompletionStream(s.Ctx, scenario.Request())
		require.NoError(t, err)
		var a scenario.Answer
		for chunk, err := range got.All() {
			require.NoError(t, err)
			a.Add(chunk)
			if strings.Contains(a.Text, word) {
				break
			}
		}
		assert.True(t, got.Outcome().Ended)
		assert.Zero(t, s.State(t).Claim)
		opened, closed := s.Transport.Bodies()
		assert.Equal(t, opened, closed)
	}
}

func TestPanicOfTheConsumerClosesTheStream(t *testing.T) {
	t.Parallel()
	s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
	s.Server.Append(scenario.ThreeTurns()...)
	got, err := s.TypedClient().CreateChatCompletionStream(s.Ctx, scenario.Request())
	require.NoError(t, err)
	var a scenario.Answer
	require.Panics(t, func() {
		for chunk, err := range got.All() {
			require.NoError(t, err)
			a.Add(chunk)
			if strings.Contains(a.Text, "Four") {
				panic("consumer")
			}
		}
	})
	assert.True(t, got.Outcome().Ended)
	assert.Zero(t, s.State(t).Claim)
}

func TestHeadersAreThoseOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos())
		s.Server.Append(fakellm.Text(scenario.Plan).Header("X-Request-Id", "one").Header("X-Ratelimit-Remaining-Requests", "9"),
			scenario.Edit().Header("X-Request-Id", "two"), fakellm.Text(scenario.Plan).Header("X-Request-Id", "three"),
			scenario.Edit().Header("X-Request-Id", "four"))
		got, err := scenario.Open(s.Ctx, s.Client, scenario.Request())
		require.NoError(t, err)
		_, err = scenario.ReadAll(got)
		require.NoError(t, err)
		assert.Equal(t, "one", got.Header().Get("X-Request-Id"))
		assert.Equal(t, 9, got.GetRateLimitHeaders().RemainingRequests)

		response, err := s.Client.Complete(s.Ctx, scenario.Request())
		require.NoError(t, err)
		assert.Equal(t, "three", response.Header().Get("X-Request-Id"))
	})
}

// A stream of Wrap knows of everything that ends it. On the wire the SDK may fail, which shows when it closes the body.
func TestOutcomeOfAStreamIsFinalBeforeItIsClosed(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]fakellm.Turn{
		"whole": scenario.Edit(), "cut": scenario.Edit().CutAfter(2), "error": scenario.Edit().ErrorAfter(2, "overloaded"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos())
			s.Server.Append(turn)
			got, err := s.TypedClient().CreateChatCompletionStream(s.Ctx, scenario.Request())
			require.NoError(t, err)
			defer got.Close()
			for err == nil {
				_, err = got.Recv()
			}
			assert.True(t, got.Outcome().Ended)
		})
	}
}
