// Package adapter defines what an adapter for an SDK or a wire protocol implements,
// and the values that the engine passes to it, as database/sql/driver does for
// databases. Programs that only use carryon do not need it.
//
// An adapter does three things:
//
//   - It describes a request to the engine, as a [Request].
//   - It extends a copy of the request according to a [Continuation].
//   - It reads and shows the SDK's own chunks or answers, with a [Dialect].
//
// The engine, in package middleware, decides when a call is continued, what the model
// is asked, and what the caller is shown. It knows no types of an SDK.
package adapter
