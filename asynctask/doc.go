// Package asynctask keeps track of work that runs in the background of a conversation,
// and tells the model once when some of it has ended.
//
// Begin with [NewManager], [Manager.Start], which runs a Go function as a task, and
// middleware.WithTasks, which tells the model. [Manager.Begin] records a task that runs
// elsewhere, such as a job of a queue.
//
//	tasks := asynctask.NewManager()
//	ticket, err := tasks.Start(ctx, "run the tests", func(ctx context.Context) (*asynctask.Output, error) {
//		report, err := runTests(ctx)
//		return asynctask.Message(report), err
//	})
//
// A task outlives the call that started it. Its ctx has the values of the caller's ctx,
// but is cancelled only when the task is cancelled. The session is one of these values,
// so a task that itself calls a model should do so in a session of its own.
//
// # Sessions
//
// A task belongs to the session of the ctx that started it, which
// continuation.WithSession sets, and is invisible in other sessions. Methods that start
// work take the session from their ctx; methods that look at work take it as an
// argument. Without a session, the model is never told about a task. A program with one
// conversation and no sessions uses [WithOneConversation].
//
// # Delivery
//
// A reminder tells the model once that a task has ended. The next request of the session
// carries it; if that request fails, the one after it does. The middleware adds the text
// to requests. A program that puts it into its own messages uses [Manager.Remind].
// Package autotrigger starts a turn of the program when a task ends while the agent is
// idle. A model can also check its tasks itself with [CheckTool]; that does not count as
// a delivery.
//
// # Several processes
//
// A Manager keeps one record per session, the account, with the tasks and with what the
// model has been told. Accounts are kept in memory or, with [WithRecords], in an engine
// that several processes share. A [Ticket] names a task in every process, and can
// travel as text in a job: one process starts a task, another attaches to it and
// finishes it, and a third tells the model. Functions, their ctx and subscriptions
// belong to one Manager. If the process of a function is gone, the task fails with
// [ErrOwnerLost] after two minutes. So does a task of Begin that nobody finishes in
// time; see [WithTaskLife]. All times are those of the engine's clock.
//
// # Bounds
//
// [WithSessionLimit] limits the running tasks of a session, and [WithLimit] the running
// functions of a Manager. A session keeps twice as many ended tasks as it may run, or
// 10 without a limit. A task whose end has not been delivered is never dropped to make
// room. Instead, beyond 256 KiB per session, the outputs are cut in the middle, the
// oldest first, and no task can be started in a session while 1,000 ended tasks
// wait. A session is dropped when it has not been used for a while
// ([WithRetention]) or when all sessions take too much memory ([WithMemory]).
// [Manager.Forget] drops the tasks of a conversation that is over.
//
// # Goroutines
//
// A Manager starts one goroutine for each function passed to Start. If processes share
// the engine, it also has a timer and, if the engine is a records.Notifier, one
// goroutine that listens. [Manager.Close] ends all of them and waits for them.
//
// [The guide] has examples.
//
// [The guide]: https://github.com/carryon-go/carryon/blob/main/docs/go.md#background-tasks
package asynctask
