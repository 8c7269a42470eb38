package asynctask

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// runner holds a Manager to its limit, and knows what of the tasks lives in this
// process: the ctx of each, who waits for it, and the goroutines that Close
// joins.
type runner struct {
	limit int

	mu         sync.Mutex
	jobs       map[Ticket]*job // each takes a place
	reserved   map[*Reservation]struct{}
	companions map[*func(cause error)]struct{} // which stop what has joined
	working    int                             // goroutines, and tasks that are about to begin
	closed     bool
	drained    chan struct{} // closed once nothing works for a closed runner
}

// job is a task that this process has begun.
type job struct {
	ticket     Ticket
	isFunction bool
	cancel     context.CancelCauseFunc
	done       chan struct{} // closed once the function has returned, or the task has ended if it has none
	ended      Task          // as it ended, zero if that is not known; it may be read once done is closed
}

func newRunner(limit int) *runner {
	return &runner{
		limit: limit, jobs: map[Ticket]*job{}, reserved: map[*Reservation]struct{}{},
		companions: map[*func(error)]struct{}{}, drained: make(chan struct{}),
	}
}

// add takes a place for a job: the one of the reservation, or any if that is nil.
func (r *runner) add(j *job, from *Reservation, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.room(from, now); err != nil {
		return err
	}
	if r.jobs[j.ticket] != nil {
		return fmt.Errorf("%w: %s", ErrDuplicate, j.ticket.ID)
	}
	delete(r.reserved, from)
	r.jobs[j.ticket] = j
	r.working++
	return nil
}

// room fails if there is no place: that of the reservation, or any if it is nil.
// The lock is held.
func (r *runner) room(from *Reservation, now time.Time) error {
	maps.DeleteFunc(r.reserved, func(other *Reservation, _ struct{}) bool { return other.lapsed(now) })
	_, isReserved := r.reserved[from]
	taken := len(r.jobs) + len(r.reserved)
	switch {
	case r.closed:
		return ErrClosed
	case from != nil && !isReserved:
		return ErrReservation
	case from == nil && r.limit != Off && taken >= r.limit:
		return fmt.Errorf("%w: %d of %d places are taken (%d of them reserved)", ErrLimit, taken, r.limit, len(r.reserved))
	}
	return nil
}

// remove drops a job that could not begin, and reserves its place again if it was.
func (r *runner) remove(j *job, from *Reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, j.ticket)
	if from != nil && !r.closed {
		r.reserved[from] = struct{}{}
	}
	r.rest()
}

// reserve reserves a place.
func (r *runner) reserve(reserved *Reservation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.room(nil, reserved.since); err != nil {
		return err
	}
	r.reserved[reserved] = struct{}{}
	return nil
}

// release gives a reservation up.
func (r *runner) release(reserved *Reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reserved, reserved)
}

// reservedSince returns the times of the session's reservations.
func (r *runner) reservedSince(session string, now time.Time) (times []time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for reserved := range r.reserved {
		if reserved.session == session && !reserved.lapsed(now) {
			times = append(times, reserved.since)
		}
	}
	return times
}

// join has close call stop, and wait until leave was called.
func (r *runner) join(stop func(cause error)) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	r.companions[&stop] = struct{}{}
	r.working++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.companions, &stop)
		r.rest()
	}, nil
}

// leave says that one that worked has ended.
func (r *runner) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest()
}

// rest says that one less works. The lock is held.
func (r *runner) rest() {
	r.working--
	if r.closed && r.working == 0 {
		close(r.drained)
	}
}

// close takes nobody any more, and stops the companions.
func (r *runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	clear(r.reserved)
	for stop := range r.companions {
		(*stop)(ErrClosed)
	}
	if r.working == 0 {
		close(r.drained)
	}
}

// job returns the job of that ticket, nil if it is not one of this process.
func (r *runner) job(t Ticket) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[t]
}

// open returns the jobs.
func (r *runner) open() []*job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.jobs))
}

// wait waits until all that works has ended, or ctx.
func (r *runner) wait(ctx context.Context) error {
	if err := await(ctx, r.drained); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Errorf("asynctask: closed, but %d goroutines have not ended: %w", r.working, err)
	}
	return nil
}

// end tells the job of a task that it has ended; cause is that of its ctx. The
// place of a function stays taken until that has returned.
func (r *runner) end(t Task, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[t.Ticket()]
	if j == nil {
		return
	}
	j.ended = t
	if !j.isFunction {
		r.over(j)
	}
	j.cancel(cause)
}

// returned says that the function of a job has returned, with the task if that
// has ended it.
func (r *runner) returned(j *job, ended Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended.ID != "" {
		j.ended = ended
	}
	r.over(j)
	j.cancel(context.Canceled)
}

// over drops a job, which frees its place. The lock is held.
func (r *runner) over(j *job) {
	delete(r.jobs, j.ticket)
	close(j.done)
}

// await waits for done, and fails with the cause of ctx if that ends first.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
