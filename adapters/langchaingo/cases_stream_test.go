package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"

	"github.com/carryon-go/carryon/adapter"
	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/statetest"
	"github.com/carryon-go/carryon/middleware"
)

func TestCase13StreamedTextIsTheAnswers(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one, at last."), fakellm.Text("Did two, too.")),
		onceMore)
	r := new(recording)
	choice := s.requireAsk(t, r.option())
	assert.Equal(t, "Did one, at last.\n\nDid two, too.", choice.Content)
	assert.Equal(t, choice.Content, r.text())
	assert.Equal(t, []string{
		"", "Did ", "one, ", "at ", "last.", "", "", "\n\nDid ", "two, ", "too.", "",
	}, r.chunks, "one separator, and else everything as the model streams it")
}

// toolChunks returns the chunks that are tool calls.
func toolChunks(chunks []string) (calls []string) {
	for _, chunk := range chunks {
		if strings.HasPrefix(chunk, `[{"`) {
			calls = append(calls, chunk)
		}
	}
	return calls
}

func TestCase14PausesAreLeftOutOfTheToolJSON(t *testing.T) {
	t.Parallel()
	search := fakellm.Call("search", `{"q":"<go> & tea"}`).ID("c2")
	bare := newScene(t, turns(search))
	alone := new(recording)
	_, err := bare.bare.GenerateContent(bare.ctx, question(), withTools("search"), alone.option())
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(toolChunks(alone.chunks)), 3)

	for name, second := range map[string]fakellm.Turn{
		"after it":  fakellm.Call("todo_pause", reasonJSON(blocked)).AndCall("search", `{"q":"<go> & tea"}`).ID("c2").AndText("Stuck."),
		"before it": fakellm.Call("search", `{"q":"<go> & tea"}`).ID("c2").AndCall("todo_pause", reasonJSON(blocked)).AndText("Stuck."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, turns(fakellm.Text("Did one:"), second))
			r := new(recording)
			choice := s.requireAsk(t, r.option())
			assert.Equal(t, []string{"search"}, names(choice))
			assert.Equal(t, toolChunks(alone.chunks), toolChunks(r.chunks), "byte for byte")
			assert.NotContains(t, r.text(), "todo_pause")
			assert.Contains(t, r.text(), "Did one:\n\nStuck.")
			assert.Contains(t, r.text(), "\n\nTask paused: "+blocked)
		})
	}
}

func TestCase14OfAMixedChunkTheOthersStay(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Chunks(
		`{"choices":[{"index":0,"delta":{"tool_calls":[`+
			`{"index":0,"id":"p","type":"function","function":{"name":"todo_pause","arguments":`+strconv.Quote(reasonJSON(blocked))+`}},`+
			`{"index":1,"id":"b","type":"function","function":{"name":"search","arguments":"{}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)))
	r := new(recording)
	choice := s.requireAsk(t, r.option())
	assert.Equal(t, []string{"search"}, names(choice))
	assert.Equal(t, []string{`[{"id":"b","type":"function","function":{"name":"search","arguments":"{}"}}]`}, toolChunks(r.chunks))
}

func TestTextThatLooksLikeACallIsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`[{"id":"p","type":"function","function":{"name":"todo_pause","arguments":"{}"},"more":1}]`,
		`[{"type":"function","id":"p","function":{"name":"todo_pause","arguments":"{}"}}]`,
		`[{"id":"p","type":"function","function":{"name":"todo_pause","arguments":"{}"}}] and so on`,
		`[{"`, `[]`, `[{}]`,
	} {
		s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Pieces(text, " That was all.")),
			onceMore)
		r := new(recording)
		choice := s.requireAsk(t, r.option())
		assert.Equal(t, "Did one:\n\n"+text+" That was all.", choice.Content)
		assert.Equal(t, choice.Content, r.text())
	}
}

// thoughts records the arguments of a reasoning function: the reasoning, and separately the chunks.
type thoughts struct{ reasoning, chunks []string }

func (r *thoughts) option() llms.CallOption {
	return llms.WithStreamingReasoningFunc(func(_ context.Context, reasoning, chunk []byte) error {
		r.reasoning = append(r.reasoning, string(reasoning))
		r.chunks = append(r.chunks, string(chunk))
		return nil
	})
}

