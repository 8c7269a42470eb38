// Package adapter defines what an adapter for an SDK or a wire protocol implements,
// and the values that the engine passes to it, as [database/sql/driver] does for
// databases. Programs that only use carryon do not need it.
//
// An adapter does three things:
//
//   - It describes a request to the engine, as a [Request].
//   - It extends a copy of the request as a [Continuation] says.
//   - It reads and shows the SDK's own chunks or answers, with a [Dialect].
//
// Package carryon/adapter/join takes the three and joins the turns. The engine decides
// when a call is continued, what the model is asked, and what the caller sees. It knows
// no types of an SDK. [Adapting another SDK] is a guide with an example.
//
// Structs that the engine fills in or reads may gain fields in minor releases, so use
// field names in literals.
//
// Experimental: signed reasoning ([TurnReader].Signed, [Request].FixedPrefix) and text
// agents ([TurnReader].Pause, [Request].TextAgent) follow protocols that still change.
//
// [Adapting another SDK]: https://github.com/carryon-go/carryon/blob/main/docs/adapters.md
package adapter
