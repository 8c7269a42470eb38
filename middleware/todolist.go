package middleware

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/background"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/origins"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/internal/tooldef"
	"github.com/carryon-go/carryon/todo"
)

// readList is the todo list and the background work as read for a decision.
type readList struct {
	todos  []todo.Todo
	origin todo.Origin
	err    error               // why there is no list
	turnNo int                 // the turn that it was read for; 0 if it must be read again
	scope  continuation.Reason // why the call is out of scope, now that the list is known

	background      decision.Background
	othersTodos     []int // of todos, those that are not for this agent to do now
	backgroundKnown bool  // both are known

	work *background.Work // what the agent has begun in the background; nil until it is needed
}

// noList is the list of a call that has not read any. It is never changed.
var noList readList //nolint:gochecknoglobals // constant

// addTo adds the list, and the background work if it is known, to the input of a decision.
func (l *readList) addTo(in *decision.Input) {
	in.Known |= decision.TodoList
	in.Todos, in.Origin, in.TodosErr, in.Scope = l.todos, l.origin, l.err, l.scope
	if l.backgroundKnown {
		in.Known |= decision.BackgroundWork
		in.Background, in.OthersTodos = l.background, l.othersTodos
	}
}

// todoSource is the program's todo source, and what else it can do.
type todoSource struct {
	plugins  *plugins
	provider todo.Provider
	locator  todo.Locator // nil if the source does not say where a list comes from
	memory   rememberer   // nil if it does not remember lists
	writer   listWriter   // nil if it does not know the tools that write its list
	marker   listMarker   // nil if it does not know the tool that marks todos as done
	shared   bool         // it asks a store that processes share
	remote   guard.Remote
	writings listWritings

	isListTool func(name string) bool // writesList
}

// use sets the source.
func (s *todoSource) use(todos todo.Provider, p *plugins) {
	s.provider, s.plugins = todos, p
	s.locator, _ = todos.(todo.Locator)
	s.memory, _ = todos.(rememberer)
	s.writer, _ = todos.(listWriter)
	s.marker, _ = todos.(listMarker)
	source, isSharer := todos.(sharer)
	s.shared = isSharer && source.IsShared()
	s.isListTool = s.writesList
}

// A sharer is a source that may keep its lists in a store that processes share.
type sharer interface{ IsShared() bool }

// A listWriter is a todo source that knows the tools that write its list.
type listWriter interface {
	WritesList(tool string) bool
}

// A listMarker is a todo source that knows the tool that marks todos as done.
type listMarker interface {
	DoneTool(origin todo.Origin, offered iter.Seq[string]) string
}

// doneTool returns the name of the tool that marks todos of a list as done, if it is known.
func (s *todoSource) doneTool(origin todo.Origin, offered adapter.ToolNamer) (name string) {
	var tools iter.Seq[string]
	if offered != nil {
		tools = offered.ToolNames
	}
	switch {
	case s.marker != nil:
		_ = s.plugins.run(func() error { name = s.marker.DoneTool(origin, tools); return nil }) // only a hint is lost
	case tools != nil && origin.Place == origins.Memory:
		for tool := range tools {
			if strings.EqualFold(tool, tooldef.TodoWrite) { // as Memory.Handle compares it
				return tool
			}
		}
	}
	return name
}

// locate asks the todo source within the time that ctx leaves.
func (s *todoSource) locate(ctx context.Context, limit time.Duration) readList {
	var list readList
	list.err = s.plugins.run(func() (err error) {
		if s.locator != nil {
			list.todos, list.origin, err = s.locator.Locate(ctx)
		} else {
			list.todos, err = s.provider.Todos(ctx)
		}
		return err
	})
	if late := ctx.Err(); late != nil { // late is late, even if the source ignores its ctx
		list.err = lateError(limit, late, list.err)
	}
	if list.err != nil {
		list.todos = nil
	}
	// The list is looked at again when the continuation is sent, and the source
	// may use its slice for something else by then.
	list.todos = slices.Clone(list.todos)
	return list
}

// lateError returns the error of a source that was late, with the error that it
// returned meanwhile.
func lateError(limit time.Duration, late, err error) error {
	if err == nil || err == late { //nolint:errorlint // the same value adds nothing
		return fmt.Errorf("no list within %v: %w", limit, late)
	}
	return fmt.Errorf("no list within %v: %w: %w", limit, late, err)
}

// failure returns the error that the source failed with, or nil: a missing list is
// not a failure.
func (l *readList) failure() error {
	for _, noList := range []error{todo.ErrNoList, todo.ErrUnreadable, todo.ErrNoSession} {
		if errors.Is(l.err, noList) {
			return nil
		}
	}
	return l.err
}

// maxWritings is how many sessions are remembered in which the model wrote the list.
const maxWritings = 10_000

// listWritings are the sessions whose latest turns wrote the todo list. A turn that ends
// in a tool call does not read the list, so without them a long run would lose the list
// when the agent shortens its history. The zero value is ready.
type listWritings struct {
	some     atomic.Bool // false as long as nothing was added, which is all that most calls ask
	mu       sync.Mutex
	sessions *lru.Table[listWriting] // nil for none
}

type listWriting struct {
	userTurn int  // in which the list was written
	unread   bool // no request since then was read
}

// add notes that a turn of the session wrote the list.
func (w *listWritings) add(session string, userTurn int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		w.sessions = lru.New[listWriting]()
		w.some.Store(true)
	}
	*w.sessions.Put(session) = listWriting{userTurn: userTurn, unread: true}
	if w.sessions.Len() > maxWritings {
		w.sessions.RemoveOldest()
	}
}

