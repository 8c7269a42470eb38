// Package records defines what carryon needs of an engine that several processes
// share: small records of bytes, each replaced by a function of itself.
//
// Session state, todo lists and the accounts of background tasks are kept as
// records, so one engine serves them all:
//
//	engine, err := redis.Open("redis://localhost:6379") // carryon/stores/redis, or carryon/stores/postgres
//	...
//	mw := middleware.New(todos, middleware.WithRecords(engine))
//
// [MemoryEngine] is an engine for tests and for programs with one process. To write
// another engine, implement [Records], or implement the smaller [Swapper] and pass it
// to [NewSwapping], which adds the retries, the fairness between processes and the
// cache that a remote engine needs. carryontest.TestRecords checks the result.
package records
