package asynctask

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/carryon-go/carryon/internal/delivery"
)

// account is the record of one session: its tasks, and what the model has been told
// about them. The zero value is a session without tasks.
//
// An account is a value: a Manager replaces it and never changes anything that it
// refers to, so several goroutines may read it. A change copies what it changes, at
// most the tasks of one session.
type account struct {
	Tasks    []record        `json:",omitempty"` // in order of start: all running ones, and the ended ones that are kept
	Leases   []lease         `json:",omitempty"` // of unsettled deliveries
	Repeated []delivery.Note `json:",omitempty"` // the texts that the session's requests repeat, oldest first

	Version     uint64 // counts the begins and ends of tasks, which change the status summary
	Told        uint64 // the Version when the model was last told the summary
	ToldRunning int    // the number of running tasks that the model has been told about

	Running     int `json:"-"` // the number of running tasks
	Undelivered int `json:"-"` // the number of ended tasks that the model has not been told about
	OutputBytes int `json:"-"` // the size of all results
}

// record is one task in an account.
type record struct {
	ID, Name  string
	Started   time.Time
	Ended     time.Time `json:",omitzero"`
	Until     time.Time `json:",omitzero"` // a task still running then is lost; zero for never
	Number    uint64    // the account's Version at its begin
	Order     uint64    `json:",omitempty"` // the account's Version at its end; 0 while it is running
	Delivered bool      `json:",omitempty"` // the model has been told about its end, or need not be
	Result    *result   `json:",omitempty"` // nil while it is running
}

const (
	// maxOutputs is how many bytes of results a session keeps. Beyond it the oldest
	// results are cut to head and tail.
	maxOutputs = 256 << 10
	// shrunkSize is the size of such a cut result.
	shrunkSize = 2 << 10
)

// rules are how a Manager keeps accounts.
type rules struct {
	limit         int           // how many tasks of a session may run; Off for any number
	history       int           // how many ended tasks a session keeps
	life          time.Duration // of a task of Begin that nobody works on; Off for no limit
	cancellations bool          // whether the model is also told about cancelled tasks
	silent        bool          // whether the model is told nothing
}

// until returns the time at which a task with this life is lost.
func until(now time.Time, life time.Duration) time.Time {
	if life == Off {
		return time.Time{}
	}
	return now.Add(life)
}

func (t *record) state() TaskState {
	if t.Result == nil {
		return Running
	}
	return t.Result.State
}

// isLost reports whether the task is still running after its Until.
func (t *record) isLost(now time.Time) bool {
	return t.Result == nil && !t.Until.IsZero() && !now.Before(t.Until)
}

// view returns the task in the form for the program.
func (t *record) view(session string) Task {
	v := Task{ID: t.ID, Name: t.Name, Session: session, State: t.state(), Started: t.Started, Ended: t.Ended}
	if t.Result != nil {
		v.Output, v.Err = t.Result.output(), t.Result.failure()
	}
	return v
}

// find returns the task with that id, nil if there is none.
func (a *account) find(id string) *record {
	for i := range a.Tasks {
		if a.Tasks[i].ID == id {
			return &a.Tasks[i]
		}
	}
	return nil
}

// byNumber returns the task with that number, nil if it is no longer kept.
func (a *account) byNumber(number uint64) *record {
	i := sort.Search(len(a.Tasks), func(i int) bool { return a.Tasks[i].Number >= number })
	if i == len(a.Tasks) || a.Tasks[i].Number > number {
		return nil
	}
	return &a.Tasks[i]
}

// isEmpty reports whether the account need not be kept.
func (a *account) isEmpty() bool {
	return len(a.Tasks) == 0 && len(a.Leases) == 0 && len(a.Repeated) == 0
}

// lastEnd returns when the last task ended; zero if none has.
func (a *account) lastEnd() (last time.Time) {
	for i := range a.Tasks {
		if ended := a.Tasks[i].Ended; ended.After(last) {
			last = ended
		}
	}
	return last
}

// with returns the account with these tasks and their counts.
func (a account) with(tasks []record) account {
	a.Tasks, a.Running, a.Undelivered, a.OutputBytes = tasks, 0, 0, 0
	for i := range tasks {
		t := &tasks[i]
		if t.Result == nil {
			a.Running++
			continue
		}
		a.OutputBytes += t.Result.Bytes
		if !t.Delivered {
			a.Undelivered++
		}
	}
	a.ToldRunning = min(a.ToldRunning, a.Running)
	return a
}

// maxUndelivered is the number of ended tasks in a session that may wait for delivery.
// Beyond it, no task can be started in the session.
const maxUndelivered = 1000

// begin returns the account after a task has begun. It fails with ErrDuplicate and
// ErrLimit.
func (a account) begin(task record, now time.Time, rules rules) (account, error) {
	switch {
	case a.find(task.ID) != nil:
		return a, fmt.Errorf("%w: %s", ErrDuplicate, task.ID)
	case rules.limit != Off && a.Running >= rules.limit:
		return a, fmt.Errorf("%w: %d of %d tasks of the session are running", ErrLimit, a.Running, rules.limit)
	case a.Undelivered >= maxUndelivered:
		return a, fmt.Errorf("%w: %d ended tasks of the session wait for delivery", ErrLimit, a.Undelivered)
	}
	a.Version++
	task.Started, task.Number = now, a.Version
	return a.with(append(slices.Clip(a.Tasks), task)), nil
}

