// Package postgres stores the state that replicas share in PostgreSQL: session
// state, todo lists and the records of background tasks.
//
//	engine, err := postgres.Open(ctx, "postgres://localhost/app")
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	if err := engine.CreateTable(ctx); err != nil { // or as a migration, see Schema
//		return err
//	}
//	mw := middleware.New(todos, middleware.WithRecords(engine))
//
// It needs PostgreSQL 11 or newer. An update takes one statement, or two if another
// process has changed the record meanwhile, with no transaction open between them.
// Nothing runs in the background: call [Engine.Sweep] from time to time to delete
// expired records.
//
// By default a change waits until the server has written it to disk. To save that
// time, turn it off for these connections with the parameter synchronous_commit=off
// in the URL. A crash may then lose the latest changes, as a failover may anyway.
package postgres
