package asynctask

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Account is what a [Store] keeps of one session: its tasks, and what the model
// has been told of them. It is plain data: encoding/json reads and writes all of
// it except the Err of a [Result]. Its zero value is a session without tasks.
//
// An Account is a value: a Manager replaces it and never changes anything that
// it refers to, so that several goroutines may read it. A change copies what it
// touches, at most the tasks of the one session.
type Account struct {
	Tasks    []Record // in order of start: all that run, and those that have ended and are kept
	Leases   []Lease  // of deliveries that are not settled
	Repeated []Note   // what the session's requests repeat, oldest first

	Running     int // the number of running tasks
	Undelivered int // the number of tasks that have ended and that the model was not told of
	OutputBytes int // the size of all results

	Version     uint64 // counts the begins and ends of tasks, which change the status summary
	Told        uint64 // the Version when the model was last told the summary
	ToldRunning int    // the number of running tasks that the model was told of
}

// Record is one task in an [Account].
type Record struct {
	ID, Name       string
	Started, Ended time.Time
	Number         uint64  // the version of the account that it began with
	Order          uint64  // the version that it ended with; 0 while it is running
	Delivered      bool    // the model was told of its end, or need not be
	Result         *Result // nil while it is running
}

// rules are how a Manager keeps accounts.
type rules struct {
	history       int  // how many ended tasks a session keeps
	cancellations bool // the model is told of cancelled tasks too
	silent        bool // the model is told of nothing
}

func (t *Record) state() State {
	if t.Result == nil {
		return Running
	}
	return t.Result.State
}

// view returns the task for the program.
func (t *Record) view(session string) Task {
	v := Task{ID: t.ID, Name: t.Name, Session: session, State: t.state(), Started: t.Started, Ended: t.Ended}
	if t.Result != nil {
		v.Output, v.Err = t.Result.output(), t.Result.failure()
	}
	return v
}

// find returns the task of that id, nil if there is none.
func (a *Account) find(id string) *Record {
	for i := range a.Tasks {
		if a.Tasks[i].ID == id {
			return &a.Tasks[i]
		}
	}
	return nil
}

// byNumber returns the task of that number, nil if it is not kept any more.
func (a *Account) byNumber(number uint64) *Record {
	i := sort.Search(len(a.Tasks), func(i int) bool { return a.Tasks[i].Number >= number })
	if i == len(a.Tasks) || a.Tasks[i].Number > number {
		return nil
	}
	return &a.Tasks[i]
}

// with returns the account with these tasks, counted.
func (a Account) with(tasks []Record) Account {
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

// begin returns the account after a task has begun. It fails with ErrDuplicate.
func (a Account) begin(id, name string, now time.Time) (Account, error) {
	if a.find(id) != nil {
		return a, fmt.Errorf("%w: %s", ErrDuplicate, id)
	}
	a.Version++
	task := Record{ID: id, Name: name, Started: now, Number: a.Version}
	return a.with(append(slices.Clip(a.Tasks), task)), nil
}

// end returns the account after a task has ended, and the task. It fails with
// ErrUnknown and ErrEnded.
func (a Account) end(id string, r *Result, now time.Time, rules rules) (Account, Record, error) {
	switch t := a.find(id); {
	case t == nil:
		return a, Record{}, fmt.Errorf("%w: %.64q", ErrUnknown, id)
	case t.Result != nil:
		return a, Record{}, fmt.Errorf("%w: %s is %s", ErrEnded, id, t.state())
	}
	a, ended := a.endEach(func(t *Record) bool { return t.ID == id }, r, now, rules)
	return a, ended[0], nil
}

// endEach ends the running tasks that meant selects. It returns the account
// after that, and these tasks.
func (a Account) endEach(meant func(*Record) bool, r *Result, now time.Time, rules rules) (_ Account, ended []Record) {
	tasks := slices.Clone(a.Tasks)
	for i := range tasks {
		t := &tasks[i]
		if t.Result != nil || !meant(t) {
			continue
		}
		a.Version++
		t.Ended, t.Order, t.Result = now, a.Version, r
		t.Delivered = rules.silent || r.State == Cancelled && !rules.cancellations
		ended = append(ended, *t)
	}
	return a.with(tasks).compact(rules.history), ended
}

// compact returns the account after the excess over history ended tasks is
// dropped: delivered tasks only, the ones that ended first.
func (a Account) compact(history int) Account {
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
	return a.drop(func(t Record) bool { return t.Delivered && t.Order <= delivered[excess-1] })
}

// drop returns the account without the tasks that gone selects. They must have
// ended, and no lease may hold them.
func (a Account) drop(gone func(Record) bool) Account {
	return a.with(slices.DeleteFunc(slices.Clone(a.Tasks), gone))
}

// shrink returns the account after the output of a task has been cut.
func (a Account) shrink(number uint64) Account {
	a.Tasks = slices.Clone(a.Tasks)
	t := a.byNumber(number)
	t.Result = t.Result.shrink()
	return a.with(a.Tasks)
}

// forget returns the account with its running tasks alone.
func (a Account) forget() Account {
	a.Leases, a.Repeated = nil, nil
	return a.drop(func(t Record) bool { return t.Result != nil })
}
