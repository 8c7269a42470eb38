package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/background"
	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/scope"
	"github.com/carryon-go/carryon/todo"
)

// readList is the todo list and the background work as read for a decision.
type readList struct {
	todos  []todo.Todo
	origin todo.Origin
	err    error // why there is no list
	turn   int   // the turn that it was read for; 0 if it must be read again

	background      continuation.Background
	others          []int // of todos, those that are not for this agent to do now
	backgroundKnown bool  // both are known

	work *background.Work // what the agent has begun in the background; nil until it is needed
}

// noList is the list of a call that has not read any. It is never changed.
var noList readList //nolint:gochecknoglobals // constant

// putList sets the list in the input of a decision, and how the turn ends, which
// matters only if there is work on the list.
func (d *decider) putList(in *continuation.Input) {
	d.list.putInto(in)
	if t := &in.Turn; len(in.Todos) > 0 && !t.BrokeOff && !t.ToolCalls && !t.TooLong {
		t.End = d.turn.textEnd()
	}
}

// putInto sets the list in the input of a decision.
func (l *readList) putInto(in *continuation.Input) {
	in.Todos, in.Origin, in.TodosErr, in.TodosKnown = l.todos, l.origin, l.err, true
	in.Background, in.Others = l.background, l.others
}

// readTodos asks the todo source, which may fail, panic or be too slow.
func (d *decider) readTodos() {
	ctx, limit := scope.WithSession(d.cancel.derive(), d.turn.Session), d.mw.options.limits.TodoTimeout
	if d.mw.sharedTodos {
		limit = min(limit, d.session.timeLeft())
		limited, done := d.session.limitWait(ctx)
		defer done()
		ctx = limited
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx = d.withRequest(ctx)
	if d.mw.sharedTodos && d.session.waited.isOver() || !d.mw.sourceBreaker.allows(d.mw.options.clock) {
		d.list = &readList{err: ErrSourceSkipped, turn: d.turn.Turn, work: d.list.work}
		return
	}
	watch := d.mw.options.watchIf(func(o *Observer) bool { return o.TodosRead != nil })
	list := d.mw.locate(ctx, limit)
	list.turn, list.work = d.turn.Turn, d.list.work
	d.list = &list
	if took, timed := watch.read(); timed {
		d.mw.options.report.todosRead(d.cancel.caller, TodosRead{TurnID: d.turn.TurnID, Took: took, Todos: len(list.todos), Err: list.failure()})
	}
	ended := d.cancel.hasEnded()
	if !ended {
		d.mw.sourceAnswered(d.cancel.caller, ctx.Err() != nil)
		if d.mw.sharedTodos && ctx.Err() != nil {
			d.session.waited.end()
		}
	}
	if err := d.list.failure(); err != nil && !ended { // otherwise it is the caller's doing
		d.fault(d.turn.TurnID, OpTodos, err)
	}
}

// withRequest returns ctx with what a todo source may read of the request: the
// conversation and the names of the tools.
func (s *callScope) withRequest(ctx context.Context) context.Context {
	if s.request.history != nil {
		ctx = todo.WithConversation(ctx, adapter.Calls(s.request.history))
	}
	if s.request.toolNames != nil {
		ctx = todo.WithTools(ctx, s.request.toolNames.ToolNames)
	}
	return ctx
}

// A sharer is a source that may keep its lists in an engine that processes share.
type sharer interface{ IsShared() bool }

// A listWriter is a todo source that knows the tools that write its list.
type listWriter interface {
	WritesList(tool string) bool
}

// listScope returns why the call is out of scope now that the list is known: scope,
// or ReasonNoListTool if the list was found in the messages and no offered tool can
// write it. If the names of the tools are unknown, or a call without tools is
// continued, carryon assumes that the list can be written.
func (d *decider) listScope(scope continuation.Reason) continuation.Reason {
	source, knows := d.mw.todos.(listWriter)
	if !knows || scope != continuation.ReasonNone || d.list.err != nil || d.request.toolNames == nil {
		return scope
	}
	var reason continuation.Reason
	err := d.mw.plugins.run(func() error {
		for tool := range d.request.toolNames.ToolNames {
			if source.WritesList(tool) {
				reason = continuation.ReasonNone
				return nil
			}
			reason = continuation.ReasonNoListTool
		}
		return nil
	})
	if err != nil {
		d.fault(d.turn.TurnID, OpTodos, err)
		return scope
	}
	return reason
}

// locate asks the todo source within the time that ctx leaves.
func (mw *Middleware) locate(ctx context.Context, limit time.Duration) readList {
	var list readList
	list.err = mw.plugins.run(func() (err error) {
		if source, ok := mw.todos.(todo.Locator); ok {
			list.todos, list.origin, err = source.Locate(ctx)
		} else {
			list.todos, err = mw.todos.Todos(ctx)
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
// when the agent shortens its history.
type listWritings struct {
	mu       sync.Mutex
	sessions *lru.Table[listWriting]
}

type listWriting struct {
	userTurn int  // in which the list was written
	unread   bool // no request since then was read
}

func newListWritings() *listWritings { return &listWritings{sessions: lru.New[listWriting]()} }

// add notes that a turn of the session wrote the list.
func (w *listWritings) add(session string, userTurn int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.sessions.Put(session) = listWriting{userTurn: userTurn, unread: true}
	if w.sessions.Len() > maxWritings {
		w.sessions.RemoveOldest()
	}
}

// takeUnread reports whether the session has written a list that was not read since, and
// notes that it is read now.
func (w *listWritings) takeUnread(session string) bool {
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

// rememberList makes the todo source remember the list in the request of the call, if
// the turn before has written it.
func (c *Call) rememberList() {
	source, remembers := c.mw.todos.(rememberer)
	session := c.session.name()
	if !remembers || session == "" || c.request.history == nil || !c.mw.writings.takeUnread(session) {
		return
	}
	ctx := c.withRequest(scope.WithSession(c.cancel.caller, session))
	_ = c.mw.plugins.run(func() error { source.Remember(ctx); return nil }) // if it fails, the next decision says so
}

// isListTool reports whether a tool of that name writes the list, as far as the todo
// source knows.
func (mw *Middleware) isListTool(name string) (writes bool) {
	source, knows := mw.todos.(listWriter)
	if !knows {
		return false
	}
	_ = mw.plugins.run(func() error { writes = source.WritesList(name); return nil }) // only a hint is lost
	return writes
}

// noteListWriting notes that the turn, which has ended in tool calls, wrote the list.
func (c *Call) noteListWriting() {
	if c.turn.reader.wroteList {
		c.mw.writings.add(c.session.name(), c.session.userTurn)
	}
}

// hasWrittenList reports whether the session has written the list in the user turn of
// the call, as far as this process knows.
func (s *callScope) hasWrittenList() bool {
	return s.session.touched || s.session.name() != "" && s.mw.writings.isIn(s.session.name(), s.session.userTurn)
}
