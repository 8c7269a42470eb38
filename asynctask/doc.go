// Package asynctask keeps track of the work that runs in the background of a
// conversation, and tells the model, once, when some of it has ended.
//
// A [Manager] runs Go functions as named tasks under a limit, and records tasks
// that run elsewhere:
//
//	tasks := asynctask.NewManager()
//	ticket, err := tasks.Start(ctx, "run the tests", func(ctx context.Context) (*asynctask.Output, error) {
//		report, err := runTests(ctx)
//		return asynctask.Message(report), err
//	})
//
// The task outlives the call that started it. Its ctx has the values of the caller's
// ctx but does not end with it; it ends when the task is cancelled. The session is
// among the values, so a task that calls a model itself should do so under a session
// of its own.
//
// # Sessions
//
// A task belongs to the session of the ctx that started it, as set by
// continuation.WithSession, and does not show in any other session. Without a session
// nothing is delivered; a program with one conversation and no sessions uses
// [WithOneConversation]. Methods that start work take the session from their ctx;
// methods that look at work take it as an argument.
//
// # Delivery
//
// A reminder tells the model about the end of a task, exactly once. A [Delivery] is a
// lease on the tasks that it names, and [Manager.Settle] records its outcome.
// [Manager.Remind] is for programs that put the reminder into their messages
// themselves, and [Manager.Deliver] for the middleware, which adds it to requests on
// the way. Package autotrigger makes the program start a turn when a task ends while
// the agent is idle. A model can also look for itself, with [CheckTool]; that does
// not count as a delivery.
//
// # Several processes
//
// A Manager keeps one record per session, its account: the tasks, and what the model
// was told. Accounts are kept in memory, or with [WithRecords] in an engine that
// several processes share. A [Ticket] names a task in every process, and travels as
// text in a job: one process starts a task, another attaches to it and finishes it,
// and a third tells the model. Functions, their ctx and subscriptions belong to one
// Manager. A function whose process is gone fails with [ErrOwnerLost] after
// [OwnerLife]; so does a task of Begin that nobody finishes, after its life (see
// [WithTaskLife]). All times are the engine's.
//
// # Bounds
//
// A session has a limit on its running tasks ([WithSessionLimit]), and a Manager has
// one on its functions ([WithLimit]). A session keeps twice as many ended tasks as it
// may run (10 without a limit). Undelivered ends are never dropped for new ones:
// instead, beyond 256 KiB, their outputs are cut to head and tail, oldest first, and
// no task is started in a session while [MaxUndelivered] ended tasks wait. A session
// that nobody uses is dropped after a while ([WithRetention]), or when all sessions
// take too much memory ([WithMemory]). [Manager.Forget] drops the tasks of a
// conversation that is over.
//
// # Goroutines
//
// A Manager starts one goroutine for each function given to Start. If processes share
// the engine, it also has one timer, and if the engine can notify, one goroutine that
// listens. [Manager.Close] ends all of them and waits for them.
package asynctask
