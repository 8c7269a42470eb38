package asynctask

import (
	"fmt"
	"time"
)

// MaxReminder is how many bytes a reminder has at most. If more has ended than
// fits, texts are cut beyond what [MaxCompletion] asks for; what does not fit
// even so is left for the next reminder, and the number of those is given.
const MaxReminder = 64 << 10

// LeaseLife is how long a [Reminder] that is neither acknowledged nor released
// keeps others from telling of the same tasks.
const LeaseLife = 10 * time.Minute

const (
	reminderHead = "---\nSystem Note: Async Task Status\n\n"
	reminderTail = "\n---"
	// frameSize is what a reminder has besides the completions, at most.
	frameSize = 256
	// smallest is the room that a completion is never given less of. Its id,
	// and each of its texts cut to the shortest, fit.
	smallest = 512
)

// Reminder tells the model of tasks that have ended, and holds them while it
// does: no other reminder names them. Who gets one calls Ack or Release, of
// which the first call counts; without either the hold lapses after
// [LeaseLife]. A Reminder is safe for concurrent use.
type Reminder struct {
	manager *Manager
	session *session
	tasks   []*task
	text    string
	until   time.Time // zero: held until it is given up
}

// Remind returns a reminder of the session's tasks that have ended and have not
// been delivered, and of how many are running. It returns nil if there are
// neither. Text says what to tell the model:
//
//	if r := tasks.Remind(session); r != nil {
//		answer, err := model.Ask(ctx, r.Text())
//		if err != nil {
//			r.Release() // the next reminder will say it
//			return err
//		}
//		r.Ack()
//	}
func (m *Manager) Remind(session string) *Reminder {
	m.mu.Lock()
	s := m.look(session)
	if s == nil || s.running == 0 && !s.hasFree(m.clock) {
		m.mu.Unlock()
		return nil
	}
	now := m.clock.Now()
	r, d := m.lease(s, now, now.Add(LeaseLife))
	m.mu.Unlock()
	r.text = d.text()
	if r.text == "" {
		return nil
	}
	return r
}

// Text returns what to tell the model:
//
//	---
//	System Note: Async Task Status
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
// Tasks that failed, and cancelled ones if they are told of, are counted among
// the completed, with an object of their own that says so.
func (r *Reminder) Text() string { return r.text }

// Tasks returns the ids of the tasks that the reminder tells the end of, in
// order of end.
func (r *Reminder) Tasks() []string {
	ids := make([]string, 0, len(r.tasks))
	for _, t := range r.tasks {
		ids = append(ids, t.id)
	}
	return ids
}

// Ack takes note that the model has been told: no other reminder names these
// tasks. After the hold has lapsed that is still so, unless another reminder
// has taken them over.
func (r *Reminder) Ack() {
	r.manager.mu.Lock()
	defer r.manager.mu.Unlock()
	r.ack()
}

// Release takes note that the model has not been told: the next reminder names
// these tasks again.
func (r *Reminder) Release() {
	r.manager.mu.Lock()
	defer r.manager.mu.Unlock()
	r.release()
}

// ack and release do nothing to a task that another reminder holds, or none.

func (r *Reminder) ack() {
	for _, t := range r.tasks {
		if t.holder == r {
			r.session.letGo(t)
			t.delivered = true
			r.manager.undelivered--
		}
	}
	r.session.tidy()
	r.manager.trim(r.session)
}

func (r *Reminder) release() {
	for _, t := range r.tasks {
		if t.holder == r {
			r.session.letGo(t)
		}
	}
}

func (r *Reminder) lapsed(now time.Time) bool {
	return !r.until.IsZero() && !now.Before(r.until)
}

// draft is what a reminder is written from, once the lock is given back.
type draft struct {
	done    []*completion
	left    int // ended, and left for the next reminder
	running int
}

// lease returns a reminder that holds what is free of the session's news, as
// far as it fits, without its text.
func (m *Manager) lease(s *session, now, until time.Time) (*Reminder, draft) {
	r := &Reminder{manager: m, session: s, until: until}
	free := s.free(now)
	d := draft{running: s.running}
	room := MaxReminder - frameSize
	for _, t := range free {
		if room -= min(t.result.size, smallest) + len("\n\n"); room < 0 {
			break
		}
		r.tasks = append(r.tasks, t)
		d.done = append(d.done, t.result)
		s.hold(t, r)
	}
	d.left = len(free) - len(r.tasks)
	return r, d
}

// text returns the reminder's text, "" if there is nothing to say.
func (d *draft) text() string {
	if len(d.done) == 0 && d.running == 0 {
		return ""
	}
	const gap = "\n\n"
	room, size := MaxReminder-frameSize, frameSize
	sizes := make([]int, 0, len(d.done))
	for _, c := range d.done {
		sizes = append(sizes, min(c.size, MaxCompletion)+len(gap))
		size += sizes[len(sizes)-1]
	}
	share := min(fairShare(sizes, room)-len(gap), MaxCompletion)

	text := append(make([]byte, 0, min(size, MaxReminder)), reminderHead...)
	if len(d.done) > 0 {
		text = fmt.Appendf(text, "%d async task(s) completed:", len(d.done))
	}
	for _, c := range d.done {
		text = c.cut(share).append(append(text, gap...))
	}
	if d.left > 0 {
		text = fmt.Appendf(text, gap+"%d more will be in the next reminder.", d.left)
	}
	if d.running > 0 {
		if len(d.done) > 0 {
			text = append(text, gap...)
		}
		text = fmt.Appendf(text, "%d async task(s) still running.", d.running)
	}
	return string(append(text, reminderTail...))
}
