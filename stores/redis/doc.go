// Package redis keeps what replicas share in Redis or Valkey: session state,
// todo lists and the accounts of background tasks.
//
//	engine, err := redis.Open("redis://localhost:6379/0")
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	mw := middleware.New(todos, middleware.WithStore(continuation.NewSharedStore(engine)))
//
// It needs Redis 5 or newer, or any Valkey, and one script of a few commands. A
// cluster and sentinels work as one server does: no update touches more than one
// key. An update takes one round trip, or two where another process changed the
// record since this one saw it.
//
// A record is a string: eleven characters that name the change which stored it, a
// space, and the record itself, which is text for all that carryon stores. Keys
// begin with "carryon:"; see [records.WithPrefix] for another beginning.
//
// What Redis drops is forgotten: a server that evicts keys of all kinds gives
// sessions their budgets back. docs/shared-state.md in the repository says how to
// set up a server, and what is lost when one fails.
package redis
