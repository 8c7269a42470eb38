// Package langchaingo wraps a model of github.com/tmc/langchaingo so that it carries on
// until the todo list is done. It is usually imported as carrylangchain:
//
//	mw := middleware.New(todos)
//	model := carrylangchain.Wrap(llm, mw)
//
// Begin with [Wrap]. The result is an llms.Model and works wherever langchaingo takes one: under agents,
// chains and the program's own tool loops. Requests and answers have langchaingo's
// types, and pass through unchanged if carryon has nothing to do.
//
// # What is continued
//
// carryon continues calls that offer Tools or Functions. Text agents offer neither, and
// stop at "\nObservation:". carryon continues their calls if an option says how the
// agent reads an answer: see [WithTextAgent], and package agents for the agents of
// langchaingo. All other calls pass through, so that a chain gets exactly what the
// model answered; see [WithPlainChains]. Do not wrap a client that was made with a
// response format, as with openai.WithResponseFormat, because carryon cannot see that
// format.
//
// A continued answer has one choice: the text of all turns, the tool calls and the stop
// reason of the last turn, and token counts under their own keys. The caller's
// streaming functions receive the same answer, piece by piece.
//
// langchaingo's client of anthropic sends only the first part of an AI message, so put
// text and calls into separate messages in a loop of your own. Put a cache of
// llms/cache below the Model and not around it, because an answer also depends on the
// list, which is not part of the cache's key.
//
// # Executors
//
// An agents.Executor gives up after a number of steps, five by default, and then its
// answer is lost. By default carryon therefore sends only one continuation in a row
// here, and another one only after progress on the list; continuation.Limits change
// that. For long lists, raise agents.WithMaxIterations, too.
//
// Give each conversation a session with continuation.WithSession. The session reaches
// chains, tools and nested agents through ctx. Use continuation.Suppress for helper
// chains that share an agent's ctx. A callback can recognize the turns that carryon
// adds with continuation.FromContext; a handler that stores requests should do so. The
// clients of mistral and watsonx do not pass ctx on, so time limits end their
// continuations late.
package langchaingo
