// Package agents says how the text agents of langchaingo read an answer, so that
// carryon can continue a model under them. It is usually imported as carryagents:
//
//	model := carrylangchain.Wrap(llm, mw, carryagents.OneShot())
//	executor := agents.NewExecutor(agents.NewOneShotAgent(model, tools))
//
// Begin with [OneShot] or [Conversational]. Agents that use the provider's own tool
// calls, such as agents.OpenAIFunctionsAgent, do not need this package.
//
// This package parses answers with the agent's own parser in the linked langchaingo,
// not with a copy. carryon continues an answer with which the agent would return to the
// user. It does not continue an answer that calls a tool, or that the agent cannot
// read. The agent then reads one answer: the last turn if that calls a tool, and
// otherwise a final answer with the text of all turns.
//
// Give the agent's ctx a session. Without one, carryon begins to count what a run has
// used of its budget only at the second step.
//
// Experimental: the agents' prompts and parsers belong to langchaingo, and may change.
package agents
