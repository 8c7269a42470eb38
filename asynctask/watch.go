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
	// ownerLife is how long a process may give no sign of life before it counts as gone
	// and the tasks of its functions fail. It matters only if processes share an
	// engine.
	ownerLife = 2 * time.Minute
	// pollInterval is how often a Manager checks for changes by other processes, in
	// sessions that this process waits for or works on, if the engine does not notify
	// it; see [WithRecords].
	pollInterval = 5 * time.Second
	// slowInterval is how often it checks if the engine notifies.
	slowInterval = 30 * time.Second
	// visitTime is how long one check may take, and notifyTime sending a message.
	visitTime, notifyTime = 5 * time.Second, time.Second
	// topic is the topic of this package's messages.
	topic = "carryon:tasks"
)

// poller checks what other processes have done to the sessions that matter in this
// one, and reports that the functions here go on. Without a shared engine it only
// passes on the ends of tasks in this process.
type poller struct {
	lifecycle *lifecycle
	isShared  bool
	notifier  records.Notifier // nil if there is none
	fails     atomic.Bool      // the last check failed, and that was reported

	mu        sync.Mutex
	watches   map[string][]*watch // by session; their slices are replaced, never changed in place
	timer     clock.Timer         // nil if no session matters
	listening bool
}

// watch is who waits for the ends of a session's tasks.
type watch struct {
	notify func()
	mu     sync.Mutex
	knows  bool
	last   time.Time // end of the last task; valid only if knows
}

// add calls f when a task of the session has ended; see Watch of delivery.Tasks.
func (p *poller) add(session string, f func()) (stop func()) {
	w := &watch{notify: f, knows: !p.isShared}
	p.mu.Lock()
	p.watches[session] = append(slices.Clip(p.watches[session]), w)
	p.mu.Unlock()
	p.start()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(p.watches[session]), func(other *watch) bool { return other == w })
		p.watches[session] = left
		if len(left) == 0 {
			delete(p.watches, session)
		}
	}
}

// ownerLife returns how long a function counts as running without a sign of life.
func (p *poller) ownerLife() time.Duration {
	if !p.isShared {
		return Off // it ends with the process, as the account does
	}
	return ownerLife
}

// ended reports the end of a task to the watches of the session, here and elsewhere.
func (p *poller) ended(ctx context.Context, session string, at time.Time) {
	p.notify(session, func(w *watch) bool { w.learns(at); return true })
	if p.notifier == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTime)
	defer cancel()
	if err := p.notifier.Notify(ctx, topic, format().Key(session)); err != nil {
		p.lifecycle.subscribers.report(err)
	}
}

