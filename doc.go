// Package carryon has no code: this page says where to begin.
//
// carryon keeps an LLM agent working until its todo list is done. A program makes a
// [github.com/carryon-go/carryon/middleware.Middleware] from a source of todos, and wraps
// it around its client:
//
//	mw := middleware.New(todo.FromConversation())
//	client := carryopenai.Wrap(openai.NewClient(key), mw)
//
// These packages are for programs:
//
//   - middleware: the engine, its options, and the outcome of a call
//   - todo: where the list comes from
//   - continuation: sessions, limits, and the reasons in outcomes
//   - adapters/openai, adapters/langchaingo: wrappers with an SDK's own types
//   - adapters/transport: for SDKs that take an HTTP client, such as openai-go,
//     anthropic-sdk-go and genai
//   - asynctask: work that outlives a turn
//   - pause: the tool with which a blocked model stops
//   - carryontest: a scripted model for tests
//
// Packages adapter and records are for those who adapt another SDK or store. The command
// and OpenTelemetry are modules of their own, cmd/carryon and otel.
//
// [The guide] has the line for each SDK.
//
// [The guide]: https://github.com/carryon-go/carryon/blob/main/docs/go.md#your-sdk
package carryon
