// Package agents says how the text agents of langchaingo read an answer, so
// that a wrapped model can carry on under them. It is usually imported as
// carryagents:
//
//	model := carrylangchain.Wrap(llm, mw, carryagents.OneShot())
//	executor := agents.NewExecutor(agents.NewOneShotAgent(model, tools))
//
// Agents that use the provider's own tool calls, such as
// agents.OpenAIFunctionsAgent, do not need this package.
//
// This package parses answers with the agent's own parser from the linked
// langchaingo, not with a copy. carryon does not continue an answer that calls
// a tool, or that the agent can't read. It continues an answer with which the
// agent would return. The agent then reads one answer: the last turn, if that
// calls a tool, and otherwise a final answer made of all turns.
//
// Give the agent's ctx a session: without one, carryon counts what a run has
// used of its budget only from the second step on.
package agents
