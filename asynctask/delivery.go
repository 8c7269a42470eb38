package asynctask

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/delivery"
)

// Deliveries is for carryon's own packages: the middleware and package autotrigger tell
// the model with it. A program needs [Manager.Remind] at most.
func (m *Manager) Deliveries() delivery.Tasks { return deliveries{m} }

// deliveries implements [delivery.Tasks].
type deliveries struct{ m *Manager }

func (d deliveries) IsShared() bool { return d.m.poller.isShared }

func (d deliveries) Clock() clock.Clock { return d.m.lifecycle.clock }

func (d deliveries) SummaryInSystem() bool { return d.m.summaryInSystem }

func (d deliveries) Summary(ctx context.Context, session string) (string, error) {
	return d.m.Summary(ctx, session)
}

func (d deliveries) Session(ctx context.Context) (session string, delivered bool) {
	session = d.m.accounts.session(ctx)
	return session, !d.m.accounts.isSilent(session)
}

func (d deliveries) Watch(session string, f func()) (stop func()) {
	return d.m.poller.add(d.m.accounts.key(session), f)
}

func (d deliveries) Join(stop func(cause error)) (leave func(), err error) {
	done, err := d.m.runner.addWorker()
	if err != nil {
		return nil, err
	}
	unhook := context.AfterFunc(d.m.runner.life, func() { stop(ErrClosed) })
	return func() { unhook(); done() }, nil
}

// Pending leaves out cancelled tasks whose functions have not returned yet.
func (d deliveries) Pending(ctx context.Context, session string, maxAge time.Duration) (p delivery.Pending, err error) {
	a, now, err := d.m.accounts.look(ctx, session)
	if err != nil {
		return p, err
	}
	for i := range a.Tasks {
		t := &a.Tasks[i]
		if t.Result != nil || maxAge > 0 && now.Sub(t.Started) >= maxAge {
			continue
		}
		p.Unfinished++
		if p.Unfinished == 1 || t.Started.Before(p.Oldest) {
			p.Oldest = t.Started
		}
	}
	p.Undelivered, p.Unclaimed = a.Undelivered, a.unclaimed(now)
	return p, nil
}

func (d deliveries) Deliver(ctx context.Context, session string, o delivery.Options) (*delivery.Delivery, error) {
	if !d.looksByUpdate(session) {
		if a, now, err := d.m.accounts.look(ctx, session); err != nil || !a.hasNews(o, now) {
			return nil, err
		}
	}
	return d.lease(ctx, session, func(a account, token uint64, now time.Time) (account, *delivery.Delivery, draft) {
		return a.deliver(o, token, now)
	})
}

// Remind returns a reminder of the session's tasks that have ended and have not been
// delivered, and of the number of running tasks, or "" if there are neither. It is for
// programs that put the text into their messages themselves, without the middleware:
//
//	text, settle, err := tasks.Remind(ctx, session)
//	if text != "" {
//		_, err := model.Ask(ctx, text)
//		settle(ctx, err == nil)
//	}
//
// settle says whether the model was told. If not, or if settle is not called for ten
// minutes, the next reminder reports the same tasks. It is never nil, and its first call
// counts.
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
func (m *Manager) Remind(ctx context.Context, session string) (text string, settle func(ctx context.Context, told bool) error, err error) {
	d, err := m.Deliveries().Remind(ctx, session)
	if err != nil || d == nil {
		return "", func(context.Context, bool) error { return nil }, err
	}
	return d.Text, func(ctx context.Context, told bool) error {
		outcome := delivery.Unread
		if told {
			outcome = delivery.Delivered
		}
		return m.Deliveries().Settle(ctx, d, outcome)
	}, nil
}

func (d deliveries) Remind(ctx context.Context, session string) (*delivery.Delivery, error) {
	if !d.looksByUpdate(session) {
		if a, now, err := d.m.accounts.look(ctx, session); err != nil || a.Running == 0 && a.unclaimed(now) == 0 {
			return nil, err
		}
	}
	return d.lease(ctx, session, account.remind)
}

// looksByUpdate reports whether reading the account of the session costs as much as
// an update, so that reading it first does not pay.
func (d deliveries) looksByUpdate(session string) bool {
	return d.IsShared() && !d.m.accounts.isSilent(session)
}

// lease runs begin, which begins a delivery if there is anything to tell, and writes
// the delivery's text. If the engine fails after storing the lease, the lease lapses.
func (d deliveries) lease(
	ctx context.Context, session string, begin func(account, uint64, time.Time) (account, *delivery.Delivery, draft),
) (begun *delivery.Delivery, err error) {
	var content draft
	token := rand.Uint64() | 1 //nolint:gosec // tells leases apart, guards nothing
	err = d.m.accounts.updateLive(ctx, session, func(now time.Time, a account, _ rules) (account, error) {
		a, begun, content = begin(a, token, now)
		return a, nil
	})
	if err != nil || begun == nil {
		return nil, err
	}
	begun.Session, begun.Text, begun.Tasks = session, content.text(), make([]string, len(content.tasks))
	for i, t := range content.tasks {
		begun.Tasks[i] = t.ID
	}
	return begun, nil
}

