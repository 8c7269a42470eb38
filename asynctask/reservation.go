package asynctask

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// reservationLife is how long a reservation keeps its slot if it is neither used nor
// released.
const reservationLife = 10 * time.Minute

// Reservation is a slot for a task that will be started. It counts in its session,
// where all processes see it, and under the limit of its Manager. It can be used once,
// or released. It is safe for concurrent use.
type Reservation struct {
	tasks   *lifecycle
	session string
	token   uint64
	since   time.Time // by the clock of the Manager
}

func (r *Reservation) lapsed(now time.Time) bool { return now.Sub(r.since) >= reservationLife }

// Reserve reserves a slot for a task of the session of ctx. The slot counts as
// unfinished work; see [Manager.Pending]. The error is [ErrLimit], [ErrBacklog],
// [ErrClosed] or the engine's error.
func (m *Manager) Reserve(ctx context.Context) (*Reservation, error) {
	r := &Reservation{
		tasks: m.lifecycle, session: m.accounts.session(ctx), since: m.lifecycle.clock.Now(),
		token: rand.Uint64() | 1, //nolint:gosec // tells reservations apart, guards nothing
	}
	if err := m.runner.reserve(r); err != nil {
		return nil, err
	}
	err := m.accounts.updateLive(ctx, r.session, func(now time.Time, a account, rules rules) (account, error) {
		return a.reserve(r.token, now, rules)
	})
	if err != nil {
		m.runner.release(r)
		return nil, err
	}
	return r, nil
}

// Start is [Manager.Start] in the reserved slot. The error is [ErrReservation] if the
// slot was used, released or has lapsed, or if ctx has another session. After an error
// about the name, the slot is still reserved.
func (r *Reservation) Start(ctx context.Context, name string, f Func) (Ticket, error) {
	return r.tasks.start(ctx, r, name, f)
}

// Begin is [Manager.Begin] in the reserved slot. The error is [ErrReservation] if the
// slot was used, released or has lapsed, or if ctx has another session. After an error
// about the id or the name, the slot is still reserved.
func (r *Reservation) Begin(ctx context.Context, id, name string) (Ticket, error) {
	return r.tasks.begin(ctx, r, id, name)
}

// Release gives the slot back. After the first call, and after Start or Begin, it does
// nothing. If it returns an error, which is the engine's, the slot becomes free ten
// minutes after the reservation.
func (r *Reservation) Release(ctx context.Context) error {
	if !r.tasks.runner.release(r) {
		return nil
	}
	return r.tasks.accounts.update(ctx, r.session, func(_ time.Time, a account, _ rules) (account, error) {
		return a.release(r.token), nil
	})
}

// maxUndelivered is the number of ended tasks in a session that may wait for delivery.
// Beyond it, no task can be started in the session.
const maxUndelivered = 1000

// slot is a reservation in an account.
type slot struct {
	Token uint64 // identifies the reservation
	Since time.Time
}

func (p *slot) lapsed(now time.Time) bool { return now.Sub(p.Since) >= reservationLife }

// take returns the account with room for one more task: in the reserved slot, or in
// any slot if reserved is 0. It fails with ErrReservation, ErrLimit and ErrBacklog.
func (a account) take(reserved uint64, now time.Time, rules rules) (account, error) {
	a.Reserved = slices.DeleteFunc(slices.Clone(a.Reserved), func(p slot) bool { return p.lapsed(now) })
	slots, taken := len(a.Reserved), len(a.Reserved)+a.Running
	if reserved != 0 {
		a = a.release(reserved)
		if len(a.Reserved) == slots {
			return a, ErrReservation
		}
		return a, nil
	}
	switch {
	case rules.limit != Off && taken >= rules.limit:
		return a, fmt.Errorf("%w: %d of %d slots of the session are taken (%d of them reserved)",
			ErrLimit, taken, rules.limit, slots)
	case a.Undelivered >= maxUndelivered:
		return a, fmt.Errorf("%w: %d", ErrBacklog, a.Undelivered)
	}
	return a, nil
}

// reserve returns the account with one more slot reserved. It fails with
// ErrLimit and ErrBacklog.
func (a account) reserve(token uint64, now time.Time, rules rules) (account, error) {
	a, err := a.take(0, now, rules)
	if err == nil {
		a.Reserved = append(a.Reserved, slot{Token: token, Since: now})
	}
	return a, err
}

// release returns the account without that reservation.
func (a account) release(token uint64) account {
	a.Reserved = slices.DeleteFunc(slices.Clone(a.Reserved), func(p slot) bool { return p.Token == token })
	return a
}