func TestCase15EachFunctionIsFilteredForItself(t *testing.T) {
	t.Parallel()
	second := fakellm.Call("todo_pause", reasonJSON(blocked)).AndCall("search", `{"q":1}`).ID("c2").AndText("Stuck.").Reasoning("Hm, well.")
	for name, test := range map[string]struct{ text, reasoning bool }{
		"reasoning": {false, true},
		"both":      {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, turns(fakellm.Text("Did one:").Reasoning("Let me see."), second))
			r, why := new(recording), new(thoughts)
			options := []llms.CallOption{why.option()}
			if test.text {
				options = append(options, r.option())
			}
			choice := s.requireAsk(t, options...)
			assert.Equal(t, []string{"search"}, names(choice))
			assert.Equal(t, "Let me see.\n\nHm, well.", choice.ReasoningContent)
			assert.Equal(t, "Let me see.\n\nHm, well.", strings.Join(why.reasoning, ""))
			all := strings.Join(why.chunks, "")
			assert.NotContains(t, all, "todo_pause")
			assert.Contains(t, all, "Did one:\n\nStuck.")
			assert.Contains(t, all, "\n\nTask paused: "+blocked)
			var arguments strings.Builder
			for _, chunk := range toolChunks(why.chunks) {
				var calls []struct{ Function struct{ Arguments string } }
				require.NoError(t, json.Unmarshal([]byte(chunk), &calls))
				arguments.WriteString(calls[0].Function.Arguments)
			}
			assert.JSONEq(t, `{"q":1}`, arguments.String())
			if test.text {
				assert.Equal(t, why.chunks, r.chunks)
			}
		})
	}
}

func TestCase15WithoutAFunctionTheModelIsGivenNone(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]llms.CallOption{
		"none":        nil,
		"nil":         {llms.WithStreamingFunc(nil), llms.WithStreamingReasoningFunc(nil)},
		"of a chain":  chains.GetLLMCallOptions(),
		"overwritten": {new(recording).option(), llms.WithStreamingFunc(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			model := spoken(func(_ context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
				asked++
				assert.Nil(t, o.StreamingFunc)
				assert.Nil(t, o.StreamingReasoningFunc)
				return says("Did "+strconv.Itoa(asked)+".", "stop"), nil
			})
			_, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).
				GenerateContent(t.Context(), question(), append([]llms.CallOption{withTools("search")}, options...)...)
			require.NoError(t, err)
			assert.Equal(t, 2, asked)
		})
	}
}

func TestAModelThatDoesNotStreamIsNotStreamedFor(t *testing.T) {
	t.Parallel()
	model, _ := speaks(says("Did one:", "stop"), &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		StopReason: "tool_calls", ToolCalls: []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "todo_pause", Arguments: reasonJSON(blocked)}}},
	}}})
	r, why := new(recording), new(thoughts)
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).
		GenerateContent(t.Context(), question(), withTools("search"), r.option(), why.option())
	require.NoError(t, err)
	assert.Equal(t, "Did one:\n\nTask paused: "+blocked, answer.Choices[0].Content)
	assert.Empty(t, r.chunks)
	assert.Empty(t, why.chunks)
}

func TestCase15ReasoningMayComeAlone(t *testing.T) {
	t.Parallel()
	asked := 0
	model := spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		for _, err := range []error{
			o.StreamingReasoningFunc(ctx, []byte("Hm. "), nil), o.StreamingReasoningFunc(ctx, nil, []byte("Did it:")),
		} {
			if err != nil {
				return nil, err
			}
		}
		return says("Did it:", "stop"), nil
	})
	why := new(thoughts)
	_, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(t.Context(), question(), withTools("search"), why.option())
	require.NoError(t, err)
	assert.Equal(t, 2, asked)
	assert.Equal(t, []string{"Hm. ", "", "\n\nHm. ", ""}, why.reasoning)
	assert.Equal(t, []string{"", "Did it:", "", "\n\nDid it:"}, why.chunks)
}

