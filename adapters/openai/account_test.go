package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// randomTurn returns a turn of any kind, the n-th of its script, and whether it
// ends well if it is the first.
func randomTurn(r *rand.Rand, n int) (carryontest.Turn, bool) {
	words := carryontest.Text(fmt.Sprintf("Some words of turn %d.", n))
	whole := []carryontest.Turn{
		words,
		words.OneChunk(),
		carryontest.Text(fmt.Sprintf("Blocked in turn %d. todo_pause('%s')", n, blocked)),
		carryontest.Call("edit_file", `{"n":1}`),
		carryontest.Pause(blocked),
		carryontest.Pause("stuck").AndText(fmt.Sprintf("Stuck in turn %d.", n)),
		carryontest.Pause("stuck").AndCall("edit_file", `{}`).AndText("Both.").Interleaved(),
	}
	broken := []carryontest.Turn{
		words.CutAfter(r.IntN(8)),
		words.ErrorAfter(r.IntN(8), "overloaded"),
		words.EndAfter(r.IntN(8)),
		carryontest.Call("edit_file", `{"n":1}`).AndText("Half.").CutAfter(r.IntN(8)),
		carryontest.Status(500, `{"error":{"message":"overloaded"}}`),
	}
	at := r.IntN(len(whole) + len(broken))
	if at < len(whole) {
		return whole[at], true
	}
	return broken[at-len(whole)], false
}

// randomScript returns as many turns as a call may need, and whether the first
// ends well.
func randomScript(r *rand.Rand) (turns []carryontest.Turn, well bool) {
	for n := range 6 {
		turn, ends := randomTurn(r, n)
		turns, well = append(turns, turn), well || n == 0 && ends
	}
	return turns, well
}

// play is a random script, played to a call that ends in one of several ways.
type play struct {
	seed   uint64
	how    string // "whole", "close" or "cancel"
	mode   mode
	events recorder
	asked  int  // requests that arrived
	first  bool // the caller's own turn is whole
	answer answer
	claim  continuation.Claim
}

func (p *play) run(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(p.seed, 1)) //nolint:gosec // repeatable is what it has to be
	turns, well := randomScript(r)
	server := carryontest.NewServer(t, turns...)
	p.first = well
	options := []middleware.Option{unhurried, middleware.WithObserver(p.events.observer())}
	if r.IntN(2) == 0 {
		options = append(options, middleware.WithPauseTool(middleware.Always))
	}
	mw := middleware.New(twoTodos, options...)
	ctx := t.Context()
	if r.IntN(2) == 0 {
		ctx = continuation.WithSession(ctx, "s")
	}
	p.call(ctx, p.mode.clientIn(server, mw), r.IntN(20))
	p.asked = len(server.Requests())
	state, err := mw.State(continuation.WithSession(ctx, "s"))
	require.NoError(t, err)
	p.claim = state.Claim
}

func (p *play) call(ctx context.Context, c client, leave int) {
	if p.how == "whole" {
		p.answer = p.mode.call(ctx, c, ask())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := open(ctx, c, withUsage())
	for i := 0; err == nil; i++ {
		switch {
		case i == leave && p.how == "close":
			_ = s.Close()
		case i == leave && p.how == "cancel":
			cancel()
		}
		var chunk openai.ChatCompletionStreamResponse
		if chunk, err = s.Recv(); err == nil {
			p.answer.add(chunk)
		}
	}
	if s.receiver != nil {
		_ = s.Close()
	}
	if !errors.Is(err, io.EOF) {
		p.answer.Err = err
	}
	p.answer.Outcome = s.outcomes.Last()
}

func TestEveryTurnIsAccountedFor(t *testing.T) {
	t.Parallel()
	inModes(t, allModes, func(t *testing.T, m mode) { requireEveryTurnAccountedFor(t, m, "whole") })
	for _, how := range []string{"close", "cancel"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			inModes(t, streamModes, func(t *testing.T, m mode) { requireEveryTurnAccountedFor(t, m, how) })
		})
	}
}

func requireEveryTurnAccountedFor(t *testing.T, m mode, how string) {
	t.Helper()
	for seed := range uint64(200) {
		p := &play{seed: seed, how: how, mode: m}
		p.run(t)
		p.requireAccounts(t)
		if m.streamed && how == "whole" && p.first && p.answer.Err == nil {
			requireWellFormed(t, p.answer)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %v, %q, %v", seed, p.answer.Err, p.answer.Text, p.answer.Outcome)
		}
	}
}

// requireAccounts checks that what was told of a call adds up.
func (p *play) requireAccounts(t *testing.T) {
	t.Helper()
	outcome := p.answer.Outcome
	started := recorded[middleware.ContinuationStarted](&p.events)
	assert.True(t, outcome.Ended)
	assert.Len(t, recorded[middleware.TurnEnded](&p.events), outcome.Turns)
	assert.Len(t, outcome.Usage, outcome.Turns)
	assert.Equal(t, outcome.Turns, p.asked)
	assert.Equal(t, outcome.Turns-1, outcome.Attempts)
	assert.Len(t, started, outcome.Attempts)
	assert.Len(t, recorded[middleware.ContinuationEnded](&p.events), len(started))
	assert.Zero(t, p.claim, "the session is free")
	for n := range 6 {
		said := strings.Count(p.answer.Text, fmt.Sprintf("turn %d.", n))
		assert.LessOrEqual(t, said, 1, "nothing is said twice")
	}
}

func TestRoleThatComesWithAPauseIsKept(t *testing.T) {
	t.Parallel()
	const chunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	inModes(t, streamModes, func(t *testing.T, m mode) {
		for _, reason := range []string{blocked, "stuck"} {
			s := newScene(t, m, twoTodos, middleware.WithPauseTool(middleware.Always))
			call := `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"p","type":"function",` +
				`"function":{"name":"todo_pause","arguments":"{\"reason\":\"` + reason + `\"}"}}]}`
			got := s.ask(carryontest.Chunks(
				fmt.Sprintf(chunk, call, "null"), fmt.Sprintf(chunk, "{}", `"tool_calls"`)), edit())

			require.NoError(t, got.Err)
			require.NotEmpty(t, got.Chunks)
			assert.Equal(t, openai.ChatMessageRoleAssistant, got.Chunks[0].Choices[0].Delta.Role)
			assert.Empty(t, got.Chunks[0].Choices[0].Delta.ToolCalls)
			requireWellFormed(t, got)
		}
	})
}

// Not parallel: allocations are counted for the whole process.
func TestRelayAllocatesNothingPerChunk(t *testing.T) {
	allocations := func(chunks int, wrapped bool) float64 {
		config := configOf("http://test", canned(strings.Join(eventsOf(chunks), "")))
		c := bare(config)
		if wrapped {
			c = typedStream.client(config, middleware.New(twoTodos))
		}
		return testing.AllocsPerRun(5, func() {
			openAndRead(t, func() (receiver, error) { return c.stream(t.Context(), ask()) })
		})
	}
	added := func(chunks int) float64 { return allocations(chunks, true) - allocations(chunks, false) }
	// The one copy of the text grows in a few steps, and under the race detector
	// the SDK's own allocations vary; one for each chunk would be 960.
	assert.Less(t, added(1024)-added(64), 480.0, "for 960 chunks more")
}
