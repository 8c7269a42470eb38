package asynctask

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// runner enforces the limits of a Manager, and knows which parts of the tasks live in
// this process: the functions, the attached workers, and the goroutines that Close
// waits for.
type runner struct {
	limit        int
	sessionLimit int

	life context.Context //nolint:containedctx // of the runner: close ends it
	end  context.CancelCauseFunc

	mu        sync.Mutex
	jobs      map[string][]*job // by session; their slices are replaced, never changed in place
	functions int               // of all sessions
	working   int               // goroutines, and functions that are about to begin
	drained   chan struct{}     // closed once the runner is closed and working is 0
}

// job is the work on a task in this process.
type job struct {
	ticket     Ticket
	isFunction bool // whether the Manager runs a function for it
	begun      bool // whether the account has the task
	cancel     context.CancelCauseFunc
	done       chan struct{} // closed once the function has returned
	ended      Task          // the ended task; zero if not known
	unsettled  *result       // of a function that has returned, until the store has its end
}

func newRunner(limit, sessionLimit int) *runner {
	life, end := context.WithCancelCause(context.Background())
	return &runner{
		limit: limit, sessionLimit: sessionLimit, life: life, end: end,
		jobs: map[string][]*job{}, drained: make(chan struct{}),
	}
}

func (r *runner) isClosed() bool { return r.life.Err() != nil }

// add takes a slot for a function.
func (r *runner) add(j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.checkLimit(j.ticket.Session); err != nil {
		return err
	}
	r.insert(j)
	r.functions++
	r.working++
	return nil
}

// attach adds a job without a function.
func (r *runner) attach(j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed() {
		return ErrClosed
	}
	r.insert(j)
	return nil
}

func (r *runner) insert(j *job) {
	session := j.ticket.Session
	r.jobs[session] = append(slices.Clip(r.jobs[session]), j)
}

// checkLimit fails if there is no slot for a function. A cancelled function keeps its
// slot until it has returned. The lock is held.
func (r *runner) checkLimit(session string) error {
	inSession := 0
	for _, j := range r.jobs[session] {
		if j.isFunction {
			inSession++
		}
	}
	switch {
	case r.isClosed():
		return ErrClosed
	case r.limit != Off && r.functions >= r.limit:
		return fmt.Errorf("%w: %d of %d functions are running", ErrLimit, r.functions, r.limit)
	case r.sessionLimit != Off && inSession >= r.sessionLimit:
		return fmt.Errorf("%w: %d functions of the session have not returned", ErrLimit, inSession)
	}
	return nil
}

// refused drops a function that could not begin.
func (r *runner) refused(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(j)
	r.workerEndedLocked()
}

// remove drops a job. The lock is held.
func (r *runner) remove(j *job) {
	session := j.ticket.Session
	left := slices.DeleteFunc(slices.Clone(r.jobs[session]), func(other *job) bool { return other == j })
	if len(left) == len(r.jobs[session]) {
		return
	}
	if j.isFunction && j.unsettled == nil {
		r.functions--
	}
	r.jobs[session] = left
	if len(left) == 0 {
		delete(r.jobs, session)
	}
}

// detach drops a job.
func (r *runner) detach(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(j)
}

// addWorker increments the number of workers, until ended is called. It fails with ErrClosed.
func (r *runner) addWorker() (ended func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed() {
		return nil, ErrClosed
	}
	r.working++
	return r.workerEnded, nil
}

// workerEnded decrements the number of workers.
func (r *runner) workerEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workerEndedLocked()
}

// workerEndedLocked is workerEnded for callers that hold mu.
func (r *runner) workerEndedLocked() {
	r.working--
	if r.isClosed() && r.working == 0 {
		close(r.drained)
	}
}

// close ends the runner's life, so that it accepts no more work. After the first call it
// does nothing.
func (r *runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed() {
		return
	}
	r.end(ErrClosed)
	if r.working == 0 {
		close(r.drained)
	}
}

// function returns the job of a function; nil if this process does not run it.
func (r *runner) function(t Ticket) *job {
	for _, j := range r.of(t.Session) {
		if j.isFunction && j.ticket == t {
			return j
		}
	}
	return nil
}

// of returns the jobs of the session.
func (r *runner) of(session string) []*job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[session]
}

// sessions returns the sessions with jobs.
func (r *runner) sessions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.jobs))
}

// open returns all jobs.
func (r *runner) open() []*job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(slices.Collect(maps.Values(r.jobs))...)
}

// wait waits until all workers have ended, or ctx ends.
func (r *runner) wait(ctx context.Context) error {
	if err := await(ctx, r.drained); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Errorf("asynctask: closed, but %d goroutines have not ended: %w", r.working, err)
	}
	return nil
}

// ended ends the jobs of a task that has ended, and their ctx with this cause.
func (r *runner) ended(t Task, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs[t.Session] {
		if j.ticket != t.Ticket() {
			continue
		}
		if j.ended.ID == "" {
			j.ended = t
		}
		if !j.isFunction || j.unsettled != nil {
			r.remove(j)
		}
		j.cancel(cause)
	}
}

// returned notes that the function of a job has returned, which frees its slot.
// ended is the task, if this has ended it. An unsettled job stays until it is
// settled.
func (r *runner) returned(j *job, ended Task, unsettled *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended.ID != "" {
		j.ended = ended
	}
	if unsettled == nil {
		r.remove(j)
	} else {
		j.unsettled = unsettled
		r.functions--
	}
	close(j.done)
	j.cancel(context.Canceled)
}

// began notes that the account has the task of a job.
func (r *runner) began(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.begun = true
}

// progress returns whether the account has the task of a job, and the result of its
// function if the store does not have it yet.
func (r *runner) progress(j *job) (begun bool, unsettled *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return j.begun, j.unsettled
}

// endOf returns the ended task of a job; zero if not known.
func (r *runner) endOf(j *job) Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return j.ended
}

// await waits for done, and fails with the cause of ctx if ctx ends first.
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
