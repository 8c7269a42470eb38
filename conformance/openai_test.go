package conformance_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	carryopenai "github.com/carryon-go/carryon/adapters/openai"
	"github.com/carryon-go/carryon/adapters/transport"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/quirks"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
	"github.com/carryon-go/carryon/middleware"
)

const (
	plan    = "Next I will write the parser."
	path    = `{"path":"parser.go"}`
	blocker = "The grammar file grammar.ebnf is missing"
)

// served returns a client of the official SDK that talks to the server over HTTP, through carryon.
func served(server *fakellm.Server, mw *middleware.Middleware, opts ...option.RequestOption) openai.Client {
	return official(transport.New(http.DefaultTransport, mw),
		append([]option.RequestOption{option.WithBaseURL(server.URL())}, opts...)...)
}

// inBothModes runs a test for a stream and for a whole answer.
func inBothModes(t *testing.T, test func(t *testing.T, unary bool)) {
	t.Helper()
	for _, unary := range []bool{false, true} {
		t.Run(how(unary), func(t *testing.T) {
			t.Parallel()
			test(t, unary)
		})
	}
}

// For the same script, the official SDK over the transport and carryon's wrapper of go-openai give the same results:
// what the caller reads, what the model is asked, and the outcome.
func TestTransportDoesWhatTheDecoratorDoes(t *testing.T) {
	t.Parallel()
	call, calls := fakellm.Call(editFile, path), fakellm.Call(editFile, path).AndCall("run_tests", "{}")
	text, failure := fakellm.Text(plan), `{"error":{"message":"no"}}`
	down, cut := fakellm.Status(http.StatusInternalServerError, failure), fakellm.Text("I write").CutAfter(1)
	among := fakellm.Call(editFile, path).
		AndCall("todo_pause", `{"reason":"`+blocker+`"}`).AndCall("run_tests", "{}")
	for name, turns := range map[string][]fakellm.Turn{
		"nothing to continue":            {fakellm.Text("I edit it.").AndCall(editFile, path)},
		"a call":                         {text, call},
		"several continuations":          {text, fakellm.Text("Now I write it."), call},
		"no more attempts":               {text, fakellm.Text("Soon."), fakellm.Text("Later."), fakellm.Text("Tomorrow.")},
		"parallel calls":                 {text, calls},
		"calls in one piece":             {text, calls.With(fakellm.WholeCalls)},
		"a pause":                        {text, fakellm.Pause(blocker)},
		"a pause between other calls":    {text, among},
		"a pause that is rejected":       {text, fakellm.Pause("stuck"), call},
		"a pause that is printed":        {text, fakellm.Text(`todo_pause("` + blocker + `")`)},
		"a finish that is no plain stop": {text.Finish("length")},
		"an error":                       {fakellm.Status(http.StatusBadRequest, failure)},
		"a continuation refused":         {text, fakellm.Status(http.StatusBadRequest, failure)},
		"a continuation that fails":      {text, down, down, down},
		"a continuation sent once more":  {text, down, call},
		"a continuation cut short":       {text, cut, cut, cut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothModes(t, func(t *testing.T, unary bool) {
				wire, typed := playOfficial(t, unary, turns...), playTyped(t, unary, turns...)
				if typed.read.Err != "" {
					assert.NotEmpty(t, wire.read.Err)
					wire.read.Err = typed.read.Err // the SDKs word it differently
				}
				assert.Equal(t, typed.read, wire.read)
				assert.Equal(t, typed.asked, wire.asked)
				assert.Equal(t, typed.outcome, wire.outcome)
			})
		})
	}
}

// played is the result of a script.
type played struct {
	read    quirks.Reading
	outcome middleware.Outcome
	asked   []asked
}

// asked is what a request asks the model.
type asked struct {
	messages []fakellm.Message
	tools    []string
}

func playOfficial(t *testing.T, unary bool, turns ...fakellm.Turn) played {
	t.Helper()
	return play(t, turns, func(ctx context.Context, server *fakellm.Server, mw *middleware.Middleware) quirks.Reading {
		return askOfficial(ctx, served(server, mw), unary)
	})
}