func (d deliveries) Settle(ctx context.Context, begun *delivery.Delivery, outcome delivery.Outcome) error {
	if begun.Lease == 0 {
		return nil
	}
	return d.m.accounts.update(ctx, begun.Session, func(_ time.Time, a account, rules rules) (account, error) {
		return a.settle(begun, outcome, rules), nil
	})
}

func (d deliveries) Renew(ctx context.Context, begun *delivery.Delivery) error {
	return d.m.accounts.update(ctx, begun.Session, func(now time.Time, a account, _ rules) (account, error) {
		return a.renew(begun.Lease, now.Add(delivery.Life)), nil
	})
}

// hasNews reports whether there is anything to deliver.
func (a *account) hasNews(o delivery.Options, now time.Time) bool {
	return !o.OnlyNew && len(a.Repeated) > 0 || a.hasChanged(o) || a.Undelivered > 0 && a.unclaimed(now) > 0
}

// hasChanged reports whether the model must be told the session's status, even if no
// task has ended.
func (a *account) hasChanged(o delivery.Options) bool {
	if o.NoSummary {
		return a.Running > a.ToldRunning
	}
	return a.Version != a.Told && len(a.Tasks) > 0
}

// remind returns the account after a reminder has begun, the reminder, and its
// content. The reminder is nil if there is nothing to tell.
func (a account) remind(token uint64, now time.Time) (account, *delivery.Delivery, draft) {
	content := a.draft(now)
	switch {
	case len(content.tasks) > 0:
		return a.hold(content.lease(token, now), now), &delivery.Delivery{Lease: token}, content
	case content.running > 0:
		return a, &delivery.Delivery{}, content
	}
	return a, nil, content
}

// deliver returns the account after a delivery has begun, the delivery, and its
// content. The delivery is nil if there is nothing to tell.
func (a account) deliver(o delivery.Options, token uint64, now time.Time) (account, *delivery.Delivery, draft) {
	d, content := &delivery.Delivery{Lease: token}, a.draft(now)
	if !o.OnlyNew {
		d.Repeated = slices.Clone(a.Repeated)
	}
	switch changed := a.hasChanged(o); {
	case changed && !o.NoSummary:
		content.summary, d.Version = a.Tasks, a.Version
	case !changed && len(content.tasks) == 0:
		content.running = 0
	}
	if len(content.tasks)+len(content.summary)+len(d.Repeated) == 0 && content.running == 0 {
		return a, nil, content
	}
	d.Running = content.running
	return a.hold(content.lease(token, now), now), d, content
}

const (
	// maxRepeated is how many bytes a session's requests may repeat; beyond it the
	// oldest texts are dropped.
	maxRepeated = 4 * maxReminder
	// maxLeases is the number of leases from which on lapsed leases without tasks are
	// removed. Until then a late call may settle them.
	maxLeases = 64
)

// lease is the claim of a [delivery.Delivery] on its tasks until it is settled.
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
func (a account) settle(d *delivery.Delivery, outcome delivery.Outcome, rules rules) account {
	i := a.lease(d.Lease)
	if i < 0 || a.Leases[i].Read && outcome <= delivery.Read {
		return a
	}
	l := a.Leases[i]
	a.Leases = slices.Delete(slices.Clone(a.Leases), i, i+1)
	if outcome != delivery.Unread && !l.Read {
		a = a.read(&l, d).compact(rules.history)
	}
	switch outcome {
	case delivery.Read:
		a.Leases = append(a.Leases, lease{Token: l.Token, Until: l.Until, Read: true})
	case delivery.Delivered:
		carried := d.Anchors()
		a.Repeated = slices.DeleteFunc(slices.Clone(a.Repeated), func(n delivery.Note) bool {
			_, ok := carried[n.ID]
			return ok
		})
	case delivery.Repeat:
		return a.repeat(d)
	case delivery.Unread:
	}
	return a
}

// read returns the account after the model has read delivery d, whose lease is
// l.
func (a account) read(l *lease, d *delivery.Delivery) account {
	a.Told = max(a.Told, d.Version)
	a.ToldRunning = max(a.ToldRunning, d.Running) // a.with caps this at the number of running tasks
	tasks := slices.Clone(a.Tasks)
	for i := range tasks {
		tasks[i].Delivered = tasks[i].Delivered || l.holds(tasks[i].Order)
	}
	return a.with(tasks)
}

// repeat returns the account after a delivery whose texts later requests repeat.
func (a account) repeat(d *delivery.Delivery) account {
	carried, notes := d.Anchors(), slices.Clone(a.Repeated)
	for i := range notes {
		if anchor, ok := carried[notes[i].ID]; ok {
			notes[i].Anchor = anchor
		}
	}
	if d.Text != "" {
		notes = append(notes, delivery.Note{ID: d.Lease, Text: d.Text, Anchor: d.Anchor})
	}
	size, first := 0, len(notes)
	for first > 0 && size+len(notes[first-1].Text) <= maxRepeated {
		first--
		size += len(notes[first].Text)
	}
	a.Repeated = slices.Clone(notes[first:])
	return a
}
