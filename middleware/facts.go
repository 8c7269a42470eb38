package middleware

import (
	"context"
	"errors"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/background"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// othersWork returns what the agent has begun in the background, according to the history
// of the request, which stays the same for the whole call. The list must have been read.
func (d *decider) othersWork() *background.Work {
	if d.list.work == nil {
		work := background.Read(d.env.request.history)
		d.list.work = &work
	}
	return d.list.work
}

// othersTodos returns the indexes of the todos that are not for the agent to do now.
func othersTodos(todos []todo.Todo, team *background.Team) []int {
	if team.Role == background.Alone {
		return nil
	}
	return decision.Others(todos, decision.Agent{Name: team.Name, Member: team.Role == background.Member})
}

// readBackground asks for the session's work in the background. It reports false if
// the question fails: then the call is not continued.
func (d *decider) readBackground() bool {
	d.list.background, d.list.backgroundKnown = decision.Background{}, true
	begun := d.othersWork()
	d.list.others = othersTodos(d.list.todos, &begun.Team)
	if work := d.env.awaited(begun.Awaited); work.Unfinished > 0 {
		d.list.background = work
		return true
	}
	tasks := d.env.mw.options.tasks
	if tasks == nil {
		return true
	}
	var work delivery.Pending
	err := d.env.askTasks(d.env.cancel.ctx, func(ctx context.Context) (err error) {
		work, err = tasks.Pending(ctx, d.turn.Session, d.env.session.rules.Limits.MaxTaskAge)
		return err
	})
	if err != nil {
		d.env.faultOnce(d.turn.TurnID, opTasks, err)
		d.cause = err
		return false
	}
	d.list.background = decision.Background{Unfinished: work.Unfinished, Oldest: work.Oldest}
	return true
}

// mayAsk reports whether the model may be asked whether anything is open, now that the
// list was read: there is no list, and the user turn has called tools. It asks nothing of
// the history where the mode and the program rule the question out.
func (d *decider) mayAsk() bool {
	request := &d.env.request
	wanted := d.env.mw.options.closingQuestion || d.env.session.settings().ApprovalMode == continuation.ApprovalYOLO
	if !wanted || !errors.Is(d.list.err, todo.ErrNoList) || !request.offersTools() {
		return false
	}
	return request.callsTools()
}

// readTodos asks the todo source, which may fail, panic or be too slow.
func (d *decider) readTodos() {
	source := &d.env.mw.source
	ctx, limit := scope.WithSession(d.env.cancel.derive(), d.turn.Session), d.env.session.rules.Limits.TodoTimeout
	if source.shared {
		limit = min(limit, d.env.session.timeLeft())
		limited, done := d.env.session.limitWait(ctx)
		defer done()
		ctx = limited
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx = d.env.withRequest(ctx)
	if source.shared && d.env.session.waited.isOver() || !source.breaker.allows(d.env.mw.options.clock) {
		d.list = &readList{err: errSourceSkipped, turn: d.turn.Turn, work: d.list.work}
		return
	}
	watch := d.env.mw.options.watchIf(func(o *Observer) bool { return o.TodosRead != nil })
	list := source.locate(ctx, limit)
	list.turn, list.work = d.turn.Turn, d.list.work
	d.list = &list
	if took, timed := watch.read(); timed {
		d.env.mw.options.reporter.todosRead(d.env.cancel.caller, TodosRead{TurnID: d.turn.TurnID, Took: took, Todos: len(list.todos), Err: list.failure()})
	}
	ended := d.env.cancel.hasEnded()
	if !ended {
		d.sourceAnswered(ctx.Err() != nil)
		if source.shared && ctx.Err() != nil {
			d.env.session.waited.end()
		}
	}
	if err := d.list.failure(); err != nil && !ended { // otherwise it is the caller's doing
		d.env.fault(d.turn.TurnID, opTodos, err)
	}
	list.scope = d.listScope()
}

// sourceAnswered notes whether the todo source was late.
func (d *decider) sourceAnswered(late bool) {
	breaker := &d.env.mw.source.breaker
	switch {
	case late:
		_ = breaker.open(d.env.mw.options.clock, nil) // every missing list is reported
	case breaker.close():
		d.env.mw.options.reporter.recovered(d.env.cancel.caller, Recovered{Op: opTodos})
	}
}

// listScope returns why the call is out of scope now that the list is known:
// ReasonNoListTool if the list was found in the messages and no offered tool can write it.
// If the names of the tools are unknown, or a call without tools is continued, carryon
// assumes that the list can be written.
func (d *decider) listScope() (reason continuation.Reason) {
	source := &d.env.mw.source
	if source.writer == nil || d.list.err != nil || d.env.request.toolNames == nil {
		return reasons.None
	}
	err := d.env.mw.plugins.run(func() error {
		for tool := range d.env.request.toolNames.ToolNames {
			if source.writer.WritesList(tool) {
				reason = reasons.None
				return nil
			}
			reason = reasons.NoListTool
		}
		return nil
	})
	if err != nil {
		d.env.fault(d.turn.TurnID, opTodos, err)
		return reasons.None
	}
	return reason
}
