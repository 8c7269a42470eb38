// Package records is what carryon asks of an engine that several processes
// share: small records of bytes, each replaced by a function of itself.
//
// Session state, todo lists and the accounts of background tasks are kept as
// records, so one engine serves them all:
//
//	engine, err := redis.Open("redis://localhost:6379") // carryon/stores/redis, or carryon/stores/postgres
//	...
//	mw := middleware.New(todos, middleware.WithStore(continuation.NewSharedStore(engine)))
//
// [MemoryEngine] is an engine for tests and for programs with one process. To write
// an engine for something else, implement [Records], or the smaller [Swapper]
// and hand it to [NewSwapping], which brings the retries, the fairness between
// processes and the cache that a remote engine needs. carryontest.TestRecords
// checks the result.
package records
