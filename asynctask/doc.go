// Package asynctask keeps track of work that goes on in the background of a
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
// The task outlives the call that started it. Its ctx has the values of the
// caller's ctx but not its end, and ends when the task is cancelled. Since the
// session is among the values, a task that talks to a model itself should do so
// under a session of its own.
//
// # Sessions
//
// A task belongs to the session of the ctx that started it, as set by
// continuation.WithSession, and nothing about it shows in another session.
// Without a session nothing is delivered; a program with one conversation and no
// sessions uses [WithOneConversation]. What starts work finds the session in its
// ctx; what looks at it is given the session.
//
// # Delivery
//
// The end of a task is told to the model in a reminder, exactly once. A
// [Delivery] is a lease on the tasks that it names, and [Manager.Settle] says
// what became of it. [Manager.Remind] is for programs that put the reminder into
// their messages themselves, and [Manager.Deliver] for the middleware, which
// adds it to requests on the way. Package autotrigger has the program start a
// turn when a task ends while the agent is idle. A model can also look for
// itself, with [CheckTool]; that does not count as a delivery.
//
// # Several processes
//
// What a Manager knows of a session, its tasks and what the model was told, is
// one record, the session's account. It is kept in memory, or with
// [WithRecords] in an engine that several processes share. A [Ticket] names a
// task wherever it goes, and travels as text in a job: one process starts a task,
// another attaches to it and finishes it, and a third tells the model. Functions,
// their ctx and subscriptions belong to one Manager. A function whose process is
// gone fails with [ErrOwnerLost] after [OwnerLife]; a task of Begin that nobody
// finishes does after its life, see [WithTaskLife]. All times are the engine's.
//
// # Bounds
//
// A session has a limit on the tasks that run ([WithSessionLimit]), and a Manager
// one on its functions ([WithLimit]). Twice the session's limit of tasks that
// have ended is kept (10 if there is none). Ends that were not delivered yet are
// never dropped for new ones: instead their outputs are cut to head and tail,
// oldest first, beyond 256 KiB, and no task is started in a session while
// [MaxUndelivered] of its own wait. A session that nobody asks for is dropped
// after a while ([WithRetention]), or when all of them take too much memory
// ([WithMemory]). [Manager.Forget] drops what belongs to a conversation that is
// over.
//
// # Goroutines
//
// A Manager starts one goroutine for each function given to Start, and one that
// listens if the engine can notify. Beyond that it has one timer if an engine is
// shared. [Manager.Close] ends and joins them all.
package asynctask
