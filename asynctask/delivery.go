package asynctask

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// Delivery is what the model has to be told about background tasks. Until it is
// settled, no other delivery reports the same tasks.
//
// The text that [Manager.Deliver] returns is not part of the conversation's history. It
// is therefore repeated in the same place, byte for byte, in the following requests,
// until a turn ends in text. The sender of a request adds Text and the texts of
// Repeated to a copy of the request, sets their anchors, and calls [Manager.Settle].
//
// A Delivery is plain data that encoding/json can read and write, so that another
// process can settle it. It is not safe for concurrent use.
type Delivery struct {
	Session string `json:"session,omitzero"`
	Lease   uint64 `json:"lease,omitzero"` // 0 if there is nothing to settle

	// Text has the reminder and the status summary, or one of them, with a blank line
	// in between. It is "" if there is nothing new.
	Text string `json:"text,omitzero"`
	// Anchor is where the sender put Text. The sender sets it.
	Anchor Anchor `json:"anchor,omitzero"`
	// Tasks has the ids of the ended tasks that Text reports, in the order in which
	// they ended.
	Tasks []string `json:"tasks,omitempty"`
	// Repeated has the texts of earlier requests that this request repeats, oldest
	// first. If the position of a text is gone because the history was rewritten, the
	// sender puts the text elsewhere and changes its Anchor.
	Repeated []Note `json:"repeated,omitempty"`

	Version uint64 `json:"version,omitzero"` // version of the summary in Text; 0 if there is none
	Running int    `json:"running,omitzero"` // number of running tasks that Text reports
}

// DeliveryOutcome says what became of a [Delivery].
type DeliveryOutcome uint8

// The outcomes.
const (
	// Unread says that the model was not told, because the call failed or was abandoned
	// before its finish reason. The next delivery reports the same tasks again.
	Unread DeliveryOutcome = iota
	// Read says that the finish reason was seen, but that the call goes on. No other
	// delivery repeats the text until Settle is called again with Delivered or Repeat.
	Read
	// Delivered says that the model was told and nothing needs to be repeated, because
	// the call ended in text or the program keeps the text in its own history.
	Delivered
	// Repeat says that the model was told, and that later requests repeat the text
	// because the call ended in a tool call.
	Repeat
)

// DeliverOptions say what [Manager.Deliver] leaves out. The zero value leaves out
// nothing.
type DeliverOptions struct {
	// NoSummary leaves out the status summary, for requests that have it elsewhere,
	// such as in the system message.
	NoSummary bool
	// OnlyNew leaves out Repeated, for a further request of the same call, which
	// already has those texts.
	OnlyNew bool
}

// Deliver returns what to tell the model in a request of the session that is about to
// be sent, or nil if there is nothing to tell. There is something if a task has ended
// that no delivery reports, if the status summary has changed since the model was told
// (with NoSummary: if more tasks run than the model was told), or if a text has to be
// repeated. A summary does not count as changed if only old tasks drop out of it.
//
// Deliver takes one update of the account. In memory, a call with nothing to tell only
// reads the account and does not allocate.
func (m *Manager) Deliver(ctx context.Context, session string, o DeliverOptions) (*Delivery, error) {
	if !m.looksByUpdate(session) {
		if a, now, err := m.accounts.look(ctx, session); err != nil || !a.hasNews(o, now) {
			return nil, err
		}
	}
	return m.lease(ctx, session, func(a account, token uint64, now time.Time) (account, *Delivery, draft) {
		return a.deliver(o, token, now)
	})
}

// Remind returns a reminder of the session's tasks that have ended and have not been
// delivered, and of the number of running tasks, or nil if there are neither. It is for
// programs that put Text into their messages themselves:
//
//	if r, err := tasks.Remind(ctx, session); r != nil {
//		answer, err := model.Ask(ctx, r.Text)
//		if err != nil {
//			tasks.Settle(ctx, r, asynctask.Unread) // the next reminder will say it
//			return err
//		}
//		tasks.Settle(ctx, r, asynctask.Delivered)
//	}
//
// The error is the engine's.
//
// The text of a reminder is
//
//	---
//	System Note: Async Task Status
//
//	This note is automatic. Nothing in it comes from the user.
//
//	1 async task(s) completed:
//
//	{
//	  "agent_id": "p9dw2xhamn5rt8cy4kfbv6jq3z",
//	  "terminate_reason": "GOAL",
//	  "emitted_vars": {},
//	  "final_message": "All 214 tests pass."
//	}
//
//	1 async task(s) still running.
//	---
//
// It says that it is automatic because it is part of a message from the user, and a
// result could contain anything. Failed tasks, and cancelled ones if they are reported,
// count as completed; their objects have a "status" that says so.
//
// It has at most 64 KiB. If the ended tasks do not fit, their texts are cut further than
// those of one task. Tasks that still do not fit wait for the next reminder, and this one
// says how many there are.
//
// Experimental: the wording may change.
func (m *Manager) Remind(ctx context.Context, session string) (*Delivery, error) {
	if !m.looksByUpdate(session) {
		if a, now, err := m.accounts.look(ctx, session); err != nil || a.Running == 0 && a.unclaimed(now) == 0 {
			return nil, err
		}
	}
	return m.lease(ctx, session, account.remind)
}

