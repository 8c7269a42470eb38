package asynctask

import (
	"context"
	"time"
)

// ReservationLife is how long a reservation keeps its place if it is neither
// used nor released.
const ReservationLife = 10 * time.Minute

// Reservation is a place under the limit for a task that is to be started
// later. It is used once. It is safe for concurrent use.
type Reservation struct {
	manager *Manager
	session string
	since   time.Time
}

// Reserve takes a place under the limit. For the session of ctx it counts as
// work that is to come, see [Manager.Pending]. It fails with ErrLimit,
// ErrBacklog or ErrClosed, and panics if ctx is nil.
func (m *Manager) Reserve(ctx context.Context) (*Reservation, error) {
	key := m.sessionOf(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.room(); err != nil {
		return nil, err
	}
	m.reserved() // drops those that have lapsed, for without a limit nobody asked
	r := &Reservation{manager: m, session: key, since: m.clock.Now()}
	m.reservations[r] = struct{}{}
	return r, nil
}

// Start is [Manager.Start] in the reserved place. It fails with ErrReservation
// if that is there no more; a name that is refused leaves the place reserved.
func (r *Reservation) Start(ctx context.Context, name string, f Func) (id string, err error) {
	return r.manager.start(ctx, r, name, f)
}

// Begin is [Manager.Begin] in the reserved place. It fails with ErrReservation
// if that is there no more; an id or a name that is refused leaves the place
// reserved.
func (r *Reservation) Begin(ctx context.Context, id, name string) (context.Context, error) {
	return r.manager.begin(ctx, r, id, name)
}

// Release gives the place back. After the first time, and after Start or Begin,
// it does nothing.
func (r *Reservation) Release() {
	r.manager.mu.Lock()
	defer r.manager.mu.Unlock()
	delete(r.manager.reservations, r)
}

func (r *Reservation) lapsed(now time.Time) bool {
	return now.Sub(r.since) >= ReservationLife
}

// reserved returns how many places are reserved.
func (m *Manager) reserved() int {
	if len(m.reservations) > 0 {
		now := m.clock.Now()
		for r := range m.reservations {
			if r.lapsed(now) {
				delete(m.reservations, r)
			}
		}
	}
	return len(m.reservations)
}