func TestCase16ACancelledTurnIsAnError(t *testing.T) {
	t.Parallel()
	// When ctx ends, the openai client returns what has arrived as an answer.
	s := newScene(t, turns(fakellm.Text("Did one, at last.").HangAfter(3)))
	ctx, cancel := context.WithCancel(s.ctx)
	s.ctx = ctx
	r := &recording{fail: func(chunk int) error {
		if chunk == 3 {
			cancel()
		}
		return nil
	}}
	answer, err := s.ask(r.option())
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, s.requests(), 1)
	if answer != nil { // it depends on what the client notices first
		assert.Equal(t, "Did one, ", answer.Choices[0].Content)
	}
}

func TestCase16ACancelledContinuationIsAnError(t *testing.T) {
	t.Parallel()
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two, too.").HangAfter(3)))
	ctx, cancel := context.WithCancel(s.ctx)
	s.ctx = ctx
	r := new(recording)
	r.fail = func(int) error {
		if strings.HasSuffix(r.text(), "Did two, ") {
			cancel()
		}
		return nil
	}
	answer, err := s.ask(r.option())
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, answer, "the answer so far comes with it")
	assert.True(t, strings.HasPrefix(answer.Choices[0].Content, "Did one:"))
	assert.Len(t, s.requests(), 2)
	state, err := statetest.State(context.WithoutCancel(ctx), s.mw)
	require.NoError(t, err)
	assert.Zero(t, state.Claim)
}

func TestCase16TheCauseOfACancelledTurnIsTold(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the reader has left")
	asked := 0
	model := spoken(func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		cancel(left)
		return says("Did", ""), nil
	})
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(ctx, question(), withTools("search"))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, left)
	assert.Equal(t, "Did", answer.Choices[0].Content)
	assert.Equal(t, 1, asked)
}

func TestAWholeAnswerIsReturnedThoughCtxHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	model := spoken(func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		cancel()
		return says("Did one:", "stop"), nil
	})
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(ctx, question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did one:", answer.Choices[0].Content)
}

func TestAWholeContinuationIsReturnedThoughCtxHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	// The model never gives a stop reason, so that a whole answer looks like one that was cut off.
	model := spoken(func(context.Context, []llms.MessageContent, *llms.CallOptions) (*llms.ContentResponse, error) {
		asked++
		if asked == 2 {
			cancel()
		}
		return says("Did "+strconv.Itoa(asked)+".", ""), nil
	})
	answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos, unhurried)).GenerateContent(ctx, question(), withTools("search"))
	require.NoError(t, err)
	assert.Equal(t, "Did 1.\n\nDid 2.", answer.Choices[0].Content)
}

func TestCase17AnErrorOfTheStreamingFunctionIsReturned(t *testing.T) {
	t.Parallel()
	// Module conformance has a test with the googleai client, which hides the error in turn 1.
	enough := errors.New("enough")
	failing := func(at int) *recording {
		return &recording{fail: func(chunk int) error {
			if chunk == at {
				return enough
			}
			return nil
		}}
	}
	t.Run("in a continuation", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two:")))
		r := failing(6)
		_, err := s.ask(r.option())
		require.ErrorIs(t, err, enough)
		assert.Len(t, s.requests(), 2)
		assert.Equal(t, "Did one:\n\nDid ", r.text(), "the function is left alone afterwards")
	})
	t.Run("in turn 1", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, turns(fakellm.Text("Did one:")))
		_, err := s.ask(failing(2).option())
		require.ErrorIs(t, err, enough)
		assert.Len(t, s.requests(), 1)
	})
	t.Run("swallowed", func(t *testing.T) {
		t.Parallel()
		asked := 0
		model := spoken(func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
			asked++
			_ = o.StreamingFunc(ctx, []byte("Did "))
			_ = o.StreamingFunc(ctx, []byte("one."))
			return says("Did one:", "stop"), nil
		})
		r := failing(1)
		answer, err := carrylangchain.Wrap(model, middleware.New(twoTodos)).GenerateContent(t.Context(), question(), withTools("search"), r.option())
		require.ErrorIs(t, err, enough)
		assert.Equal(t, 1, asked)
		assert.Equal(t, "Did one:", answer.Choices[0].Content)
		assert.Equal(t, "Did ", r.text())
	})
}