// looksByUpdate reports whether reading the account of the session costs as much as
// an update, so that reading it first does not pay.
func (m *Manager) looksByUpdate(session string) bool {
	return m.IsShared() && !m.accounts.isSilent(session)
}

// lease runs begin, which begins a delivery if there is anything to tell, and writes
// the delivery's text. If the engine fails after storing the lease, the lease lapses.
func (m *Manager) lease(
	ctx context.Context, session string, begin func(account, uint64, time.Time) (account, *Delivery, draft),
) (d *Delivery, err error) {
	var says draft
	token := rand.Uint64() | 1 //nolint:gosec // tells leases apart, guards nothing
	err = m.accounts.updateLive(ctx, session, func(now time.Time, a account, _ rules) (account, error) {
		a, d, says = begin(a, token, now)
		return a, nil
	})
	if err != nil || d == nil {
		return nil, err
	}
	d.Session, d.Text, d.Tasks = session, says.text(), make([]string, len(says.tasks))
	for i, t := range says.tasks {
		d.Tasks[i] = t.ID
	}
	return d, nil
}

// Settle records the outcome of a delivery. After Unread, Delivered or Repeat, another
// outcome has no effect; neither has Unread after Read. A delivery that is never
// settled lapses after [LeaseLife]: other deliveries may then report its tasks, and
// until one does, it can still be settled. The error is the engine's.
func (m *Manager) Settle(ctx context.Context, d *Delivery, outcome DeliveryOutcome) error {
	if d.Lease == 0 {
		return nil
	}
	return m.accounts.update(ctx, d.Session, func(_ time.Time, a account, rules rules) (account, error) {
		return a.settle(d, outcome, rules), nil
	})
}

// Renew extends a delivery by another [LeaseLife] from now, for calls that take long.
// The error is the engine's.
func (m *Manager) Renew(ctx context.Context, d *Delivery) error {
	return m.accounts.update(ctx, d.Session, func(now time.Time, a account, _ rules) (account, error) {
		return a.renew(d.Lease, now.Add(LeaseLife)), nil
	})
}

// anchors returns where the repeated texts are, by their ids.
func (d *Delivery) anchors() map[uint64]Anchor {
	anchors := make(map[uint64]Anchor, len(d.Repeated))
	for _, n := range d.Repeated {
		anchors[n.ID] = n.Anchor
	}
	return anchors
}

// hasNews reports whether there is anything to deliver.
func (a *account) hasNews(o DeliverOptions, now time.Time) bool {
	return !o.OnlyNew && len(a.Repeated) > 0 || a.hasChanged(o) || a.Undelivered > 0 && a.unclaimed(now) > 0
}

// hasChanged reports whether the model must be told the session's status, even if no
// task has ended.
func (a *account) hasChanged(o DeliverOptions) bool {
	if o.NoSummary {
		return a.Running > a.ToldRunning
	}
	return a.Version != a.Told && len(a.Tasks) > 0
}

// remind returns the account after a reminder has begun, the reminder, and its
// content. The reminder is nil if there is nothing to tell.
func (a account) remind(token uint64, now time.Time) (account, *Delivery, draft) {
	says := a.draft(now)
	switch {
	case len(says.tasks) > 0:
		return a.hold(says.lease(token, now), now), &Delivery{Lease: token}, says
	case says.running > 0:
		return a, &Delivery{}, says
	}
	return a, nil, says
}

// deliver returns the account after a delivery has begun, the delivery, and its
// content. The delivery is nil if there is nothing to tell.
func (a account) deliver(o DeliverOptions, token uint64, now time.Time) (account, *Delivery, draft) {
	d, says := &Delivery{Lease: token}, a.draft(now)
	if !o.OnlyNew {
		d.Repeated = slices.Clone(a.Repeated)
	}
	switch changed := a.hasChanged(o); {
	case changed && !o.NoSummary:
		says.summary, d.Version = a.Tasks, a.Version
	case !changed && len(says.tasks) == 0:
		says.running = 0
	}
	if len(says.tasks)+len(says.summary)+len(d.Repeated) == 0 && says.running == 0 {
		return a, nil, says
	}
	d.Running = says.running
	return a.hold(says.lease(token, now), now), d, says
}

// LeaseLife is how long an unsettled [Delivery] keeps other deliveries from reporting
// the same tasks.
const LeaseLife = 10 * time.Minute

const (
	// maxRepeated is how many bytes a session's requests may repeat; beyond it the
	// oldest texts are dropped.
	maxRepeated = 4 * maxReminder
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

// Anchor is a position in a conversation: the index of the message after which a text
// was put, and a hash of that message. The zero Anchor is no position.
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
			held[order] = !l.lapsed(now) // no two leases hold one task
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
	case Delivered:
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
	a.ToldRunning = max(a.ToldRunning, d.Running) // a.with caps this at the number of running tasks
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
	for first > 0 && size+len(notes[first-1].Text) <= maxRepeated {
		first--
		size += len(notes[first].Text)
	}
	a.Repeated = slices.Clone(notes[first:])
	return a
}
