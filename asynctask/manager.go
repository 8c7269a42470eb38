package asynctask

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/scope"
)

// Func is the work of a task. Its ctx has the values of the ctx that started
// the task, ends when the task is cancelled, and must be honoured: a function
// that goes on keeps its place under the limit, and Close waits for it. If the
// error is not nil the task has failed, and the Output is dropped.
type Func func(ctx context.Context) (*Output, error)

// Manager runs tasks in the background of conversations and keeps account of
// them; the package's documentation says how. It is safe for concurrent use.
// Use NewManager: the zero value is not ready.
type Manager struct {
	options options
	clock   clock.Clock

	mu           sync.Mutex
	sessions     map[string]*session
	tasks        map[string]*task
	reservations map[*Reservation]struct{}
	triggers     map[*AutoTrigger]struct{}
	subscribers  []*subscriber // replaced, never changed in place
	history      history
	undelivered  int
	slots        int // tasks elsewhere that run, and functions that have not returned
	goroutines   int
	closed       bool
	drained      chan struct{} // closed once the last goroutine of a closed Manager ends
}

// NewManager returns a Manager without tasks. It starts nothing.
func NewManager(opts ...Option) *Manager {
	o := options{limit: DefaultLimit, outputSize: DefaultOutputSize, clock: clock.System()}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	m := &Manager{
		options:      o,
		clock:        o.clock,
		sessions:     map[string]*session{},
		tasks:        map[string]*task{},
		reservations: map[*Reservation]struct{}{},
		triggers:     map[*AutoTrigger]struct{}{},
		drained:      make(chan struct{}),
	}
	m.history.init()
	return m
}

// Start runs f as a task of the session of ctx, on a goroutine of its own, and
// returns the task's id. The end of ctx does not end the task. A panic of f is
// a failure of the task, of type *PanicError.
//
// The name is for people and models: white space in it is collapsed, and beyond
// 100 characters it is cut. Start fails with ErrInvalid if it is blank, and with
// ErrLimit, ErrBacklog or ErrClosed. It panics if ctx or f is nil.
func (m *Manager) Start(ctx context.Context, name string, f Func) (id string, err error) {
	return m.start(ctx, nil, name, f)
}

// Begin takes note of a task of the session of ctx that runs elsewhere: in
// another process, or under the care of the program. Its end is reported with
// Finish, Fail or Cancel. The ctx returned has the values of the one given and
// ends with the task, so that whoever works on it can see that it was cancelled.
//
// The id names the task among all of the Manager's; it has up to 128 letters,
// digits and signs of ASCII. It is free again once the task has ended, was
// delivered, and is not kept any more. The name is as in Start. Begin fails with
// ErrInvalid, ErrDuplicate, ErrLimit, ErrBacklog or ErrClosed. It panics if ctx
// is nil.
func (m *Manager) Begin(ctx context.Context, id, name string) (context.Context, error) {
	return m.begin(ctx, nil, id, name)
}

// start starts a task, in the place of the reservation if there is one.
func (m *Manager) start(ctx context.Context, r *Reservation, name string, f Func) (string, error) {
	if f == nil {
		panic("asynctask: nil function")
	}
	t := &task{id: newID(), local: true}
	ctx, err := m.add(ctx, r, t, name)
	if err != nil {
		return "", err
	}
	go m.run(ctx, t, f)
	return t.id, nil
}

func (m *Manager) begin(ctx context.Context, r *Reservation, id, name string) (context.Context, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	return m.add(ctx, r, &task{id: id}, name)
}

// add makes t a task of the session of ctx and returns the task's ctx.
func (m *Manager) add(ctx context.Context, r *Reservation, t *task, name string) (context.Context, error) {
	key := m.sessionOf(ctx)
	name, err := cleanName(name)
	if err != nil {
		return nil, err
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.admit(r, t.id); err != nil {
		cancel(err)
		return nil, err
	}
	t.name, t.home, t.state, t.cancel = name, m.home(key), Running, cancel
	t.started, t.returned = m.clock.Now(), make(chan struct{})
	t.home.begin(t)
	m.tasks[t.id] = t
	m.slots++
	if t.local {
		m.goroutines++
	}
	return own, nil
}

// admit reports what speaks against a task, and uses up the reservation.
func (m *Manager) admit(r *Reservation, id string) error {
	if m.tasks[id] != nil {
		return fmt.Errorf("%w: %s", ErrDuplicate, id)
	}
	if r == nil {
		return m.room()
	}
	if m.closed {
		return ErrClosed
	}
	if _, ok := m.reservations[r]; !ok || r.lapsed(m.clock.Now()) {
		return ErrReservation
	}
	delete(m.reservations, r)
	return nil
}

// room fails if there is none for one more task.
func (m *Manager) room() error {
	switch limit := m.options.limit; {
	case m.closed:
		return ErrClosed
	case m.undelivered >= MaxUndelivered:
		return fmt.Errorf("%w: %d", ErrBacklog, m.undelivered)
	case limit != Unlimited && m.slots+m.reserved() >= limit:
		return fmt.Errorf("%w: %d of %d places are taken (%d of them reserved)",
			ErrLimit, m.slots+len(m.reservations), limit, len(m.reservations))
	}
	return nil
}

// sessionOf returns the session that what is started under ctx belongs to.
func (m *Manager) sessionOf(ctx context.Context) string {
	if ctx == nil {
		panic("asynctask: nil context")
	}
	return m.key(scope.Session(ctx))
}

// key returns the key of the session in sessions.
func (m *Manager) key(name string) string {
	if m.options.oneConversation {
		return ""
	}
	return name
}

// mutes reports whether nothing of the session under key is delivered.
func (m *Manager) mutes(key string) bool {
	return key == "" && !m.options.oneConversation
}

// home returns the session under key, a new one if there is none.
func (m *Manager) home(key string) *session {
	s := m.sessions[key]
	if s == nil {
		s = &session{key: key, mute: m.mutes(key)}
		m.sessions[key] = s
	}
	return s
}

// look returns the named session, nil if nothing is kept of it or nothing of it
// is for others to see.
func (m *Manager) look(name string) *session {
	s := m.sessions[m.key(name)]
	if s == nil || s.mute {
		return nil
	}
	return s
}

// Pending returns how many tasks of the session are running, or have a place
// reserved, and have been so for less than maxAge, and since when the oldest of
// them. A maxAge of zero or less is no limit. Tasks that have ended do not
// count, nor do cancelled ones whose functions have not returned.
func (m *Manager) Pending(session string, maxAge time.Duration) (n int, oldest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.look(session)
	if (s == nil || s.running == 0) && len(m.reservations) == 0 {
		return 0, time.Time{}
	}
	now := m.clock.Now()
	count := func(since time.Time) {
		if maxAge > 0 && now.Sub(since) >= maxAge {
			return
		}
		if n++; n == 1 || since.Before(oldest) {
			oldest = since
		}
	}
	if s != nil {
		for _, t := range s.tasks {
			if t.state == Running {
				count(t.started)
			}
		}
	}
	for r := range m.reservations {
		if r.session == m.key(session) && !m.mutes(r.session) && !r.lapsed(now) {
			count(r.since)
		}
	}
	return n, oldest
}
