package asynctask

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// MaxUndelivered is how many ended tasks of a session may wait for delivery. Beyond
// it, no task is started in the session.
const MaxUndelivered = 1000

const (
	// maxOutputs is how many bytes of results a session keeps. Beyond it the oldest
	// results are cut to head and tail.
	maxOutputs = 256 << 10
	// shrunkSize is the size of such a cut result.
	shrunkSize = 2 << 10
)

// place is a reservation in an account.
type place struct {
	Token uint64 // identifies the reservation
	Since time.Time
}

func (p *place) lapsed(now time.Time) bool { return now.Sub(p.Since) >= ReservationLife }

// take returns the account with room for one more task: in the reserved place, or in
// any place if reserved is 0. It fails with ErrReservation, ErrLimit and ErrBacklog.
func (a account) take(reserved uint64, now time.Time, rules rules) (account, error) {
	a.Reserved = slices.DeleteFunc(slices.Clone(a.Reserved), func(p place) bool { return p.lapsed(now) })
	places, taken := len(a.Reserved), len(a.Reserved)+a.Running
	if reserved != 0 {
		a = a.release(reserved)
		if len(a.Reserved) == places {
			return a, ErrReservation
		}
		return a, nil
	}
	switch {
	case rules.limit != Off && taken >= rules.limit:
		return a, fmt.Errorf("%w: %d of %d places of the session are taken (%d of them reserved)",
			ErrLimit, taken, rules.limit, places)
	case a.Undelivered >= MaxUndelivered:
		return a, fmt.Errorf("%w: %d", ErrBacklog, a.Undelivered)
	}
	return a, nil
}

// reserve returns the account with one more place reserved. It fails with
// ErrLimit and ErrBacklog.
func (a account) reserve(token uint64, now time.Time, rules rules) (account, error) {
	a, err := a.take(0, now, rules)
	if err == nil {
		a.Reserved = append(a.Reserved, place{Token: token, Since: now})
	}
	return a, err
}

// release returns the account without that reservation.
func (a account) release(token uint64) account {
	a.Reserved = slices.DeleteFunc(slices.Clone(a.Reserved), func(p place) bool { return p.Token == token })
	return a
}

// shrink returns the account after cutting results until they have at most that many
// bytes, or cannot be cut further. It cuts delivered results first, and of those and
// of the others the oldest first.
func (a account) shrink(size int) account {
	if a.OutputBytes <= size {
		return a
	}
	tasks := slices.Clone(a.Tasks)
	var long []*record
	for i := range tasks {
		if t := &tasks[i]; t.Result != nil && t.Result.Size > shrunkSize-maxID {
			long = append(long, t)
		}
	}
	slices.SortFunc(long, func(t, other *record) int {
		if t.Delivered != other.Delivered {
			if t.Delivered {
				return -1
			}
			return 1
		}
		return cmp.Compare(t.Order, other.Order)
	})
	excess := a.OutputBytes - size
	for _, t := range long {
		if excess <= 0 {
			break
		}
		before := t.Result.Bytes
		t.Result = t.Result.kept(shrunkSize - maxID)
		excess -= before - t.Result.Bytes
	}
	return a.with(tasks)
}

// size returns roughly how many bytes the account takes in memory.
func (a *account) size() int {
	const perTask, perLease = 250, 100
	size := perTask + a.OutputBytes + perLease*(len(a.Leases)+len(a.Reserved))
	for i := range a.Tasks {
		size += perTask + len(a.Tasks[i].ID) + len(a.Tasks[i].Name)
	}
	for i := range a.Leases {
		size += 8 * len(a.Leases[i].Tasks)
	}
	for i := range a.Repeated {
		size += perLease + len(a.Repeated[i].Text)
	}
	return size
}

// keep returns how long the account is kept if nothing happens to it: for retention
// after its last task has ended or is lost. Off means for good.
func (a *account) keep(retention time.Duration, now time.Time) time.Duration {
	if retention == Off {
		return Off
	}
	last := now
	for i := range a.Tasks {
		switch t := &a.Tasks[i]; {
		case t.Result != nil:
		case t.Until.IsZero():
			return Off
		case t.Until.After(last):
			last = t.Until
		}
	}
	return last.Add(retention).Sub(now)
}
