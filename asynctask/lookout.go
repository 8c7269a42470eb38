package asynctask

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
	"github.com/carryon-go/carryon/internal/guard"
	"github.com/carryon-go/carryon/records"
)

const (
	// OwnerLife is the time without a sign of life after which a process counts as
	// gone, and its functions as lost. It matters only where processes share an
	// engine.
	OwnerLife = 2 * time.Minute
	// PollInterval is how often a Manager checks what other processes have done to
	// the sessions that this process waits for or works on, if the engine does not
	// notify it; see [WithRecords].
	PollInterval = 5 * time.Second
	// slowInterval is how often it checks if the engine notifies.
	slowInterval = 30 * time.Second
	// visitTime is how long one check may take, and notifyTime sending a message.
	visitTime, notifyTime = 5 * time.Second, time.Second
	// topic is the topic of this package's messages.
	topic = "carryon:tasks"
)

// lookout notices what other processes do to the sessions that matter in this one,
// and tells them that the functions here go on. Without a shared engine it only
// passes on the ends of tasks in this process.
type lookout struct {
	lifecycle *lifecycle
	isShared  bool
	notifier  records.Notifier // nil if there is none
	fails     atomic.Bool      // the last check failed, and that was reported

	mu        sync.Mutex
	watches   map[string][]*watch // by session; their slices are replaced, never changed in place
	timer     clock.Timer         // nil if no session matters
	listening bool
}

// watch is one call of [Manager.Watch].
type watch struct {
	notify func()
	mu     sync.Mutex
	knows  bool
	last   time.Time // the last end, if knows; zero if there was none
}

// Watch calls f when a task of the session has ended, in this process or in another
// one that shares the engine, and sometimes when none has. f must not block, and may
// be called concurrently. Ends before Watch returned may not be reported: look at the
// tasks after calling it. After stop has returned, f is not called again, though a
// call may still be running.
func (m *Manager) Watch(session string, f func()) (stop func()) {
	return m.lookout.add(m.accounts.key(session), f)
}

func (o *lookout) add(session string, f func()) (stop func()) {
	w := &watch{notify: f, knows: !o.isShared}
	o.mu.Lock()
	o.watches[session] = append(slices.Clip(o.watches[session]), w)
	o.mu.Unlock()
	o.start()
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(o.watches[session]), func(other *watch) bool { return other == w })
		if o.watches[session] = left; len(left) == 0 {
			delete(o.watches, session)
		}
	}
}

// ownerLife returns how long a function counts as running without a sign of life.
func (o *lookout) ownerLife() time.Duration {
	if !o.isShared {
		return Off // it ends with the process, as the account does
	}
	return OwnerLife
}

// ended reports the end of a task to the watches of the session, here and elsewhere.
func (o *lookout) ended(ctx context.Context, session string, at time.Time) {
	o.tell(session, func(w *watch) bool { w.learns(at); return true })
	if o.notifier == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTime)
	defer cancel()
	if err := o.notifier.Notify(ctx, topic, format().Key(session)); err != nil {
		o.lifecycle.subscribers.report(err)
	}
}

// tell calls the watches of the session that meant selects.
func (o *lookout) tell(session string, meant func(*watch) bool) {
	o.mu.Lock()
	watches := o.watches[session]
	o.mu.Unlock()
	for _, w := range watches {
		if !meant(w) {
			continue
		}
		if err := guard.Run(func() error { w.notify(); return nil }); err != nil {
			o.lifecycle.subscribers.report(err)
		}
	}
}

// learns records the last end, and reports whether it is news.
func (w *watch) learns(last time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	isNews := !w.knows || !last.IsZero() && !last.Equal(w.last)
	w.knows, w.last = true, last
	return isNews
}