// notify calls the watches of the session for which match returns true.
func (p *poller) notify(session string, match func(*watch) bool) {
	p.mu.Lock()
	watches := p.watches[session]
	p.mu.Unlock()
	for _, w := range watches {
		if !match(w) {
			continue
		}
		if err := guard.Run(func() error { w.notify(); return nil }); err != nil {
			p.lifecycle.subscribers.report(err)
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
func (p *poller) start() {
	if !p.isShared {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		p.timer = p.lifecycle.clock.AfterFunc(p.interval(), p.tick)
	}
	if p.notifier == nil || p.listening {
		return
	}
	ended, err := p.lifecycle.runner.addWorker()
	if err != nil {
		return
	}
	p.listening = true
	go func() {
		defer ended()
		p.listen(p.lifecycle.runner.life)
	}()
}

func (p *poller) interval() time.Duration {
	if p.notifier != nil {
		return slowInterval
	}
	return pollInterval
}

// listen visits the sessions that messages name, until ctx ends.
func (p *poller) listen(ctx context.Context) {
	err := p.notifier.Listen(ctx, topic, func(message string) {
		for _, session := range p.sessions() {
			if message == "" || message == format().Key(session) {
				_ = p.visit(ctx, session) // it was reported
			}
		}
	})
	if ctx.Err() == nil { // the timer goes on checking
		p.lifecycle.subscribers.report(err)
	}
}

// tick visits all sessions that matter.
func (p *poller) tick() {
	ended, err := p.lifecycle.runner.addWorker()
	if err != nil {
		return
	}
	defer ended()
	p.mu.Lock()
	p.timer = nil // a start from here on sets it again
	p.mu.Unlock()
	ctx := p.lifecycle.runner.life
	for _, session := range p.sessions() {
		if err := p.visit(ctx, session); errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break // the other sessions would take as long
		}
	}
	if len(p.sessions()) > 0 {
		p.start()
	}
}

// sessions returns the sessions that matter, in no order: those with a job or a watch
// in this process.
func (p *poller) sessions() []string {
	matter := map[string]bool{}
	for _, session := range p.lifecycle.runner.sessions() {
		matter[session] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for session := range p.watches {
		matter[session] = true
	}
	return slices.Collect(maps.Keys(matter))
}

// visit looks at a session, reports that the work on it goes on, and ends tasks that
// could not be ended before.
func (p *poller) visit(ctx context.Context, session string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	defer func() {
		if err == nil {
			p.fails.Store(false)
		} else if !errors.Is(ctx.Err(), context.Canceled) && !p.fails.Swap(true) {
			p.lifecycle.subscribers.report(err)
		}
	}()
	var working []*job
	var ids []string
	for _, j := range p.lifecycle.runner.of(session) {
		switch begun, unsettled := p.lifecycle.runner.progress(j); {
		case unsettled != nil: // without a sign of life it is lost if this fails for long
			err = errors.Join(err, p.lifecycle.retryEnd(ctx, j, unsettled))
		case begun:
			working, ids = append(working, j), append(ids, j.ticket.ID)
		}
	}
	a, failure := p.beat(ctx, session, ids)
	if failure != nil {
		return errors.Join(err, failure)
	}
	for _, j := range working {
		p.compare(j, a.find(j.ticket.ID))
	}
	last := a.lastEnd()
	p.notify(session, func(w *watch) bool { return w.learns(last) })
	return err
}

// beat reports that these tasks go on, and returns the account of the session.
func (p *poller) beat(ctx context.Context, session string, ids []string) (*account, error) {
	accounts := p.lifecycle.accounts
	a, now, err := accounts.store.look(ctx, session)
	isDue := func(t record) bool {
		return t.Result == nil && !t.Until.IsZero() && t.Until.Sub(now) <= ownerLife/2 && slices.Contains(ids, t.ID)
	}
	if err != nil || a == nil || !slices.ContainsFunc(a.Tasks, isDue) {
		if a == nil {
			a = &accounts.none
		}
		return a, err
	}
	err = accounts.update(ctx, session, func(now time.Time, live account, _ rules) (account, error) {
		live = live.beat(ids, now.Add(ownerLife))
		a = &live
		return live, nil
	})
	return a, err
}

// compare ends the job of a task that has ended elsewhere. The record is nil if the
// task is no longer kept.
func (p *poller) compare(j *job, r *record) {
	switch {
	case r == nil:
		j.cancel(ErrUnknown)
	case r.state() == Cancelled:
		p.lifecycle.runner.ended(r.view(j.ticket.Session), ErrCancelled)
	case r.state() != Running:
		p.lifecycle.runner.ended(r.view(j.ticket.Session), context.Canceled)
	}
}

// subscribers are called when tasks end.
type subscribers struct {
	onError func(error)

	mu   sync.Mutex
	list []*subscriber // replaced, never changed in place
}

type subscriber struct {
	notify    func(Task)
	cancelled atomic.Bool
}

// Subscribe calls f each time a task of any session ends through this Manager. For
// tasks that end elsewhere, see [Manager.Wait]. f runs on the goroutine that ended the
// task: the task's own, or that of the caller of Finish, Fail, Cancel, Forget or Close.
// No lock is held, so f may call the Manager. f may be called concurrently. A panic of
// f goes to [OnError].
//
// After cancel has returned, f is not called again, though a call may still be running.
// cancel may be called several times, and by f. Subscribe panics if f is nil.
func (m *Manager) Subscribe(f func(Task)) (cancel func()) {
	if f == nil {
		panic("carryon/asynctask: Subscribe: nil function")
	}
	s, added := m.subscribers, &subscriber{notify: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(slices.Clip(s.list), added)
	return func() {
		added.cancelled.Store(true)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list = slices.DeleteFunc(slices.Clone(s.list), func(other *subscriber) bool { return other == added })
	}
}

// notify calls the subscribers with an ended task.
func (s *subscribers) notify(t Task) {
	s.mu.Lock()
	list := s.list
	s.mu.Unlock()
	for _, subscriber := range list {
		if subscriber.cancelled.Load() {
			continue
		}
		if err := guard.Run(func() error { subscriber.notify(t); return nil }); err != nil {
			s.report(err)
		}
	}
}

// report gives the program an error that no caller gets. A panic of OnError is
// dropped.
func (s *subscribers) report(err error) {
	if s.onError != nil {
		_ = guard.Run(func() error { s.onError(err); return nil })
	}
}
