package chatcompletions_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/scenario"
	"github.com/carryon-go/carryon/middleware"
)

// chunkOf returns a chunk with one choice.
func chunkOf(index int, delta, finish, more string) string {
	if finish != "null" {
		finish = strconv.Quote(finish)
	}
	return `data: {"id":"b","object":"chat.completion.chunk","created":2,"model":"m","choices":[{"index":` + strconv.Itoa(index) +
		`,"delta":` + delta + `,"finish_reason":` + finish + more + `}]}` + "\n\n"
}

// said returns a chunk with a text and the log probabilities of its tokens.
func said(tokens ...string) string {
	return chunkOf(0, `{"content":`+strconv.Quote(strings.Join(tokens, ""))+`}`, "null", `,"logprobs":`+probabilities(tokens...))
}

// probabilities returns log probabilities as OpenAI gives them.
func probabilities(tokens ...string) string {
	list := make([]string, 0, len(tokens))
	for _, token := range tokens {
		list = append(list, `{"token":`+strconv.Quote(token)+`,"logprob":-0.1,"bytes":null,"top_logprobs":[]}`)
	}
	return `{"content":[` + strings.Join(list, ",") + `],"refusal":null}`
}

const (
	plan     = "Next I will write the parser."
	done     = "data: [DONE]\n\n"
	halfCall = `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"edit_file","arguments":"{\"pa"}}]}`
)

// planned is a first turn that announces work.
func planned() fakellm.Turn {
	return fakellm.Raw(chunkOf(0, `{"content":"`+plan+`"}`, "null", "") + chunkOf(0, "{}", "stop", "") + done)
}

func finished(reason string) string { return chunkOf(0, "{}", reason, "") + done }

// tokensIn returns the tokens of the log probabilities in a stream, and checks that
// each chunk has those of its own text.
func tokensIn(t *testing.T, chunks []openai.ChatCompletionStreamResponse) []string {
	t.Helper()
	var tokens []string
	text := ""
	for _, c := range chunks {
		for _, choice := range c.Choices {
			text += choice.Delta.Content
			if choice.Logprobs == nil {
				continue
			}
			for _, token := range choice.Logprobs.Content {
				tokens = append(tokens, token.Token)
			}
			assert.True(t, strings.HasSuffix(text, strings.Join(tokens, "")), "%q, %q", text, tokens)
		}
	}
	return tokens
}

// Text that may be a printed todo_pause is held back, with its log probabilities; those
// of a pause are not shown.
func TestLogProbabilitiesStayWithTheirText(t *testing.T) {
	t.Parallel()
	blocked := []string{"todo", "_pause", "('", scenario.Blocked, "')"}
	for name, test := range map[string]struct {
		second string
		want   []string
		text   string
	}{
		"not held":          {said("Here") + said(" it", " is.") + finished("stop"), []string{"Here", " it", " is."}, "Here it is."},
		"held":              {said("Next. ", "todo") + said("_list") + said(" later.") + finished("stop"), []string{"Next. ", "todo", "_list", " later."}, "Next. todo_list later."},
		"held to the end":   {said("Next. ") + said("todo_") + finished("stop"), []string{"Next. ", "todo_"}, "Next. todo_"},
		"held at a failure": {said("Next. ") + said("todo_"), []string{"Next. ", "todo_"}, "Next. todo_"},
		"in a call":         {said("Next. ") + said("todo_") + chunkOf(0, strings.ReplaceAll(halfCall, "pa", `}`), "null", "") + finished("tool_calls"), []string{"Next. ", "todo_"}, "Next. todo_"},
		"a pause":           {said("Stuck. ") + said(blocked...) + finished("stop"), []string{"Stuck. "}, "Stuck. "},
		"half a letter":     {said("One") + chunkOf(0, `{"content":""}`, "null", `,"logprobs":`+probabilities("")) + said(".") + finished("stop"), []string{"One", "", "."}, "One."},
		"with the finish":   {said("One") + chunkOf(0, `{"content":"."}`, "stop", `,"logprobs":`+probabilities(".")) + done, []string{"One", "."}, "One."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
				got := scenario.New(t, m, scenario.TwoTodos(), scenario.AtMost(1)).Ask(planned(), fakellm.Raw(test.second))
				require.NoError(t, got.Err)
				assert.True(t, strings.HasPrefix(got.Text, plan+"\n\n"+test.text), got.Text)
				assert.Equal(t, test.want, tokensIn(t, got.Chunks))
				assert.NotContains(t, got.Text, "pause(")
			})
		})
	}
}

// The text of an answer in one piece is that of all turns, and so are its log
// probabilities.
func TestLogProbabilitiesOfWholeAnswers(t *testing.T) {
	t.Parallel()
	whole := func(tokens ...string) fakellm.Turn {
		return fakellm.Status(http.StatusOK, `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":`+
			strconv.Quote(strings.Join(tokens, ""))+`},"logprobs":`+probabilities(tokens...)+`,"finish_reason":"stop"}]}`)
	}
	scenario.InModes(t, []scenario.Mode{scenario.TypedUnary, scenario.WireUnary}, func(t *testing.T, m scenario.Mode) {
		s := scenario.New(t, m, scenario.TwoTodos(), scenario.AtMost(1))
		s.Server.Append(whole("Next", " it."), whole("Stuck. ", "todo_pause('", scenario.Blocked, "')"))
		answer, err := s.Client.Complete(s.Ctx, scenario.Request())
		require.NoError(t, err)
		require.NotNil(t, answer.Choices[0].LogProbs)
		var tokens []string
		for _, token := range answer.Choices[0].LogProbs.Content {
			tokens = append(tokens, token.Token)
		}
		assert.Equal(t, []string{"Next", " it.", "Stuck. "}, tokens)
	})
}

