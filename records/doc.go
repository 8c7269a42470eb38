// Package records defines the interface to a store that several processes share. A
// store keeps small records of bytes, and a record is changed by a function that
// receives the old bytes and returns the new ones.
//
// carryon keeps session state, todo lists and background tasks as records, so one
// engine serves them all:
//
//	engine, err := redis.Open("redis://localhost:6379") // carryon/stores/redis, or carryon/stores/postgres
//	...
//	mw := middleware.New(todos, middleware.WithRecords(engine))
//
// Begin with [Records], the interface; [WithPrefix], with which programs share one
// engine and no records; and [MemoryEngine], an engine for tests and for programs that
// run as a single process.
//
// To write another engine, implement [Records]. For a remote engine, implement the
// smaller [Swapper] and pass it to [NewSwapping], which adds retries, fairness between
// processes and a cache. carryontest.TestRecords checks the result.
//
// [Shared state] says how to run replicas on Redis or PostgreSQL.
//
// [Shared state]: https://github.com/carryon-go/carryon/blob/main/docs/operators.md#shared-state
package records