// beat returns the account after a sign of life from these tasks: they are not lost
// before the time then.
func (a account) beat(ids []string, then time.Time) account {
	tasks := slices.Clone(a.Tasks)
	for i := range tasks {
		if t := &tasks[i]; t.Result == nil && !t.Until.IsZero() && t.Until.Before(then) && slices.Contains(ids, t.ID) {
			t.Until = then
		}
	}
	a.Tasks = tasks
	return a
}

// hasLost reports whether a task is lost.
func (a *account) hasLost(now time.Time) bool {
	return a.Running > 0 && slices.ContainsFunc(a.Tasks, func(t record) bool { return t.isLost(now) })
}

// endLost ends the lost tasks, and returns them.
func (a account) endLost(now time.Time, rules rules) (_ account, ended []record) {
	if !a.hasLost(now) {
		return a, nil
	}
	return a.endEach(func(t *record) bool { return t.isLost(now) }, failed(ErrOwnerLost), now, rules)
}

// end returns the account after a task has ended, and the task. It fails with
// ErrUnknown and ErrEnded.
func (a account) end(id string, r *result, now time.Time, rules rules) (account, record, error) {
	switch t := a.find(id); {
	case t == nil:
		return a, record{}, fmt.Errorf("%w: %.64q", ErrUnknown, id)
	case t.Result != nil:
		return a, record{}, fmt.Errorf("%w: %s is %s", ErrEnded, id, t.state())
	}
	a, ended := a.endEach(func(t *record) bool { return t.ID == id }, r, now, rules)
	return a, ended[0], nil
}

// endEach ends the running tasks for which match returns true. It returns the account
// after that, and these tasks. The account keeps only as much of a result as the model will
// be shown.
func (a account) endEach(match func(*record) bool, r *result, now time.Time, rules rules) (_ account, ended []record) {
	tasks := slices.Clone(a.Tasks)
	for i := range tasks {
		t := &tasks[i]
		if t.Result != nil || !match(t) {
			continue
		}
		a.Version++
		t.Ended, t.Order, t.Result = now, a.Version, r
		t.Delivered = rules.silent || r.State == Cancelled && !rules.cancellations
		ended = append(ended, *t)
		t.Result = r.kept(maxCompletion - len(t.ID))
	}
	return a.with(tasks).compact(rules.history).shrink(maxOutputs), ended
}

// compact returns the account without the ended tasks beyond history: it drops only
// delivered tasks, those that ended first.
func (a account) compact(history int) account {
	ended := len(a.Tasks) - a.Running
	excess := min(ended-history, ended-a.Undelivered)
	if excess <= 0 {
		return a
	}
	var delivered []uint64
	for i := range a.Tasks {
		if a.Tasks[i].Delivered {
			delivered = append(delivered, a.Tasks[i].Order)
		}
	}
	slices.Sort(delivered)
	return a.drop(func(t record) bool { return t.Delivered && t.Order <= delivered[excess-1] })
}

// drop returns the account without the tasks for which gone returns true. They must
// have ended, and no lease may hold them.
func (a account) drop(gone func(record) bool) account {
	return a.with(slices.DeleteFunc(slices.Clone(a.Tasks), gone))
}

// forget returns the account with only its running tasks.
func (a account) forget() account {
	a.Leases, a.Repeated = nil, nil
	return a.drop(func(t record) bool { return t.Result != nil })
}

// shrink returns the account after cutting results until they have at most that many
// bytes, or cannot be cut further. It cuts delivered results first, and of those and
// of the others the oldest first.
func (a account) shrink(size int) account {
	if a.OutputBytes <= size {
		return a
	}
	tasks := slices.Clone(a.Tasks)
	var long []*record
	for i := range tasks {
		if t := &tasks[i]; t.Result != nil && t.Result.Size > shrunkSize-maxID {
			long = append(long, t)
		}
	}
	slices.SortFunc(long, func(t, other *record) int {
		if t.Delivered != other.Delivered {
			if t.Delivered {
				return -1
			}
			return 1
		}
		return cmp.Compare(t.Order, other.Order)
	})
	excess := a.OutputBytes - size
	for _, t := range long {
		if excess <= 0 {
			break
		}
		before := t.Result.Bytes
		t.Result = t.Result.kept(shrunkSize - maxID)
		excess -= before - t.Result.Bytes
	}
	return a.with(tasks)
}

// size returns roughly how many bytes the account takes in memory.
func (a *account) size() int {
	const perTask, perLease = 250, 100
	size := perTask + a.OutputBytes + perLease*len(a.Leases)
	for i := range a.Tasks {
		size += perTask + len(a.Tasks[i].ID) + len(a.Tasks[i].Name)
	}
	for i := range a.Leases {
		size += 8 * len(a.Leases[i].Tasks)
	}
	for i := range a.Repeated {
		size += perLease + len(a.Repeated[i].Text)
	}
	return size
}

// keep returns how long the account is kept if nothing happens to it: for retention
// after its last task has ended or is lost. Off means for good.
func (a *account) keep(retention time.Duration, now time.Time) time.Duration {
	if retention == Off {
		return Off
	}
	last := now
	for i := range a.Tasks {
		switch t := &a.Tasks[i]; {
		case t.Result != nil:
		case t.Until.IsZero():
			return Off
		case t.Until.After(last):
			last = t.Until
		}
	}
	return last.Add(retention).Sub(now)
}
