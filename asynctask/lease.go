package asynctask

import (
	"cmp"
	"slices"
	"time"
)

// LeaseLife is how long an unsettled [Delivery] keeps other deliveries from reporting
// the same tasks.
const LeaseLife = 10 * time.Minute

const (
	// maxRepeated is how many bytes a session's requests may repeat; beyond it the
	// oldest texts are dropped.
	maxRepeated = 4 * MaxReminder
	// maxLeases is the number of leases from which on lapsed leases without tasks are
	// removed. Until then a late call may settle them.
	maxLeases = 64
)

// lease is the claim of a [Delivery] on its tasks until it is settled.
type lease struct {
	Token uint64 // identifies the lease
	Until time.Time
	Tasks []uint64 // the Order of each task that it holds, ascending
	Read  bool     `json:",omitempty"` // the model has read the delivery
}

func (l *lease) lapsed(now time.Time) bool { return !now.Before(l.Until) }

func (l *lease) holds(order uint64) bool {
	_, ok := slices.BinarySearch(l.Tasks, order)
	return ok
}

// Note is a text that the requests of a session repeat.
type Note struct {
	ID     uint64 `json:"id"` // unique in the session
	Text   string `json:"text"`
	Anchor Anchor `json:"anchor"`
}

// Anchor says where in a conversation a text was put: behind which message, and what
// that message said. The zero Anchor is no place.
type Anchor struct {
	Message int    `json:"message"`
	Digest  uint64 `json:"digest"` // of the message; the same in every process
}

// unclaimed returns how many undelivered tasks no live lease holds.
func (a *account) unclaimed(now time.Time) int {
	n := a.Undelivered
	for _, l := range a.Leases {
		if !l.lapsed(now) {
			n -= len(l.Tasks)
		}
	}
	return n
}

// free returns the undelivered tasks that no live lease holds, in order of end.
func (a *account) free(now time.Time) []*record {
	held := map[uint64]bool{} // a search in each lease for each task would take quadratic time
	for _, l := range a.Leases {
		for _, order := range l.Tasks {
			held[order] = held[order] || !l.lapsed(now)
		}
	}
	free := make([]*record, 0, a.Undelivered)
	for i := range a.Tasks {
		if t := &a.Tasks[i]; t.Result != nil && !t.Delivered && !held[t.Order] {
			free = append(free, t)
		}
	}
	slices.SortFunc(free, func(t, other *record) int { return cmp.Compare(t.Order, other.Order) })
	return free
}

// hold returns the account with lease l added. Lapsed leases lose the tasks that
// l holds.
func (a account) hold(l lease, now time.Time) account {
	leases := slices.Clone(a.Leases)
	for i := range leases {
		if other := &leases[i]; other.lapsed(now) {
			other.Tasks = slices.DeleteFunc(slices.Clone(other.Tasks), l.holds)
		}
	}
	if len(leases) >= maxLeases {
		leases = slices.DeleteFunc(leases, func(l lease) bool { return len(l.Tasks) == 0 && l.lapsed(now) })
	}
	a.Leases = append(leases, l)
	return a
}

// lease returns the index of the lease with that token, -1 if it is gone.
func (a *account) lease(token uint64) int {
	return slices.IndexFunc(a.Leases, func(l lease) bool { return l.Token == token })
}

// renew returns the account after a delivery has got more time.
func (a account) renew(token uint64, until time.Time) account {
	if i := a.lease(token); i >= 0 {
		a.Leases = slices.Clone(a.Leases)
		a.Leases[i].Until = until
	}
	return a
}

// settle returns the account after a delivery has this outcome. If the lease is gone,
// nothing changes.
func (a account) settle(d *Delivery, outcome DeliveryOutcome, rules rules) account {
	i := a.lease(d.Lease)
	if i < 0 || a.Leases[i].Read && outcome <= Read {
		return a
	}
	l := a.Leases[i]
	a.Leases = slices.Delete(slices.Clone(a.Leases), i, i+1)
	if outcome != Unread && !l.Read {
		a = a.read(&l, d).compact(rules.history)
	}
	switch outcome {
	case Read:
		a.Leases = append(a.Leases, lease{Token: l.Token, Until: l.Until, Read: true})
	case Told:
		carried := d.anchors()
		a.Repeated = slices.DeleteFunc(slices.Clone(a.Repeated), func(n Note) bool {
			_, ok := carried[n.ID]
			return ok
		})
	case Repeat:
		return a.repeat(d)
	case Unread:
	}
	return a
}

// read returns the account after the model has read delivery d, whose lease is
// l.
func (a account) read(l *lease, d *Delivery) account {
	a.Told = max(a.Told, d.Version)
	a.ToldRunning = max(a.ToldRunning, d.Running) // with limits this to tasks that still run
	tasks := slices.Clone(a.Tasks)
	for i := range tasks {
		tasks[i].Delivered = tasks[i].Delivered || l.holds(tasks[i].Order)
	}
	return a.with(tasks)
}

// repeat returns the account after a delivery whose texts later requests repeat.
func (a account) repeat(d *Delivery) account {
	carried, notes := d.anchors(), slices.Clone(a.Repeated)
	for i := range notes {
		if anchor, ok := carried[notes[i].ID]; ok {
			notes[i].Anchor = anchor
		}
	}
	if d.Text != "" {
		notes = append(notes, Note{ID: d.Lease, Text: d.Text, Anchor: d.Anchor})
	}
	size, first := 0, len(notes)
	for first > 0 && (size == 0 || size+len(notes[first-1].Text) <= maxRepeated) {
		first--
		size += len(notes[first].Text)
	}
	a.Repeated = slices.Clone(notes[first:])
	return a
}
