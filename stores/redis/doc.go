// Package redis stores the state that replicas share in Redis or Valkey: session
// state, todo lists and the records of background tasks.
//
//	engine, err := redis.Open("redis://localhost:6379/0")
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	mw := middleware.New(todos, middleware.WithRecords(engine))
//
// It needs Redis 5 or newer, or any version of Valkey. The server must allow
// scripts: carryon uses one short script. Clusters and sentinels work like a single
// server, because no update touches more than one key. An update takes one round
// trip, or two if another process has changed the record meanwhile.
//
// A record is a string: a revision of eleven characters, a space, and the record
// itself, which is text for everything that carryon stores. Keys begin with
// "carryon:"; [records.WithPrefix] sets another prefix.
//
// go-redis, the client, prints what it finds wrong with connections to standard error,
// unless its SetLogger sends that elsewhere.
//
// If the server evicts a session's key, the session gets its full budget again.
// docs/operators.md in the repository says how to set up a server, and what is
// lost when one fails.
package redis
