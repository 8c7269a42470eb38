// Package adapter holds what an adapter of an SDK or of a wire protocol
// implements and what it is handed, as database/sql/driver does for a database.
// Programs that only use carryon do not need it.
//
// An adapter does three things:
//
//   - It describes a request to the engine, as a [Request].
//   - It extends a copy of the request, as a [Continuation] says.
//   - It reads and shows the SDK's own chunks or answers, with a [Dialect].
//
// The engine, in package middleware, decides when a call is continued, what the
// model is asked, and what the caller is shown. It knows no SDK's types.
package adapter
