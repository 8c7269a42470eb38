package agents_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	carryagents "github.com/carryon-go/carryon/adapters/langchaingo/agents"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

// twoTurns is a model that streams and gives two answers.
type twoTurns struct {
	answers [2]string
	asked   int
}

func (m *twoTurns) GenerateContent(
	ctx context.Context, _ []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	m.asked++
	text := m.answers[m.asked-1]
	answer := &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: "stop"}}}
	return answer, o.StreamingFunc(ctx, []byte(text))
}

func (m *twoTurns) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

// FuzzJoinedAnswersAreReadAsFinishes checks any two turns of a text agent. If
// the second is an action, the agent must read that action unchanged, and
// otherwise a finish that begins with the first answer. The agent must stream
// the same text as it returns.
func FuzzJoinedAnswersAreReadAsFinishes(f *testing.F) {
	for _, first := range []string{"Final Answer: first", "the answer is: 42", "AI: first", "I do not know.", "Final Answer:\nAI:"} {
		for _, second := range readings {
			f.Add(first, second, len(second)%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, first, second string, conversational bool) {
		parse := carryagents.ReadOneShot
		if conversational {
			parse = carryagents.ReadConversational
		}
		read := func(answer string) (reading carrylangchain.Reading) {
			defer func() { _ = recover() }() // langchaingo's parsers panic on some letters
			return parse(answer)
		}
		model := &twoTurns{answers: [2]string{first, second}}
		mw := middleware.New(twoTodos, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off, MaxAttempts: 1}))
		var shown strings.Builder
		answer, err := carrylangchain.Wrap(model, mw, carrylangchain.WithTextAgent(parse)).GenerateContent(t.Context(),
			[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Do it.")},
			llms.WithStopWords([]string{"\nObservation:"}),
			llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
				shown.Write(chunk)
				return nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		got := answer.Choices[0].Content
		finish, next := read(first), read(second)
		switch {
		case finish.Kind != carrylangchain.Finish:
			if model.asked != 1 || got != first || shown.String() != first {
				t.Errorf("asked %d times, got %q, shown %q", model.asked, got, shown.String())
			}
		case next.Kind == carrylangchain.Action && !strings.EqualFold(next.Tool, "todo_pause"):
			if got != second || shown.String() != first {
				t.Errorf("an action: got %q, shown %q", got, shown.String())
			}
		default:
			reading := read(got)
			if reading.Kind != carrylangchain.Finish || !strings.HasPrefix(strings.TrimSpace(reading.Answer), strings.TrimSpace(finish.Answer)) {
				t.Errorf("%q is read as %+v", got, reading)
			}
			if !strings.HasPrefix(got, first) || shown.String() != got {
				t.Errorf("got %q, shown %q", got, shown.String())
			}
		}
	})
}