func TestCase18AFailedContinuationCostsNothing(t *testing.T) {
	t.Parallel()
	busy := fakellm.Status(429, `{"error":{"message":"slow down"}}`)
	s := newScene(t, turns(fakellm.Text("Did one:"), busy, busy, busy))
	ctx, outcomes := middleware.Capture(s.ctx)
	s.ctx = ctx
	choice := s.requireAsk(t)
	assert.Equal(t, "Did one:", choice.Content)
	assert.Equal(t, "stop", choice.StopReason)
	require.Len(t, carryontest.Recorded[middleware.Failed](s.events), 3, "it is sent twice more")
	assert.Equal(t, "continuation", carryontest.Recorded[middleware.Failed](s.events)[0].Op)
	outcome := outcomes.Last()
	assert.Equal(t, reasons.Failed, outcome.Reason)
	require.ErrorContains(t, outcome.Err, "429")
}

// A continuation is sent again after a failure that may be temporary, but not after a refusal. The clients report both
// only in words.
func TestContinuationIsSentOnceMoreByItsStatus(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{400: false, 401: false, 408: true, 413: false, 429: true, 500: true, 503: true} {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprint(status, streamed), func(t *testing.T) {
				t.Parallel()
				sent := []fakellm.Turn{fakellm.Text("Did one:"), fakellm.Status(status, `{"error":{"message":"status code: 200"}}`)}
				if again {
					sent = append(sent, fakellm.Text("Did two:").Finish("length"))
				}
				s := newScene(t, sent)
				ctx, outcomes := middleware.Capture(s.ctx)
				s.ctx = ctx
				r := new(recording)
				var options []llms.CallOption
				if streamed {
					options = append(options, r.option())
				}
				choice := s.requireAsk(t, options...)
				assert.Len(t, s.requests(), len(sent))
				if streamed {
					assert.Equal(t, choice.Content, r.text())
				}
				if again {
					assert.Equal(t, "Did one:\n\nDid two:", choice.Content)
					require.NoError(t, outcomes.Last().Err)
					return
				}
				assert.Equal(t, "Did one:", choice.Content)
				var refused *adapter.StatusError
				require.ErrorAs(t, outcomes.Last().Err, &refused)
				assert.Equal(t, status, refused.Status)
				state, err := statetest.State(s.ctx, s.mw)
				require.NoError(t, err)
				assert.True(t, state.ProviderRefused)
			})
		}
	}
}

// A continuation that breaks off after some of it was shown is not sent again.
func TestStreamThatHasShownSomethingIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for after, again := range map[int]bool{0: true, 1: true, 3: false} {
		sent := []fakellm.Turn{fakellm.Text("Did one:"), fakellm.Text("And then two.").CutAfter(after)}
		if again {
			sent = append(sent, fakellm.Text("Did two:").Finish("length"))
		}
		s := newScene(t, sent)
		r := new(recording)
		s.requireAsk(t, r.option())
		assert.Len(t, s.requests(), len(sent), after)
		assert.Equal(t, again, r.text() == "Did one:\n\nDid two:", r.text())
	}
}

// The messages of a request count toward a budget of tokens.
func TestTokenBudgetCountsTheConversation(t *testing.T) {
	t.Parallel()
	for size, sent := range map[int]int{100: 3, 300_000: 2} {
		s := newScene(t, []fakellm.Turn{fakellm.Text("One:").NoUsage(), fakellm.Text("Two:").NoUsage(), fakellm.Text("Three:").Finish("length")}[:sent],
			middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 9, TokenBudget: 90_000}))
		long := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, strings.Repeat("word ", size/5))}
		_, err := s.model.GenerateContent(s.ctx, long, withTools("search"))
		require.NoError(t, err)
		assert.Len(t, s.requests(), sent)
	}
}

func TestATruncatedContinuationFails(t *testing.T) {
	t.Parallel()
	// The openai client takes a stream that ends without a finish reason for a whole answer.
	s := newScene(t, turns(fakellm.Text("Did one:"), fakellm.Text("Did two, too.").EndAfter(3)))
	ctx, outcomes := middleware.Capture(s.ctx)
	s.ctx = ctx
	choice := s.requireAsk(t, new(recording).option())
	assert.Equal(t, "Did one:", choice.Content)
	assert.Equal(t, "stop", choice.StopReason)
	require.ErrorIs(t, outcomes.Last().Err, middleware.ErrIncomplete)
}
