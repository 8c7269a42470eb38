package asynctask

import (
	"slices"
	"time"

	"github.com/carryon-go/carryon/internal/clock"
)

// session is what a Manager keeps of one session, under the Manager's mutex.
type session struct {
	key   string
	mute  bool    // nothing is delivered here
	tasks []*task // in order of start
	news  []*task // ended and not delivered, in order of end

	running int
	held    int       // of the news, those that a Reminder holds
	lapse   time.Time // no hold lapses before this; zero: none does

	version     uint64 // counts the changes of the status summary
	told        uint64 // the version that the model was told
	toldRunning int    // how many running tasks the model was told of

	standing      []*note
	standingBytes int
}

// begin takes note of a task that has begun.
func (s *session) begin(t *task) {
	s.tasks = append(s.tasks, t)
	s.running++
	s.version++
}

// end takes note of a task that has ended.
func (s *session) end(t *task) {
	s.running--
	s.toldRunning = min(s.toldRunning, s.running)
	s.version++
	if !t.delivered {
		s.news = append(s.news, t)
	}
}

// hold gives the task to r, which may take it from a holder whose time is over.
func (s *session) hold(t *task, r *Reminder) {
	if t.holder == nil {
		s.held++
	}
	t.holder = r
	if !r.until.IsZero() && (s.lapse.IsZero() || r.until.Before(s.lapse)) {
		s.lapse = r.until
	}
}

// letGo takes the task from its holder, if it has one.
func (s *session) letGo(t *task) {
	if t.holder == nil {
		return
	}
	t.holder = nil
	if s.held--; s.held == 0 {
		s.lapse = time.Time{}
	}
}

// free returns the news that nobody is telling.
func (s *session) free(now time.Time) []*task {
	var free []*task
	s.lapse = time.Time{}
	for _, t := range s.news {
		r := t.holder
		if r == nil || r.lapsed(now) {
			free = append(free, t)
		}
		if r != nil && !r.until.IsZero() && (s.lapse.IsZero() || r.until.Before(s.lapse)) {
			s.lapse = r.until
		}
	}
	return free
}

// hasFree reports whether free may return anything, at next to no cost.
func (s *session) hasFree(c clock.Clock) bool {
	if len(s.news) > s.held {
		return true
	}
	return s.held > 0 && !s.lapse.IsZero() && !c.Now().Before(s.lapse)
}

// tidy forgets the tasks that are gone, and the news that were delivered.
func (s *session) tidy() {
	s.tasks = slices.DeleteFunc(s.tasks, func(t *task) bool { return t.gone })
	s.news = slices.DeleteFunc(s.news, func(t *task) bool { return t.gone || t.delivered })
}
