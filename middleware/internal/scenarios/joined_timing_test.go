package scenarios_test

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// steppedStream is a stream of turns, each of whose chunks waits for a step.
type steppedStream struct {
	onWire bool
	mu     sync.Mutex
	chunks []chunk
	err    error
	steps  []chan struct{}
}

// chunksOf is how many chunks of each turn wait for a step.
const chunksOf = 6

func startStepped(t *testing.T, m scenario.Mode, turns ...fakellm.Turn) *steppedStream {
	t.Helper()
	g := &steppedStream{onWire: m.OnWire()}
	for i := range turns {
		for n := 1; n <= chunksOf; n++ {
			step := make(chan struct{})
			g.steps = append(g.steps, step)
			turns[i] = turns[i].GateAfter(n, step)
		}
	}
	server := fakellm.Start(turns...)
	t.Cleanup(server.Close)
	mw := middleware.New(scenario.TwoTodos(), scenario.Unattended(), scenario.AtMost(len(turns)-1))
	s, err := scenario.Open(t.Context(), m.MemoryClient(server, mw), scenario.RequestWithUsage())
	require.NoError(t, err)
	go func() {
		defer s.Close()
		for {
			c, err := s.Recv()
			g.mu.Lock()
			if err != nil {
				g.err = err
				g.mu.Unlock()
				return
			}
			g.chunks = append(g.chunks, c)
			g.mu.Unlock()
		}
	}()
	return g
}

// step lets the server send one more chunk, and returns everything received by the time that all goroutines wait again.
func (g *steppedStream) step() []string {
	close(g.steps[0])
	g.steps = g.steps[1:]
	return g.received()
}

// lastStep is step for the [DONE] of a turn, after which the wire waits a moment
// for the end of the body.
func (g *steppedStream) lastStep() []string {
	shown := g.step()
	if !g.onWire {
		return shown
	}
	<-time.After(50 * time.Millisecond)
	return g.received()
}

func (g *steppedStream) received() []string {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return showAll(g.chunks)
}

func TestNothingIsDelayedButTheEnding(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		g := startStepped(t, m, fakellm.Pieces("One ", "two."), fakellm.Pieces("Three ", "four."))
		shown := []string{"role"}
		assert.Equal(t, shown, g.received(), "role of turn 1")
		for _, text := range []string{`"One "`, `"two."`} {
			shown = append(shown, text)
			assert.Equal(t, shown, g.step())
		}
		assert.Equal(t, shown, g.step(), "finish of turn 1")
		assert.Equal(t, shown, g.step(), "usage of turn 1")
		assert.Equal(t, shown, g.lastStep(), "DONE of turn 1, and role of turn 2")
		g.steps = g.steps[1:] // the one after the last chunk: nobody reads on
		for _, text := range []string{`"\n\nThree "`, `"four."`} {
			shown = append(shown, text)
			assert.Equal(t, shown, g.step())
		}
		assert.Equal(t, shown, g.step(), "finish of turn 2")
		assert.Equal(t, shown, g.step(), "usage of turn 2")
		shown = append(shown, "finish stop", "usage 10/10/20 alone")
		assert.Equal(t, shown, g.lastStep(), "DONE of turn 2")
		assert.Equal(t, io.EOF, g.err)
	})
}

func TestTextOfTheFinishChunkIsShownBeforeTheDecisionEnds(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		g := startStepped(t, m, draft.With(fakellm.FinishWithText), done().With(fakellm.FinishWithText))
		assert.Equal(t, []string{"role"}, g.received())
		assert.Equal(t, draftShown, g.step(), "text and finish of turn 1")
		assert.Equal(t, draftShown, g.step(), "usage of turn 1")
		assert.Equal(t, draftShown, g.lastStep(), "DONE of turn 1, and role of turn 2")
		g.steps = g.steps[chunksOf-3:]
		assert.Equal(t, concat(draftShown, doneShown[:1]), g.step(), "text and finish of turn 2")
		assert.Equal(t, concat(draftShown, doneShown[:1]), g.step(), "usage of turn 2")
		assert.Equal(t, concat(draftShown, doneShown), g.lastStep(), "DONE of turn 2")
		assert.Equal(t, io.EOF, g.err)
	})
}

func TestUncontinuedEndingIsNotDelayed(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		step := make(chan struct{})
		server := fakellm.Start(draft.Finish("length").GateAfter(3, step))
		t.Cleanup(server.Close)
		s, err := scenario.Open(t.Context(), m.MemoryClient(server, middleware.New(scenario.TwoTodos())),
			scenario.RequestWithUsage())
		require.NoError(t, err)
		defer s.Close()
		for _, want := range concat(draftShown, []string{"finish length"}) {
			c, err := s.Recv()
			require.NoError(t, err)
			assert.Equal(t, want, show(c))
		}
		close(step)
	})
}

func TestSilenceAfterTheFinishOfTheFirstTurnIsNotWaitedOutLong(t *testing.T) {
	t.Parallel()
	scenario.InBubbles(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
		began := time.Now()
		got := joinOn(t.Context(), m, pair(draft.HangAfter(3), done().HangAfter(3)))
		require.NoError(t, got.Err)
		assert.Equal(t, concat(draftShown, []string{`"\n\nDone."`, "finish stop"}), showAll(got.Chunks))
		assert.Equal(t, 4*time.Second, time.Since(began), "two seconds for each turn")
	})
}