func playTyped(t *testing.T, unary bool, turns ...fakellm.Turn) played {
	t.Helper()
	return play(t, turns, func(ctx context.Context, server *fakellm.Server, mw *middleware.Middleware) quirks.Reading {
		return askTyped(ctx, carryopenai.Wrap(goOpenAIClient(server.URL(), http.DefaultTransport), mw), unary)
	})
}

func play(
	t *testing.T, turns []fakellm.Turn,
	ask func(context.Context, *fakellm.Server, *middleware.Middleware) quirks.Reading,
) played {
	t.Helper()
	server := fakellm.NewServer(t, turns...)
	ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), "s"))
	p := played{read: ask(ctx, server, newMiddleware(testclock.Option[middleware.Option](testclock.New())))}
	require.Len(t, outcomes.All(), 1)
	p.outcome = outcomes.Last()
	if p.outcome.Err != nil {
		p.outcome.Err = assert.AnError // the adapters word it differently
	}
	for _, request := range server.Requests() {
		p.asked = append(p.asked, asked{request.Messages, request.Tools})
	}
	require.Len(t, p.asked, len(turns))
	return p
}

// A joined stream is one answer to the accumulator: the text ends once, and so does a call.
func TestAccumulatorSeesOneAnswer(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t,
		fakellm.Text(plan), fakellm.Text("I write it.").AndCall(editFile, path).ID("call_a"))
	client := served(server, newMiddleware())
	stream := client.Chat.Completions.NewStreaming(t.Context(), officialStreamRequest())
	defer stream.Close()
	var accumulator openai.ChatCompletionAccumulator
	var texts []string
	var calls []openai.FinishedChatCompletionToolCall
	for stream.Next() {
		require.True(t, accumulator.AddChunk(stream.Current()), "chunk refused: %s", stream.Current().RawJSON())
		if text, ok := accumulator.JustFinishedContent(); ok {
			texts = append(texts, text)
		}
		if call, ok := accumulator.JustFinishedToolCall(); ok {
			calls = append(calls, call)
		}
	}
	require.NoError(t, stream.Err())
	assert.Equal(t, []string{plan + "\n\nI write it."}, texts)
	require.Len(t, calls, 1)
	assert.Equal(t, "call_a", calls[0].ID)
	assert.JSONEq(t, path, calls[0].Arguments)
	assert.Equal(t, "chatcmpl-1", accumulator.ID)
	assert.Equal(t, model, accumulator.Model)
}

// The SDK's retries are above the transport: each is a separate call, and the one that is answered is continued.
func TestRetriesAreCallsOfTheirOwn(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		server := fakellm.NewServer(t,
			fakellm.Status(http.StatusTooManyRequests, `{"error":{"message":"slow down"}}`).Header("Retry-After-Ms", "0"),
			fakellm.Text(plan), fakellm.Call(editFile, path))
		ctx, outcomes := middleware.Capture(t.Context())
		got := askOfficial(ctx, served(server, newMiddleware(), option.WithMaxRetries(1)), unary)
		assert.Empty(t, got.Err)
		assert.Equal(t, plan, got.Text)
		assert.Len(t, got.Calls, 1)
		require.Len(t, outcomes.All(), 2)
		assert.Equal(t, reasons.BrokeOff, outcomes.All()[0].Reason)
		assert.Equal(t, 2, outcomes.Last().Turns)
		assert.Equal(t, 1, outcomes.Last().Attempts)
	})
}

// The SDK's retries do not multiply the second tries of continuations, which the SDK does not see.
func TestContinuationsAreNotRetriedByTheSDK(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		busy := fakellm.Status(http.StatusTooManyRequests, `{"error":{"message":"slow down"}}`).Header("Retry-After-Ms", "0")
		server := fakellm.NewServer(t, fakellm.Text(plan), busy, busy, busy)
		got := askOfficial(t.Context(), served(server, newMiddleware(), option.WithMaxRetries(2)), unary)
		assert.Equal(t, quirks.Reading{Text: plan, Finish: "stop", Usage: tokens(10, 5)}, got)
		assert.Len(t, server.Requests(), 4)
	})
}