// takeUnread reports whether the session has written a list that was not read since, and
// notes that it is read now.
func (w *listWritings) takeUnread(session string) bool {
	if !w.some.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.sessions.Get(session)
	if at == nil || !at.unread {
		return false
	}
	at.unread = false
	return true
}

// isIn reports whether the session wrote the list in that user turn.
func (w *listWritings) isIn(session string, userTurn int) bool {
	if !w.some.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.sessions.Get(session)
	return at != nil && at.userTurn == userTurn
}

// A rememberer is a todo source that remembers the list of a session's request, for
// later requests whose history was shortened.
type rememberer interface {
	Remember(ctx context.Context)
}

// writesList reports whether a tool of that name writes the list, as far as the source
// knows.
func (s *todoSource) writesList(name string) (writes bool) {
	if s.writer == nil {
		return false
	}
	_ = s.plugins.run(func() error { writes = s.writer.WritesList(name); return nil }) // only a hint is lost
	return writes
}

// remember makes the source remember the list in a request, if it can. ctx is that of
// the request.
func (s *todoSource) remember(ctx context.Context) {
	_ = s.plugins.run(func() error { s.memory.Remember(ctx); return nil }) // if it fails, the next decision says so
}

// inputs asks what a decision needs to know and the turn does not say: the todo list, and
// the work in the background.
type inputs struct {
	env  *callEnv
	turn *turn     // the current one
	list *readList // the list as last read
}

// ownBackground returns what the agent has begun in the background, according to the history
// of the request, which stays the same for the whole call. The list must have been read.
func (l *inputs) ownBackground() *background.Work {
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
func (l *inputs) readBackground() error {
	l.list.background, l.list.backgroundKnown = decision.Background{}, true
	begun := l.ownBackground()
	l.list.othersTodos = othersTodos(l.list.todos, &begun.Team)
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
		l.env.reportFailureOnce(l.turn.TurnID, opTasks, err)
		return err
	}
	l.list.background = decision.Background{Unfinished: work.Unfinished, Oldest: work.Oldest}
	return nil
}

// mayAsk reports whether the model may be asked whether anything is open, now that the
// list was read: there is no list, and the user turn has called tools. It asks nothing of
// the history where the mode and the program rule the question out.
func (l *inputs) mayAsk() bool {
	request := &l.env.request
	wanted := l.env.options().closingQuestion || l.env.session.settings().ApprovalMode == continuation.ApprovalYOLO
	if !wanted || !errors.Is(l.list.err, todo.ErrNoList) || !request.offersTools() {
		return false
	}
	return request.callsTools()
}

// readTodos asks the todo source, which may fail, panic or be too slow.
func (l *inputs) readTodos() {
	source := l.env.source()
	ctx, limit := scope.WithSession(l.env.cancel.derive(), l.turn.Session), l.env.rules().Limits.TodoTimeout
	var budget *guard.Budget // that of the store, for a source that shares it
	if source.shared {
		budget = &l.env.session.remoteBudget
		limit = min(limit, l.env.session.timeLeft())
		limited, done := l.env.session.limitWait(ctx)
		defer done()
		ctx = limited
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx = l.env.withRequest(ctx)
	if !source.remote.Allows(budget, l.env.options().clock) {
		l.list = &readList{err: errSourceSkipped, turnNo: l.turn.Turn, work: l.list.work}
		return
	}
	watch := l.env.options().watch()
	list := source.locate(ctx, limit)
	list.turnNo, list.work = l.turn.Turn, l.list.work
	l.list = &list
	took := watch.read()
	ended, recovered := l.env.cancel.hasEnded(), false
	if !ended {
		recovered = l.sourceAnswered(ctx.Err() != nil)
		if source.shared && ctx.Err() != nil {
			l.env.session.remoteBudget.End()
		}
	}
	if watch.runs() {
		emit(l.env.cancel.caller, l.env.reporter(), Answered{
			TurnID: l.turn.TurnID, Op: opTodos, Took: took, Todos: len(list.todos), Err: list.failure(), Recovered: recovered,
		})
	}
	if err := l.list.failure(); err != nil && !ended { // otherwise it is the caller's doing
		l.env.reportFailure(l.turn.TurnID, opTodos, err)
	}
	list.scope = l.listScope()
}

// sourceAnswered notes whether the todo source was late. It reports whether the source
// was late before and is not any more.
func (l *inputs) sourceAnswered(late bool) (recovered bool) {
	remote := &l.env.source().remote
	if late {
		_ = remote.Failed(l.env.now(), nil) // every missing list is reported
		return false
	}
	return remote.Answered()
}

// listScope returns why the call is out of scope now that the list is known:
// reasons.NoListTool if the list was found in the messages and no offered tool can write it.
// If the names of the tools are unknown, or a call without tools is continued, carryon
// assumes that the list can be written.
func (l *inputs) listScope() (reason continuation.Reason) {
	source := l.env.source()
	if source.writer == nil || l.list.err != nil || l.env.request.toolNames == nil {
		return reasons.None
	}
	err := source.plugins.run(func() error {
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
		l.env.reportFailure(l.turn.TurnID, opTodos, err)
		return reasons.None
	}
	return reason
}

// awaited returns the work in the background that the call awaits, of the launches that
// have not reported: what never reports must not stop a session for ever.
func (l *inputs) awaited(names []string) (work decision.Background) {
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
