package asynctask

import (
	"context"
	"time"
)

// ReservationLife is how long a reservation keeps its place if it is neither
// used nor released.
const ReservationLife = 10 * time.Minute

// Reservation is a place under the limit for a task that will be started. It
// belongs to one Manager, and is used once or released. It is safe for
// concurrent use.
type Reservation struct {
	tasks   *lifecycle
	session string
	since   time.Time
}

func (r *Reservation) lapsed(now time.Time) bool { return now.Sub(r.since) >= ReservationLife }

// Reserve takes a place under the limit. For the session of ctx it counts as
// work that is coming, see [Manager.Pending]. It fails with ErrLimit, ErrBacklog
// or ErrClosed.
func (m *Manager) Reserve(ctx context.Context) (*Reservation, error) {
	r := &Reservation{tasks: &m.lifecycle, session: m.accounts.session(ctx), since: m.clock.Now()}
	if err := m.accounts.backlog(); err != nil {
		return nil, err
	}
	if err := m.runner.reserve(r); err != nil {
		return nil, err
	}
	return r, nil
}

// Start is [Manager.Start] in the reserved place. It fails with ErrReservation
// if there is none any more; a name that is refused leaves the place reserved.
func (r *Reservation) Start(ctx context.Context, name string, f Func) (Ticket, error) {
	return r.tasks.start(ctx, r, name, f)
}

// Begin is [Manager.Begin] in the reserved place. It fails with ErrReservation
// if there is none any more; an id or a name that is refused leaves the place
// reserved.
func (r *Reservation) Begin(ctx context.Context, id, name string) (context.Context, Ticket, error) {
	return r.tasks.begin(ctx, r, id, name)
}

// Release gives the place back. After the first time, and after Start or Begin,
// it does nothing.
func (r *Reservation) Release() { r.tasks.runner.release(r) }
