package asynctask

import (
	"context"
	"math/rand/v2"
	"time"
)

// ReservationLife is how long a reservation that is neither used nor released keeps
// its place.
const ReservationLife = 10 * time.Minute

// Reservation is a place for a task that will be started. It counts in the account of
// its session, where all processes see it, and under the limit of its Manager. It is
// used once or released. It is safe for concurrent use.
type Reservation struct {
	tasks   *lifecycle
	session string
	token   uint64
	since   time.Time // by the clock of the Manager
}

func (r *Reservation) lapsed(now time.Time) bool { return now.Sub(r.since) >= ReservationLife }

// Reserve reserves a place for a task of the session of ctx. It counts as unfinished
// work; see [Manager.Pending]. It fails with ErrLimit, ErrBacklog, ErrClosed or the
// engine's error.
func (m *Manager) Reserve(ctx context.Context) (*Reservation, error) {
	r := &Reservation{
		tasks: &m.lifecycle, session: m.accounts.session(ctx), since: m.clock.Now(),
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

// Start is [Manager.Start] in the reserved place. It fails with ErrReservation if the
// place is used, released or lapsed, or if ctx has another session. A refused name
// leaves the place reserved.
func (r *Reservation) Start(ctx context.Context, name string, f Func) (Ticket, error) {
	return r.tasks.start(ctx, r, name, f)
}

// Begin is [Manager.Begin] in the reserved place. It fails with ErrReservation if the
// place is used, released or lapsed, or if ctx has another session. A refused id or
// name leaves the place reserved.
func (r *Reservation) Begin(ctx context.Context, id, name string) (Ticket, error) {
	return r.tasks.begin(ctx, r, id, name)
}

// Release gives the place back. After the first call, and after Start or Begin, it
// does nothing. If it fails, with the engine's error, the place becomes free after
// [ReservationLife].
func (r *Reservation) Release(ctx context.Context) error {
	if !r.tasks.runner.release(r) {
		return nil
	}
	return r.tasks.accounts.update(ctx, r.session, func(_ time.Time, a account, _ rules) (account, error) {
		return a.release(r.token), nil
	})
}
