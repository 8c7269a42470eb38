package middleware

import (
	"context"
	"errors"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/background"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// lookup asks what a decision needs to know and the turn does not say: the todo list, and
// the work in the background.
type lookup struct {
	env  *callEnv
	turn *turn     // the current one
	list *readList // the list as last read
}

// ownBackground returns what the agent has begun in the background, according to the history
// of the request, which stays the same for the whole call. The list must have been read.
func (l *lookup) ownBackground() *background.Work {
	if l.list.work == nil {
		work := background.Read(l.env.request.history)
		l.list.work = &work
	}
	return l.list.work
}

// othersTodos returns the indexes of the todos that are not for the agent to do now.
func othersTodos(todos []todo.Todo, team *background.Team) []int {
	if team.Role == background.Alone {
		return nil
	}
	return decision.Others(todos, decision.Agent{Name: team.Name, Member: team.Role == background.Member})
}

// readBackground asks for the session's work in the background. If the question fails,
// the call is not continued.
func (l *lookup) readBackground() error {
	l.list.background, l.list.backgroundKnown = decision.Background{}, true
	begun := l.ownBackground()
	l.list.others = othersTodos(l.list.todos, &begun.Team)
	if work := l.awaited(begun.Awaited); work.Unfinished > 0 {
		l.list.background = work
		return nil
	}
	tasks := l.env.options().tasks
	if tasks == nil {
		return nil
	}
	var work delivery.Pending
	err := l.env.askTasks(l.env.cancel.ctx, func(ctx context.Context) (err error) {
		work, err = tasks.Pending(ctx, l.turn.Session, l.env.rules().Limits.MaxTaskAge)
		return err
	})
	if err != nil {
		l.env.faultOnce(l.turn.TurnID, opTasks, err)
		return err
	}
	l.list.background = decision.Background{Unfinished: work.Unfinished, Oldest: work.Oldest}
	return nil
}

// mayAsk reports whether the model may be asked whether anything is open, now that the
// list was read: there is no list, and the user turn has called tools. It asks nothing of
// the history where the mode and the program rule the question out.
func (l *lookup) mayAsk() bool {
	request := &l.env.request
	wanted := l.env.options().closingQuestion || l.env.session.settings().ApprovalMode == continuation.ApprovalYOLO
	if !wanted || !errors.Is(l.list.err, todo.ErrNoList) || !request.offersTools() {
		return false
	}
	return request.callsTools()
}

// readTodos asks the todo source, which may fail, panic or be too slow.
func (l *lookup) readTodos() {
	source := l.env.source()
	ctx, limit := scope.WithSession(l.env.cancel.derive(), l.turn.Session), l.env.rules().Limits.TodoTimeout
	var budget *guard.Budget // that of the store, for a source that shares it
	if source.shared {
		budget = &l.env.session.waited
		limit = min(limit, l.env.session.timeLeft())
		limited, done := l.env.session.limitWait(ctx)
		defer done()
		ctx = limited
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx = l.env.withRequest(ctx)
	if !source.remote.Allows(budget, l.env.options().clock) {
		l.list = &readList{err: errSourceSkipped, turn: l.turn.Turn, work: l.list.work}
		return
	}
	watch := l.env.options().watch()
	list := source.locate(ctx, limit)
	list.turn, list.work = l.turn.Turn, l.list.work
	l.list = &list
	took := watch.read()
	ended, recovered := l.env.cancel.hasEnded(), false
	if !ended {
		recovered = l.sourceAnswered(ctx.Err() != nil)
		if source.shared && ctx.Err() != nil {
			l.env.session.waited.End()
		}
	}
	if watch.runs() {
		emit(l.env.cancel.caller, l.env.reporter(), Answered{
			TurnID: l.turn.TurnID, Op: opTodos, Took: took, Todos: len(list.todos), Err: list.failure(), Recovered: recovered,
		})
	}
	if err := l.list.failure(); err != nil && !ended { // otherwise it is the caller's doing
		l.env.fault(l.turn.TurnID, opTodos, err)
	}
	list.scope = l.listScope()
}

// sourceAnswered notes whether the todo source was late. It reports whether the source
// was late before and is not any more.
func (l *lookup) sourceAnswered(late bool) (recovered bool) {
	remote := &l.env.source().remote
	if late {
		_ = remote.Failed(l.env.now(), nil) // every missing list is reported
		return false
	}
	return remote.Answered()
}

// listScope returns why the call is out of scope now that the list is known:
// ReasonNoListTool if the list was found in the messages and no offered tool can write it.
// If the names of the tools are unknown, or a call without tools is continued, carryon
// assumes that the list can be written.
func (l *lookup) listScope() (reason continuation.Reason) {
	source := l.env.source()
	if source.writer == nil || l.list.err != nil || l.env.request.toolNames == nil {
		return reasons.None
	}
	err := l.env.runPlugin(func() error {
		for tool := range l.env.request.toolNames.ToolNames {
			if source.writer.WritesList(tool) {
				reason = reasons.None
				return nil
			}
			reason = reasons.NoListTool
		}
		return nil
	})
	if err != nil {
		l.env.fault(l.turn.TurnID, opTodos, err)
		return reasons.None
	}
	return reason
}

// awaited returns the work in the background that the call awaits, of the launches that
// have not reported: what never reports must not stop a session for ever.
func (l *lookup) awaited(names []string) (work decision.Background) {
	now, maxAge := l.env.now(), l.env.rules().Limits.MaxTaskAge
	for _, name := range names {
		first := now
		if l.env.session.key != "" && maxAge != continuation.Off {
			first = l.env.mw.launches.since(l.env.session.key, name, now, maxAge)
		}
		if maxAge != continuation.Off && now.Sub(first) >= maxAge {
			continue
		}
		if work.Unfinished == 0 || first.Before(work.Oldest) {
			work.Oldest = first
		}
		work.Unfinished++
	}
	return work
}
