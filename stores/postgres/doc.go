// Package postgres keeps what replicas share in PostgreSQL: session state, todo
// lists and the accounts of background tasks.
//
//	engine, err := postgres.Open(ctx, "postgres://localhost/app")
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	if err := engine.CreateTable(ctx); err != nil { // or as a migration, see Schema
//		return err
//	}
//	mw := middleware.New(todos, middleware.WithStore(continuation.NewSharedStore(engine)))
//
// It needs PostgreSQL 11 or newer. An update is one statement, or two where
// another process changed the record since this one saw it, and no transaction is
// open between them. Nothing runs in the background: call [Engine.Sweep] now and
// then to delete the records that are over their time.
//
// A change waits for the disk of the server. What is lost without that is what a
// failover may lose anyway, the last changes, so a program may turn it off for
// these connections, with the parameter synchronous_commit=off in the URL.
package postgres
