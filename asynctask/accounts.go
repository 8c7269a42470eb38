package asynctask

import (
	"context"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// accounts reads and changes the accounts of sessions in the store.
type accounts struct {
	store           Store
	rules           rules
	oneConversation bool
	none            Account // of sessions that have none
}

// key returns the name of the session in the store.
func (s *accounts) key(session string) string {
	if s.oneConversation {
		return ""
	}
	return session
}

// session returns the session that what is started under ctx belongs to.
func (s *accounts) session(ctx context.Context) string {
	requireContext(ctx)
	return s.key(scope.Session(ctx))
}

// isSilent reports whether nothing of the session is told to anyone.
func (s *accounts) isSilent(session string) bool { return session == "" && !s.oneConversation }

// look returns what may be seen of the session.
func (s *accounts) look(ctx context.Context, session string) (*Account, error) {
	requireContext(ctx)
	if s.isSilent(session) {
		return &s.none, nil
	}
	a, err := s.store.Look(ctx, s.key(session))
	if a == nil {
		a = &s.none
	}
	return a, err
}

// task returns the task of the ticket. It fails with ErrUnknown.
func (s *accounts) task(ctx context.Context, t Ticket) (Task, error) {
	requireContext(ctx)
	session := s.key(t.Session)
	a, err := s.store.Look(ctx, session)
	if err != nil {
		return Task{}, err
	}
	if a != nil {
		if r := a.find(t.ID); r != nil {
			return r.view(session), nil
		}
	}
	return Task{}, fmt.Errorf("%w: %.64q", ErrUnknown, t.ID)
}

// update changes the account of the session. The store may run f more than once.
func (s *accounts) update(
	ctx context.Context, session string, f func(time.Time, Account, rules) (Account, error),
) error {
	requireContext(ctx)
	rules := s.rules
	rules.silent = s.isSilent(session)
	return s.store.Update(ctx, s.key(session), func(now time.Time, a Account) (Account, error) { return f(now, a, rules) })
}

// end ends a task, and returns it as it ended.
func (s *accounts) end(ctx context.Context, t Ticket, r *Result) (Task, error) {
	var ended Record
	err := s.update(ctx, t.Session, func(now time.Time, a Account, rules rules) (_ Account, err error) {
		a, ended, err = a.end(t.ID, r, now, rules)
		return a, err
	})
	if err != nil {
		return Task{}, err
	}
	return ended.view(s.key(t.Session)), nil
}

// backlog fails if the store has no room for one more task.
func (s *accounts) backlog() error {
	if store, ok := s.store.(*MemoryStore); ok {
		return store.backlog()
	}
	return nil
}

func requireContext(ctx context.Context) {
	if ctx == nil {
		panic("carryon/asynctask: nil context")
	}
}
