package asynctask

import (
	"context"
	"fmt"
	"time"

	"github.com/carryon-go/carryon/internal/scope"
)

// accounts reads and changes the accounts of sessions in the store.
type accounts struct {
	store           store
	rules           rules
	oneConversation bool
	none            account // of sessions that have none

	// lost is called with tasks that were ended because they were lost.
	lost func(ctx context.Context, session string, ended []record)
}

// key returns the name of the session in the store.
func (s *accounts) key(session string) string {
	if s.oneConversation {
		return ""
	}
	return session
}

// session returns the session of a task that is started under ctx.
func (s *accounts) session(ctx context.Context) string {
	requireContext(ctx)
	return s.key(scope.Session(ctx))
}

// isSilent reports whether the session's tasks are delivered to nobody.
func (s *accounts) isSilent(session string) bool { return session == "" && !s.oneConversation }

// look returns the account of the session as others may see it, and the store's time.
func (s *accounts) look(ctx context.Context, session string) (*account, time.Time, error) {
	requireContext(ctx)
	if s.isSilent(session) {
		return &s.none, time.Time{}, nil
	}
	return s.read(ctx, s.key(session))
}

// read returns the account under that key, after ending its lost tasks.
func (s *accounts) read(ctx context.Context, key string) (*account, time.Time, error) {
	a, now, err := s.store.look(ctx, key)
	switch {
	case err != nil || a == nil:
		return &s.none, now, err
	case a.hasLost(now):
		return s.revise(ctx, key)
	}
	return a, now, nil
}

// revise ends the lost tasks of the account, and returns the account.
func (s *accounts) revise(ctx context.Context, key string) (a *account, now time.Time, err error) {
	err = s.updateLive(ctx, key, func(at time.Time, live account, _ rules) (account, error) {
		a, now = &live, at
		return live, nil
	})
	if err != nil {
		a = &s.none
	}
	return a, now, err
}

// task returns the task of the ticket. It fails with ErrUnknown.
func (s *accounts) task(ctx context.Context, t Ticket) (Task, error) {
	requireContext(ctx)
	session := s.key(t.Session)
	a, _, err := s.read(ctx, session)
	if err != nil {
		return Task{}, err
	}
	if r := a.find(t.ID); r != nil {
		return r.view(session), nil
	}
	return Task{}, fmt.Errorf("%w: %.64q", ErrUnknown, t.ID)
}

// update changes the account of the session. The store may run f more than once.
func (s *accounts) update(
	ctx context.Context, session string, f func(time.Time, account, rules) (account, error),
) error {
	requireContext(ctx)
	rules := s.rules
	rules.silent = s.isSilent(session)
	return s.store.update(ctx, s.key(session), func(now time.Time, a account) (account, error) { return f(now, a, rules) })
}

// updateLive is update of an account whose lost tasks are ended first.
func (s *accounts) updateLive(
	ctx context.Context, session string, f func(time.Time, account, rules) (account, error),
) error {
	var lost []record
	err := s.update(ctx, session, func(now time.Time, a account, rules rules) (account, error) {
		a, lost = a.endLost(now, rules)
		return f(now, a, rules)
	})
	if err == nil && len(lost) > 0 {
		s.lost(ctx, session, lost)
	}
	return err
}

// end ends a task, and returns the ended task.
func (s *accounts) end(ctx context.Context, t Ticket, r *result) (ended record, err error) {
	err = s.update(ctx, t.Session, func(now time.Time, a account, rules rules) (_ account, err error) {
		a, ended, err = a.end(t.ID, r, now, rules)
		return a, err
	})
	return ended, err
}

func requireContext(ctx context.Context) {
	if ctx == nil {
		panic("carryon/asynctask: nil context")
	}
}