// start begins to check, if processes share the engine, until no session matters.
func (o *lookout) start() {
	if !o.isShared {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer == nil {
		o.timer = o.lifecycle.clock.AfterFunc(o.interval(), o.tick)
	}
	if o.notifier == nil || o.listening {
		return
	}
	leave, err := o.lifecycle.runner.join()
	if err != nil {
		return
	}
	o.listening = true
	go func() {
		defer leave()
		o.listen(o.lifecycle.runner.life)
	}()
}

func (o *lookout) interval() time.Duration {
	if o.notifier != nil {
		return slowInterval
	}
	return PollInterval
}

// listen visits the sessions that messages name, until ctx ends.
func (o *lookout) listen(ctx context.Context) {
	err := o.notifier.Listen(ctx, topic, func(message string) {
		for _, session := range o.sessions() {
			if message == "" || message == format().Key(session) {
				_ = o.visit(ctx, session) // it was reported
			}
		}
	})
	if ctx.Err() == nil { // the timer goes on checking
		o.lifecycle.subscribers.report(err)
	}
}

// tick visits all sessions that matter.
func (o *lookout) tick() {
	leave, err := o.lifecycle.runner.join()
	if err != nil {
		return
	}
	defer leave()
	o.mu.Lock()
	o.timer = nil // a start from here on sets it again
	o.mu.Unlock()
	ctx := o.lifecycle.runner.life
	for _, session := range o.sessions() {
		if err := o.visit(ctx, session); errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break // the other sessions would take as long
		}
	}
	if len(o.sessions()) > 0 {
		o.start()
	}
}

// sessions returns the sessions that matter, in no order: those with a job or a watch
// in this process.
func (o *lookout) sessions() []string {
	matter := map[string]bool{}
	for _, session := range o.lifecycle.runner.sessions() {
		matter[session] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for session := range o.watches {
		matter[session] = true
	}
	return slices.Collect(maps.Keys(matter))
}

// visit looks at a session, reports that the work on it goes on, and ends tasks that
// could not be ended before.
func (o *lookout) visit(ctx context.Context, session string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	defer func() {
		if err == nil {
			o.fails.Store(false)
		} else if !errors.Is(ctx.Err(), context.Canceled) && !o.fails.Swap(true) {
			o.lifecycle.subscribers.report(err)
		}
	}()
	var working []*job
	var ids []string
	for _, j := range o.lifecycle.runner.of(session) {
		switch begun, unsettled := o.lifecycle.runner.progress(j); {
		case unsettled != nil: // without a sign of life it is lost if this fails for long
			err = errors.Join(err, o.lifecycle.settle(ctx, j, unsettled))
		case begun:
			working, ids = append(working, j), append(ids, j.ticket.ID)
		}
	}
	a, failure := o.beat(ctx, session, ids)
	if failure != nil {
		return errors.Join(err, failure)
	}
	for _, j := range working {
		o.compare(j, a.find(j.ticket.ID))
	}
	last := a.lastEnd()
	o.tell(session, func(w *watch) bool { return w.learns(last) })
	return err
}

// beat reports that these tasks go on, and returns the account of the session.
func (o *lookout) beat(ctx context.Context, session string, ids []string) (*account, error) {
	accounts := o.lifecycle.accounts
	a, now, err := accounts.store.look(ctx, session)
	isDue := func(t record) bool {
		return t.Result == nil && !t.Until.IsZero() && t.Until.Sub(now) <= OwnerLife/2 && slices.Contains(ids, t.ID)
	}
	if err != nil || a == nil || !slices.ContainsFunc(a.Tasks, isDue) {
		if a == nil {
			a = &accounts.none
		}
		return a, err
	}
	err = accounts.update(ctx, session, func(now time.Time, live account, _ rules) (account, error) {
		live = live.beat(ids, now.Add(OwnerLife))
		a = &live
		return live, nil
	})
	return a, err
}

// compare ends the job of a task that has ended elsewhere. The record is nil if the
// task is no longer kept.
func (o *lookout) compare(j *job, r *record) {
	switch {
	case r == nil:
		j.cancel(ErrUnknown)
	case r.state() == Cancelled:
		o.lifecycle.runner.ended(r.view(j.ticket.Session), ErrCancelled)
	case r.state() != Running:
		o.lifecycle.runner.ended(r.view(j.ticket.Session), context.Canceled)
	}
}
