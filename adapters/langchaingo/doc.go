// Package langchaingo wraps a model of github.com/tmc/langchaingo so that it
// carries on until the todo list is done. It is usually imported as
// carrylangchain:
//
//	mw := middleware.New(todos)
//	model := carrylangchain.Wrap(llm, mw)
//
// The result is an llms.Model and stands wherever langchaingo takes one: under
// agents, chains and the program's own tool loops. Requests and answers are
// langchaingo's types, and pass through untouched as long as carryon has
// nothing to do.
//
// # What is continued
//
// Calls that offer Tools or Functions are. Calls of text agents, which offer
// neither and stop at "\nObservation:", are continued if the model was told how
// the agent reads an answer: see [WithTextAgent], and package agents for the
// agents of langchaingo. All other calls pass through, so that a chain gets
// what the model has answered and nothing else; see [WithPlainChains]. A format
// that a client was made with, as by openai.WithResponseFormat, can't be seen:
// such clients are not for wrapping.
//
// A continued answer has one choice: the text of all turns, the tool calls and
// the stop reason of the last one, and token counts summed under their own
// keys. The streaming functions that the caller has set are given the same, as
// it comes.
//
// Of an AI message with several parts the client of anthropic sends the first
// alone: in a loop of your own, give it text and calls in messages of their own.
// A cache of llms/cache belongs below the Model, not around it: an answer also
// depends on the list, which is no part of a cache's key.
//
// # Executors
//
// An agents.Executor gives up after some steps, five by default, and then its
// answer is lost. So there is one continuation in a row here unless
// continuation.Limits say otherwise, and until the list has made progress there
// is no other. For long lists raise agents.WithMaxIterations, too.
//
// Give each conversation a session (continuation.WithSession): it reaches chains,
// tools and nested agents through ctx, and so do continuation.Suppress, for
// helper chains that share an agent's ctx, and the marker of
// continuation.FromContext, by which callbacks tell the turns that carryon adds.
// A handler that stores what a model is sent should look for it. The clients of
// mistral and watsonx do not pass a ctx on, so that limits of time end their
// continuations late.
package langchaingo
