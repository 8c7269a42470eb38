package middleware

import (
	"context"
	"sync"

	"github.com/carryon-go/carryon/internal/lru"
	"github.com/carryon-go/carryon/internal/scope"
)

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
	if session := c.session.name(); c.turn.reader.wroteList {
		c.mw.writings.add(session, c.session.userTurn)
	}
}

// hasWrittenList reports whether the session has written the list in the user turn of
// the call, as far as this process knows.
func (s *callScope) hasWrittenList() bool {
	return s.session.touched || s.session.name() != "" && s.mw.writings.isIn(s.session.name(), s.session.userTurn)
}
