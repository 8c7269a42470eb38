package chatcompletions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
	"github.com/carryon-go/carryon/internal/testkit/wiretest"
)

// thinking is a streamed turn in which reasoning comes in these deltas before the
// text.
func thinking(text string, deltas ...string) fakellm.Turn {
	chunks := make([]string, 0, len(deltas)+2)
	for _, delta := range append(deltas, `{"content":"`+text+`"}`) {
		chunks = append(chunks, `{"id":"a","choices":[{"index":0,"delta":`+delta+`,"finish_reason":null}]}`)
	}
	return fakellm.Chunks(append(chunks, `{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)...)
}

// Clients show the reasoning of an answer as one text, so that the reasoning of
// each turn needs a separator before it, as its text does.
func TestReasoningOfTurnsStandsApart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ first, second, want []string }{
		"reasoning_content": {
			[]string{`{"reasoning_content":"One, "}`, `{"reasoning_content":"two."}`},
			[]string{`{"role":"assistant","reasoning_content":""}`, `{"reasoning_content":"Three, "}`, `{"reasoning_content":"four."}`},
			[]string{`{"reasoning_content":"\n\nThree, "}`, `{"reasoning_content":"four."}`},
		},
		"a line break is there": {
			[]string{`{"reasoning":"One."}`, `{"reasoning":"\n"}`},
			[]string{`{"reasoning":"Two."}`},
			[]string{`{"reasoning":"\nTwo."}`},
		},
		"none before it": {
			nil,
			[]string{`{"reasoning":"Two."}`},
			[]string{`{"reasoning":"Two."}`},
		},
		"both names": {
			[]string{`{"reasoning":"One.","reasoning_content":"One."}`},
			[]string{`{"reasoning":"Two.","reasoning_content":"Two."}`},
			[]string{`{"reasoning":"\n\nTwo.","reasoning_content":"\n\nTwo."}`},
		},
		"details": {
			[]string{`{"reasoning":"One.","reasoning_details":[{"type":"reasoning.text","text":"One."}]}`},
			[]string{`{"reasoning":"Two.","reasoning_details":[{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.summary","summary":"Two."}]}`},
			[]string{`{"reasoning":"\n\nTwo.","reasoning_details":[{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.summary","summary":"\n\nTwo."}]}`},
		},
		"details that are signed": {
			[]string{`{"reasoning":"One.","reasoning_details":[{"type":"reasoning.text","format":"anthropic-claude-v1","text":"One."}]}`},
			[]string{`{"reasoning":"Two.","reasoning_details":[{"type":"reasoning.text","format":"anthropic-claude-v1","text":"Two."}]}`},
			[]string{`{"reasoning":"\n\nTwo.","reasoning_details":[{"type":"reasoning.text","format":"anthropic-claude-v1","text":"Two."}]}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := wiretest.NewScene(t, wiretest.TwoTodos)
			got := s.Send(t, s.Request(t, wiretest.ChatBody(true)), thinking(wiretest.Plan, tt.first...), thinking("Done.", tt.second...), wiretest.Edit())
			require.NoError(t, got.Err)
			shown := got.Body
			_, second, ok := strings.Cut(shown, `"content":"`+wiretest.Plan+`"`)
			require.True(t, ok, shown)
			for _, delta := range tt.want {
				assert.Contains(t, second, `"delta":`+delta)
			}
			for _, delta := range tt.first {
				assert.Contains(t, shown, `"delta":`+delta, "turn 1 is shown as it came")
			}
		})
	}
}

// A continuation of a request with reasoning gets the reasoning of all turns,
// with the separators that are shown.
func TestReasoningOfTurnsIsSentBackApart(t *testing.T) {
	t.Parallel()
	wiretest.InBothWays(t, func(t *testing.T, w wiretest.Way) {
		s := wiretest.NewScene(t, wiretest.TwoTodos)
		body := strings.Replace(wiretest.ChatBody(w.Stream), `"messages":[`, `"messages":[{"role":"assistant","reasoning_content":"x"},`, 1)
		got := s.Send(t, s.Request(t, body), fakellm.Text(wiretest.Plan).Reasoning("One."), fakellm.Text("Then the tests.").Reasoning("Two."), wiretest.Edit())
		require.NoError(t, got.Err)
		assert.Contains(t, s.Wire.Bodies()[2], `"reasoning_content":"One.\n\nTwo."`)
	})
}

// Some providers send the same reasoning under both names.
func TestReasoningUnderBothNamesIsSentBackOnce(t *testing.T) {
	t.Parallel()
	s := wiretest.NewScene(t, wiretest.TwoTodos)
	body := strings.Replace(wiretest.ChatBody(true), `"messages":[`, `"messages":[{"role":"assistant","reasoning_content":"x"},`, 1)
	first := thinking(wiretest.Plan, `{"reasoning":"One.","reasoning_content":"One."}`)
	require.NoError(t, s.Send(t, s.Request(t, body), first, wiretest.Edit()).Err)
	assert.Contains(t, s.Wire.Bodies()[1], `"reasoning_content":"One."`)
}
