package agents

import (
	"context"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"

	"github.com/carryon-go/carryon/adapters/langchaingo"
)

// OneShot continues calls of an agents.OneShotZeroAgent, the agent that
// agents.Initialize makes for ZeroShotReactDescription.
func OneShot() langchaingo.Option {
	return langchaingo.WithTextAgent(readOneShot)
}

// Conversational continues calls of an agents.ConversationalAgent, the agent
// that agents.Initialize makes for ConversationalReactDescription.
func Conversational() langchaingo.Option {
	return langchaingo.WithTextAgent(readConversational)
}

// readOneShot returns how an agents.OneShotZeroAgent reads an answer. It is safe for
// concurrent use.
func readOneShot(answer string) langchaingo.Reading {
	return read(&agents.OneShotZeroAgent{Chain: chain(answer), OutputKey: outputKey})
}

// readConversational returns how an agents.ConversationalAgent reads an answer. It is
// safe for concurrent use.
func readConversational(answer string) langchaingo.Reading {
	return read(&agents.ConversationalAgent{Chain: chain(answer), OutputKey: outputKey})
}

const outputKey = "output"

// read lets an agent plan with a model whose answer is fixed.
func read(agent agents.Agent) langchaingo.Reading {
	// Nothing here waits, so the plan needs no ctx of the caller's.
	actions, finish, err := agent.Plan(context.Background(), nil, nil)
	switch {
	case err != nil:
	case finish != nil:
		answer, _ := finish.ReturnValues[outputKey].(string)
		return langchaingo.Reading{Kind: langchaingo.Finish, Answer: answer}
	case len(actions) > 0:
		return langchaingo.Reading{
			Kind: langchaingo.Action, Tool: actions[0].Tool, Input: actions[0].ToolInput,
		}
	}
	return langchaingo.Reading{}
}

// fixedAnswer is a model that always answers with this text.
type fixedAnswer string

// GenerateContent implements [llms.Model].
func (s fixedAnswer) GenerateContent(
	context.Context, []llms.MessageContent, ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: string(s)}}}, nil
}

// Call implements [llms.Model].
func (s fixedAnswer) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return string(s), nil
}

// chain returns an agent's chain with an empty prompt. It handles the answer as
// the agent's own chain does.
func chain(answer string) chains.Chain {
	return chains.NewLLMChain(fixedAnswer(answer), prompts.PromptTemplate{TemplateFormat: prompts.TemplateFormatFString})
}
