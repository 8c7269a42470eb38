// Package agents says how the text agents of langchaingo read an answer, so
// that a wrapped model can carry on under them. It is usually imported as
// carryagents:
//
//	model := carrylangchain.Wrap(llm, mw, carryagents.OneShot())
//	executor := agents.NewExecutor(agents.NewOneShotAgent(model, tools))
//
// Agents that call tools by the provider's own means, such as
// agents.OpenAIFunctionsAgent, need nothing of this.
//
// An answer is given to the very parser of the agent that is linked into the
// program, not to a copy of it. An answer after which the agent would call a
// tool, or that it can't read, is not continued. One after which it would return
// is, and the agent then reads the turns as one: the last, if that calls a tool,
// and otherwise a final answer made of all of them.
//
// Give the agent's ctx a session: without one, what a run has used of its budget
// is only known from its second step on.
package agents
