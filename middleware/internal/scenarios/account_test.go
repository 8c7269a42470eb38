package scenarios_test

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
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

// randomTurn returns a turn of any kind, the n-th of its script, and whether it
// ends well as a first turn.
func randomTurn(r *rand.Rand, n int) (fakellm.Turn, bool) {
	words := fakellm.Text(fmt.Sprintf("Some words of turn %d.", n))
	whole := []fakellm.Turn{
		words,
		words.With(fakellm.OneChunk),
		fakellm.Text(fmt.Sprintf("Blocked in turn %d. todo_pause('%s')", n, scenario.Blocked)),
		fakellm.Call("edit_file", `{"n":1}`),
		fakellm.Pause(scenario.Blocked),
		fakellm.Pause("stuck").AndText(fmt.Sprintf("Stuck in turn %d.", n)),
		fakellm.Pause("stuck").AndCall("edit_file", `{}`).AndText("Both.").With(fakellm.Interleaved),
	}
	broken := []fakellm.Turn{
		words.CutAfter(r.IntN(8)),
		words.ErrorAfter(r.IntN(8), "overloaded"),
		words.EndAfter(r.IntN(8)),
		fakellm.Call("edit_file", `{"n":1}`).AndText("Half.").CutAfter(r.IntN(8)),
		fakellm.Status(500, `{"error":{"message":"overloaded"}}`),
	}
	at := r.IntN(len(whole) + len(broken))
	if at < len(whole) {
		return whole[at], true
	}
	return broken[at-len(whole)], false
}

// randomScript returns as many turns as a call may need, and whether the first
// ends well.
func randomScript(r *rand.Rand) (turns []fakellm.Turn, well bool) {
	for n := range 6 {
		turn, ends := randomTurn(r, n)
		turns, well = append(turns, turn), well || n == 0 && ends
	}
	return turns, well
}

// play is a call of a random script, which ends in one of several ways.
type play struct {
	seed   uint64
	how    string // "whole", "close" or "cancel"
	mode   scenario.Mode
	events carryontest.Recorder
	asked  int  // requests that arrived
	first  bool // the caller's own turn is whole
	answer scenario.Answer
	claim  decision.Claim
}

func (p *play) run(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(p.seed, 1)) //nolint:gosec // repeatable is what it has to be
	turns, well := randomScript(r)
	server := fakellm.NewServer(t, turns...)
	p.first = well
	options := []middleware.Option{scenario.NoInterval(), middleware.WithObserver(p.events.Observer())}
	if r.IntN(2) == 0 {
		options = append(options, middleware.WithPauseTool(middleware.PauseToolAlways))
	}
	mw := middleware.New(scenario.TwoTodos(), options...)
	ctx := t.Context()
	if r.IntN(2) == 0 {
		ctx = continuation.WithSession(ctx, "s")
	}
	p.call(ctx, p.mode.MemoryClient(server, mw), r.IntN(20))
	p.asked = len(server.Requests())
	state, err := statetest.State(continuation.WithSession(ctx, "s"), mw)
	require.NoError(t, err)
	p.claim = state.Claim
}

func (p *play) call(ctx context.Context, c scenario.Client, leave int) {
	if p.how == "whole" {
		p.answer = p.mode.Call(ctx, c, scenario.Request())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := scenario.Open(ctx, c, scenario.RequestWithUsage())
	for i := 0; err == nil; i++ {
		switch {
		case i == leave && p.how == "close":
			_ = s.Close()
		case i == leave && p.how == "cancel":
			cancel()
		}
		var chunk openai.ChatCompletionStreamResponse
		chunk, err = s.Recv()
		if err == nil {
			p.answer.Add(chunk)
		}
	}
	if s.Receiver != nil {
		_ = s.Close()
	}
	if !errors.Is(err, io.EOF) {
		p.answer.Err = err
	}
	p.answer.Outcome = s.Outcomes.Last()
}

func TestEveryTurnIsAccountedFor(t *testing.T) {
	t.Parallel()
	scenario.InModes(t, scenario.TypedModes(), func(t *testing.T, m scenario.Mode) { requireEveryTurnAccountedFor(t, m, "whole") })
	for _, how := range []string{"close", "cancel"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			requireEveryTurnAccountedFor(t, scenario.TypedStream, how)
		})
	}
}

func requireEveryTurnAccountedFor(t *testing.T, m scenario.Mode, how string) {
	t.Helper()
	for seed := range uint64(200) {
		p := &play{seed: seed, how: how, mode: m}
		p.run(t)
		p.requireAccounts(t)
		if m.Streamed() && how == "whole" && p.first && p.answer.Err == nil {
			scenario.RequireWellFormed(t, p.answer)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %v, %q, %v", seed, p.answer.Err, p.answer.Text, p.answer.Outcome)
		}
	}
}

// requireAccounts checks that outcome, events and requests of a call agree.
func (p *play) requireAccounts(t *testing.T) {
	t.Helper()
	outcome := p.answer.Outcome
	started := carryontest.Recorded[middleware.ContinuationStarted](&p.events)
	assert.True(t, outcome.Ended)
	assert.Len(t, carryontest.Recorded[middleware.TurnEnded](&p.events), outcome.Turns)
	assert.Len(t, outcome.Usage, outcome.Turns)
	assert.Equal(t, outcome.Turns, p.asked)
	assert.Equal(t, outcome.Turns-1, outcome.Attempts)
	assert.Len(t, started, outcome.Attempts)
	assert.Len(t, continuationsEnded(&p.events), len(started))
	assert.Zero(t, p.claim, "the session is free")
	for n := range 6 {
		times := strings.Count(p.answer.Text, fmt.Sprintf("turn %d.", n))
		assert.LessOrEqual(t, times, 1, "no text is shown twice")
	}
}

func TestRoleThatComesWithAPauseIsKept(t *testing.T) {
	t.Parallel()
	const chunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	for _, reason := range []string{scenario.Blocked, "stuck"} {
		s := scenario.New(t, scenario.TypedStream, scenario.TwoTodos(), middleware.WithPauseTool(middleware.PauseToolAlways))
		call := `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"p","type":"function",` +
			`"function":{"name":"todo_pause","arguments":"{\"reason\":\"` + reason + `\"}"}}]}`
		got := s.Ask(fakellm.Chunks(
			fmt.Sprintf(chunk, call, "null"), fmt.Sprintf(chunk, "{}", `"tool_calls"`)), scenario.Edit())

		require.NoError(t, got.Err)
		require.NotEmpty(t, got.Chunks)
		assert.Equal(t, openai.ChatMessageRoleAssistant, got.Chunks[0].Choices[0].Delta.Role)
		assert.Empty(t, got.Chunks[0].Choices[0].Delta.ToolCalls)
		scenario.RequireWellFormed(t, got)
	}
}