// A continuation has one choice, whatever its number, and one finish.
func TestChoiceWithAnotherNumber(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{
		"all of it":      chunkOf(3, `{"role":"assistant"}`, "null", "") + chunkOf(3, `{"content":"Here."}`, "null", "") + chunkOf(3, "{}", "stop", "") + done,
		"all but a role": chunkOf(0, `{"role":"assistant","content":""}`, "null", "") + chunkOf(3, `{"content":"Here."}`, "null", "") + chunkOf(3, "{}", "stop", "") + done,
		"all but an end": chunkOf(3, `{"content":"Here."}`, "null", "") + chunkOf(0, "{}", "stop", "") + done,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
				got := scenario.New(t, m, scenario.TwoTodos(), scenario.AtMost(1)).Ask(planned(), fakellm.Raw(second))
				require.NoError(t, got.Err)
				require.NoError(t, got.Outcome.Err)
				assert.Equal(t, plan+"\n\nHere.", got.Text)
				finishes := 0
				for _, c := range got.Chunks {
					for _, choice := range c.Choices {
						assert.Zero(t, choice.Index)
						if choice.FinishReason != "" {
							finishes++
						}
					}
				}
				assert.Equal(t, 1, finishes)
			})
		})
	}
}

// Members without a value say nothing, and what Azure says of a prompt is not shown of a continuation's.
func TestMembersThatSayNothing(t *testing.T) {
	t.Parallel()
	first := chunkOf(0, `{"content":"`+plan+`","refusal":"","audio":null}`, "null", "") + finished("stop")
	counts := `"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}`
	second := strings.Replace(chunkOf(0, `{"content":"Here."}`, "null", ""), `{"id"`, `{"prompt_annotations":[{"prompt_index":0}],"prompt_filter_results":[{"index":0}],`+counts+`,"id"`, 1) + finished("stop")
	got := scenario.New(t, scenario.WireStream, scenario.TwoTodos(), scenario.AtMost(1)).Ask(fakellm.Raw(first), fakellm.Raw(second))
	require.NoError(t, got.Err)
	assert.Equal(t, plan+"\n\nHere.", got.Text)
	assert.Equal(t, adapter.Usage{Prompt: 10, Completion: 5, Total: 15, Cached: 4, Reasoning: 3}, got.Outcome.Usage[1])
	for _, c := range got.Chunks {
		assert.Empty(t, c.PromptAnnotations)
		assert.Empty(t, c.PromptFilterResults)
	}
}

// inLines returns a stream with the JSON of each event on several lines.
func inLines(stream string) string {
	return strings.NewReplacer(`{"`, "{\ndata: \"", `,"`, ",\ndata: \"").Replace(stream)
}

// An event may have its JSON on several lines. No SDK in this module reads that, but
// the transport does.
func TestEventsOnSeveralLinesAreJoined(t *testing.T) {
	t.Parallel()
	second := inLines(chunkOf(0, `{"content":"Here."}`, "null", `,"x":{"a":1,"b":[]}`) + finished("stop"))
	got := scenario.New(t, scenario.WireStream, scenario.TwoTodos(), scenario.AtMost(1)).Ask(planned(), fakellm.Raw(second))
	require.NoError(t, got.Err)
	assert.Equal(t, plan+"\n\nHere.", got.Text)
}

// Half a call must not look whole, wherever the answer breaks off, and the provider's
// own words reach the client.
func TestHalfACallIsAnError(t *testing.T) {
	t.Parallel()
	const report = "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n"
	begun := chunkOf(0, halfCall, "null", "")
	for name, second := range map[string]string{
		"no end":                       begun,
		"no finish":                    begun + done,
		"an error":                     begun + report,
		"an error behind an early end": chunkOf(0, "{}", "tool_calls", "") + begun + report,
		"another choice":               chunkOf(0, `{"content":"One."}`, "null", "") + chunkOf(1, halfCall, "null", "") + done,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario.InModes(t, scenario.StreamModes(), func(t *testing.T, m scenario.Mode) {
				got := scenario.New(t, m, scenario.TwoTodos(), scenario.AtMost(1)).Ask(planned(), fakellm.Raw(second))
				require.Error(t, got.Err)
				assert.Empty(t, got.Finish)
				if strings.HasPrefix(name, "an error") {
					var reported *openai.APIError
					require.ErrorAs(t, got.Err, &reported)
					assert.Equal(t, "overloaded", reported.Message)
				}
			})
		})
	}
}

// A budget holds whatever counts a provider reports.
func TestCountsBeyondAnyBudget(t *testing.T) {
	t.Parallel()
	usage := `,"usage":{"prompt_tokens":1e30,"completion_tokens":99999999999999999999,"total_tokens":3}}` + "\n\n"
	second := strings.TrimSuffix(chunkOf(0, `{"content":"Soon."}`, "stop", ""), "}\n\n") + usage + done
	budget := middleware.WithLimits(continuation.Limits{TokenBudget: 1_000_000, MaxAttempts: 3, MinInterval: continuation.Off})
	got := scenario.New(t, scenario.WireStream, scenario.TwoTodos(), budget).Ask(planned(), fakellm.Raw(second))
	assert.Equal(t, reasons.TokenBudget, got.Outcome.Reason, got.Outcome.Reason.String())
}
