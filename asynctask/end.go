package asynctask

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Finish ends a task as completed, with what it leaves; nil is nothing. It
// fails with ErrUnknown or ErrEnded.
//
// Finish, Fail and Cancel are for tasks of Begin, and end those of Start early:
// their ctx ends, and what their function returns is ignored.
func (m *Manager) Finish(id string, output *Output) error {
	return m.end(id, completed(id, output), context.Canceled)
}

// Fail ends a task as failed with err, the text of which the model is told. It
// fails as Finish does.
func (m *Manager) Fail(id string, err error) error {
	if err == nil {
		err = errors.New("no reason given")
	}
	return m.end(id, failed(id, err), context.Canceled)
}

// Cancel calls a task off: its ctx ends, with ErrCancelled as the cause. It
// does not wait for the task's function. It fails as Finish does.
func (m *Manager) Cancel(id string) error {
	return m.end(id, cancelled(id), ErrCancelled)
}

// CancelAll cancels every task of the session that is running, and returns how
// many there were.
func (m *Manager) CancelAll(session string) int {
	m.mu.Lock()
	var running []*task
	if s := m.look(session); s != nil {
		running = s.runningTasks()
	}
	m.mu.Unlock()
	n := 0
	for _, t := range running {
		if m.Cancel(t.id) == nil {
			n++
		}
	}
	return n
}

func (s *session) runningTasks() []*task {
	var running []*task
	for _, t := range s.tasks {
		if t.state == Running {
			running = append(running, t)
		}
	}
	return running
}

// end ends the task of that id; cause is that of its ctx.
func (m *Manager) end(id string, c *completion, cause error) error {
	m.mu.Lock()
	t := m.tasks[id]
	switch {
	case t == nil:
		m.mu.Unlock()
		return fmt.Errorf("%w: %.64q", ErrUnknown, id)
	case t.state != Running:
		defer m.mu.Unlock()
		return fmt.Errorf("%w: %s is %s", ErrEnded, id, t.state)
	}
	ended := m.settle(t, c)
	if !t.local {
		m.slots--
		close(t.returned)
	}
	m.mu.Unlock()
	t.cancel(cause)
	m.tell(ended)
	return nil
}

// settle is the one transition of a task. It returns what subscribers are to be
// told, nil if there are none.
func (m *Manager) settle(t *task, c *completion) *Task {
	t.state, t.result, t.ended = c.state, c, m.clock.Now()
	t.delivered = t.home.mute || c.state == Cancelled && !m.options.cancellations
	if !t.delivered {
		m.undelivered++
	}
	t.home.end(t)
	m.history.add(t)
	var ended *Task
	if len(m.subscribers) > 0 {
		view := t.view() // before trim may shrink it
		ended = &view
	}
	m.trim(t.home)
	return ended
}

// run runs the function of a task, on the task's own goroutine.
func (m *Manager) run(ctx context.Context, t *task, f Func) {
	defer m.leave()
	output, err := (*Output)(nil), ErrExited
	defer func() { m.returned(t, output, err) }() // also if f ends the goroutine
	output, err = call(ctx, f)
}

// call calls f and turns a panic into an error.
func call(ctx context.Context, f Func) (output *Output, err error) {
	defer func() {
		if value := recover(); value != nil {
			output, err = nil, &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f(ctx)
}

// returned takes note that the function of a task has returned, which ends the
// task unless it has ended already.
func (m *Manager) returned(t *task, output *Output, err error) {
	var c *completion
	if err != nil {
		c = failed(t.id, err)
	} else {
		c = completed(t.id, output)
	}
	m.mu.Lock()
	var ended *Task
	if t.state == Running {
		ended = m.settle(t, c)
	}
	m.slots--
	close(t.returned)
	m.mu.Unlock()
	t.cancel(context.Canceled)
	m.tell(ended)
}

// leave takes note of the end of a goroutine.
func (m *Manager) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.goroutines--
	m.drain()
}

func (m *Manager) drain() {
	if !m.closed || m.goroutines > 0 {
		return
	}
	select {
	case <-m.drained:
	default:
		close(m.drained)
	}
}

// Close ends the Manager: nothing can be started any more, every task that is
// running is cancelled, every AutoTrigger is stopped, and Close waits until
// their goroutines have ended. If ctx ends first it returns the cause of that,
// wrapped, with how many are left; Close may be called again. What ended before
// can still be delivered and looked up.
//
// A task's function, a subscriber or a Trigger that calls Close waits for
// itself, until ctx ends.
func (m *Manager) Close(ctx context.Context) error {
	if ctx == nil {
		panic("asynctask: nil context")
	}
	m.mu.Lock()
	m.closed = true
	var running []*task
	for _, s := range m.sessions {
		running = append(running, s.runningTasks()...)
	}
	for a := range m.triggers {
		a.cancel(ErrClosed)
	}
	clear(m.reservations)
	m.drain()
	m.mu.Unlock()
	for _, t := range running {
		_ = m.end(t.id, cancelled(t.id), ErrClosed) // it may have ended by now
	}
	select {
	case <-m.drained:
		return nil
	default:
	}
	select {
	case <-m.drained:
		return nil
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		return fmt.Errorf("asynctask: closed, but %d goroutines have not ended: %w", m.goroutines, context.Cause(ctx))
	}
}
