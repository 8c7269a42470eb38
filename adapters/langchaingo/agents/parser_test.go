package agents_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"

	carrylangchain "github.com/carryon-go/carryon/adapters/langchaingo"
	carryagents "github.com/carryon-go/carryon/adapters/langchaingo/agents"
)

// answers is a model that gives one answer.
type answers string

func (a answers) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: string(a)}}}, nil
}

func (a answers) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return string(a), nil
}

// planned returns what a real agent of langchaingo plans after an answer.
func planned(t *testing.T, agent agents.Agent) carrylangchain.Reading {
	t.Helper()
	actions, finish, err := agent.Plan(t.Context(), nil, map[string]string{"input": "Do it."})
	switch {
	case err != nil:
		require.ErrorIs(t, err, agents.ErrUnableToParseOutput)
		return carrylangchain.Reading{}
	case finish != nil:
		answer, _ := finish.ReturnValues["output"].(string)
		return carrylangchain.Reading{Kind: carrylangchain.Finish, Answer: answer}
	}
	require.Len(t, actions, 1)
	return carrylangchain.Reading{Kind: carrylangchain.Action, Tool: actions[0].Tool, Input: actions[0].ToolInput}
}

func TestCase24ReadingsAreTheAgentsOwn(t *testing.T) {
	t.Parallel()
	seen := map[carrylangchain.ReadingKind]int{}
	for _, answer := range readings {
		one := carryagents.ReadOneShot(answer)
		assert.Equal(t, planned(t, agents.NewOneShotAgent(answers(answer), nil)), one, answer)
		other := carryagents.ReadConversational(answer)
		assert.Equal(t, planned(t, agents.NewConversationalAgent(answers(answer), nil)), other, answer)
		seen[one.Kind]++
		seen[other.Kind]++
	}
	for kind := carrylangchain.Unreadable; kind <= carrylangchain.Finish; kind++ {
		assert.GreaterOrEqual(t, seen[kind], 10, "kind %d", kind)
	}
}

var readings = []string{
	"", " ", "\n", "I do not know.", "Thought: I should look.",
	"Final Answer: 42", "Final Answer:42", "Final Answer:", "  Final Answer:   42  \n",
	"Thought: I now know\nFinal Answer: 42", "Final Answer: one\nFinal Answer: two",
	"Final Answer: go on?\n\nThought: yes\nAction: search\nAction Input: tea",
	"Action: search\nAction Input: tea\nFinal Answer: 42",
	"final answer: 42", "FINAL ANSWER: 42", "Final answer : 42", "final answer : 42",
	"The final answer is: 42", "the answer is: 42", "So the answer is: yes\nAction: search\nAction Input: tea",
	"the answer is: yes. Action: search Action Input: tea", "The answer is 42",
	"Action: search\nAction Input: tea", "action: search\naction input: tea", "ACTION: search\nACTION INPUT: tea",
	"Action: search\nAction Input:tea", "Action: search\nAction Input:", "Action: search\nAction Input: ",
	"Action:search\nAction Input: tea", "Action: search Action Input: tea", "Action: search\n\n\nAction Input: tea",
	"Action: search\nAction  Input: tea", "Action: search(tea)", "Action: search\nInput: tea",
	"Thought: x\nAction: search\nAction Input: {\"q\": \"tea\",\n\"n\": 2}",
	"Action: one\nAction Input: a\nAction: two\nAction Input: b", "Action Input: tea", "Action: search",
	"Action: todo_pause\nAction Input: blocked", "todo_pause('blocked')",
	"AI: hello", "AI:hello", "AI:", "Thought: Do I need to use a tool? No\nAI: hello", "AI: one\nAI: two",
	"OpenAI: hello\nAction: search\nAction Input: tea", "Action: search\nAction Input: ask the AI: who?",
	"Do I need to use a tool? Yes\nAction: search\nAction Input: tea", "ai: hello", "Ai: hello",
	"\u00a0Final Answer: 42\u00a0", "AI: \u00e9t\u00e9 \u8336", "Action: \u8336\nAction Input: \u8336",
	"Final Answer: \x00\xff", "AI: \x00\xff", "Observation: found",
}

func BenchmarkRead(b *testing.B) {
	for name, answer := range map[string]string{
		"finish": "Thought: I know.\nFinal Answer: 42", "action": "Thought: I have to look.\nAction: search\nAction Input: tea",
		"unreadable": "I do not know.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				carryagents.ReadOneShot(answer)
			}
		})
	}
}