// The SDK's request timeout covers the whole call. It ends a continuation that hangs, but does not cost the answer.
func TestRequestTimeoutCostsTheContinuation(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		synctest.Test(t, func(t *testing.T) {
			server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Text("I write it.").HangAfter(0))
			ctx, outcomes := middleware.Capture(t.Context())
			client := official(transport.New(server.Transport(), newMiddleware()), option.WithRequestTimeout(10*time.Second))
			start := time.Now()
			got := askOfficial(ctx, client, unary)
			assert.Equal(t, quirks.Reading{Text: plan, Finish: "stop", Usage: tokens(10, 5)}, got)
			assert.Equal(t, 9*time.Second, time.Since(start), "a tenth is left of the timeout")
			assert.Equal(t, 2, outcomes.Last().Turns)
			require.Error(t, outcomes.Last().Err)
		})
	})
}

// The session comes from the ctx of the call.
func TestSessionComesWithTheContext(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Pause(blocker),
			fakellm.Text(plan), fakellm.Text(plan), fakellm.Call(editFile, path))
		mw := newMiddleware()
		client := served(server, mw)
		ctx, outcomes := middleware.Capture(t.Context())
		first, second := continuation.WithSession(ctx, "first"), continuation.WithSession(ctx, "second")

		paused := askOfficial(first, client, unary)
		assert.Equal(t, plan+"\n\nTask paused: "+blocker, paused.Text)
		assert.Empty(t, paused.Calls)
		require.NotNil(t, outcomes.Last().Paused)
		assert.Equal(t, blocker, outcomes.Last().Paused.Reason)
		assert.Equal(t, "first", outcomes.Last().Session)

		assert.Equal(t, plan, askOfficial(first, client, unary).Text)
		assert.Equal(t, reasons.Paused, outcomes.Last().Reason)

		assert.Len(t, askOfficial(second, client, unary).Calls, 1)
		assert.Equal(t, "second", outcomes.Last().Session)
		assert.Equal(t, 2, outcomes.Last().Turns)
	})
}

// A continuation goes where the call went, with the same headers.
func TestContinuationGoesTheSameWay(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Call(editFile, path))
		client := served(server, newMiddleware(),
			option.WithBaseURL(server.URL()+"/deployments/d"), option.WithOrganization("org"), option.WithHeader("Api-Key", "k"))
		assert.Len(t, askOfficial(t.Context(), client, unary).Calls, 1)
		requests := server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, "/v1/deployments/d/chat/completions", requests[1].Path)
		for _, request := range requests {
			assert.Equal(t, "org", request.Header.Get("Openai-Organization"))
			assert.Equal(t, "k", request.Header.Get("Api-Key"))
			request.Header.Del("Content-Length")
		}
		assert.Equal(t, requests[0].Header, requests[1].Header)
	})
}

// A caller that closes the stream during a continuation leaves nothing behind.
func TestCallerLeavesDuringAContinuation(t *testing.T) {
	t.Parallel()
	server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Text("I write it.").HangAfter(3))
	mw := newMiddleware()
	ctx, outcomes := middleware.Capture(continuation.WithSession(t.Context(), "s"))
	client := served(server, mw)
	stream := client.Chat.Completions.NewStreaming(ctx, officialStreamRequest())
	var accumulator openai.ChatCompletionAccumulator
	text := func() string {
		if len(accumulator.Choices) == 0 {
			return ""
		}
		return accumulator.Choices[0].Message.Content
	}
	for !strings.Contains(text(), "\n\n") && stream.Next() {
		require.True(t, accumulator.AddChunk(stream.Current()))
	}
	require.Equal(t, plan+"\n\nI ", text())
	require.NoError(t, stream.Close())
	state, err := mw.State(ctx)
	require.NoError(t, err)
	assert.False(t, state.Active, "the session is left active")
	assert.Equal(t, reasons.BrokeOff, outcomes.Last().Reason)
	assert.Len(t, server.Requests(), 2)
}

// A caller's ctx that ends during a continuation ends the call with its error.
func TestContextEndsDuringAContinuation(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, unary bool) {
		ctx, cancel := context.WithCancel(t.Context())
		server := fakellm.NewServer(t, fakellm.Text(plan), fakellm.Func(func(fakellm.Request) fakellm.Turn {
			cancel()
			return fakellm.Text("I write it.").HangAfter(0)
		}))
		got := askOfficial(ctx, served(server, newMiddleware()), unary)
		assert.Contains(t, got.Err, context.Canceled.Error())
	})
}
