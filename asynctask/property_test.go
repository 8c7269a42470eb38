package asynctask_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// The reference model keeps plain lists and decides everything by searching them. It
// uses nothing of the package under test.

// modelTask is one life of an id.
type modelTask struct {
	id, session string
	running     bool
	tellable    bool // the model is told of its end
	told        int  // how often that was acknowledged
	kept        bool
	holder      *modelLease
}

// modelLease is a reminder or a delivery that was built.
type modelLease struct {
	session  string
	tasks    []*modelTask
	until    time.Time
	settled  bool
	delivery *delivery.Delivery
	reminder bool         // built by Remind
	carried  []*modelNote // what stood, and is repeated
	version  int          // of the summary that it tells, 0 if it tells none
}

type modelSession struct {
	started  []*modelTask // every task kept, in order of start
	ended    []*modelTask // every task that ever ended, in order of end
	version  int
	told     int
	standing []*modelNote
}

// modelNote is told apart from another of the same text.
type modelNote struct{ text string }

type machine struct {
	real          *asynctask.Manager
	clock         *testclock.Clock
	limit         int
	cancellations bool
	sessions      map[string]*modelSession
	tasks         []*modelTask // every life there was
	leases        []*modelLease
	open          []*modelLease // that were not settled
}

var (
	modelSessions = []string{"a", "b"}
	modelIDs      = []string{"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12"}
)

func newMachine(t *rapid.T) *machine {
	m := &machine{
		clock:         testclock.New(),
		limit:         rapid.SampledFrom([]int{1, 2, asynctask.Off}).Draw(t, "limit"),
		cancellations: rapid.Bool().Draw(t, "cancellations"),
		sessions:      map[string]*modelSession{},
	}
	for _, name := range modelSessions {
		m.sessions[name] = &modelSession{}
	}
	opts := []asynctask.Option{asynctask.WithClock(m.clock), asynctask.WithSessionLimit(m.limit)}
	if m.cancellations {
		opts = append(opts, asynctask.WithCancellations())
	}
	if rapid.Bool().Draw(t, "encoded store") {
		opts = append(opts, asynctask.WithRecords(newHooked(m.clock)))
	}
	m.real = asynctask.NewManager(opts...)
	return m
}

func (m *machine) find(ticket asynctask.Ticket) *modelTask {
	for _, task := range m.tasks {
		if task.kept && task.id == ticket.ID && task.session == ticket.Session {
			return task
		}
	}
	return nil
}

func (m *machine) running(session string) int {
	n := 0
	for _, task := range m.tasks {
		if task.kept && task.running && task.session == session {
			n++
		}
	}
	return n
}

// news returns the tasks that a reminder must report now, in order.
func (m *machine) news(session string) []*modelTask {
	var news []*modelTask
	for _, task := range m.sessions[session].ended {
		held := task.holder != nil && m.clock.Now().Before(task.holder.until)
		if task.kept && task.tellable && task.told == 0 && !held {
			news = append(news, task)
		}
	}
	return news
}

// evict drops what the history has no room for.
func (m *machine) evict(session string) {
	room := 2 * m.limit
	if m.limit == asynctask.Off {
		room = 10
	}
	s := m.sessions[session]
	count := 0
	for _, task := range s.ended {
		if task.kept {
			count++
		}
	}
	for _, task := range s.ended {
		if count > room && task.kept && (task.told > 0 || !task.tellable) {
			task.kept = false
			count--
		}
	}
}

// ticket draws the ticket of a task, which may not be there.
func ticket(t *rapid.T) asynctask.Ticket {
	return asynctask.Ticket{
		Session: rapid.SampledFrom(modelSessions).Draw(t, "session"),
		ID:      rapid.SampledFrom(modelIDs).Draw(t, "id"),
	}
}

func (m *machine) begin(t *rapid.T) {
	m.beginTask(t, ticket(t))
}

func (m *machine) beginTask(t *rapid.T, ticket asynctask.Ticket) {
	session, id := ticket.Session, ticket.ID
	got, err := m.real.Begin(continuation.WithSession(t.Context(), session), id, "name of "+id)
	switch {
	case m.find(ticket) != nil:
		require.ErrorIs(t, err, asynctask.ErrDuplicate)
	case m.limit != asynctask.Off && m.running(session) >= m.limit:
		require.ErrorIs(t, err, asynctask.ErrLimit)
	default:
		require.NoError(t, err)
		require.Equal(t, ticket, got)
		task := &modelTask{id: id, session: session, running: true, kept: true}
		m.tasks = append(m.tasks, task)
		m.sessions[session].started = append(m.sessions[session].started, task)
		m.sessions[session].version++
	}
}

// run begins and finishes tasks one after another, so that many of them end.
func (m *machine) run(t *rapid.T) {
	session := rapid.SampledFrom(modelSessions).Draw(t, "session")
	for _, id := range modelIDs {
		if ticket := (asynctask.Ticket{Session: session, ID: id}); m.find(ticket) == nil {
			m.beginTask(t, ticket)
			m.endTask(t, ticket, true, m.finishReal(t))
			return
		}
	}
}

// end ends a task with do.
func (m *machine) end(t *rapid.T, tellable bool, do func(asynctask.Ticket) error) {
	m.endTask(t, ticket(t), tellable, do)
}

func (m *machine) endTask(t *rapid.T, ticket asynctask.Ticket, tellable bool, do func(asynctask.Ticket) error) {
	task, err := m.find(ticket), do(ticket)
	switch {
	case task == nil:
		require.ErrorIs(t, err, asynctask.ErrUnknown)
	case !task.running:
		require.ErrorIs(t, err, asynctask.ErrEnded)
	default:
		require.NoError(t, err)
		task.running, task.tellable = false, tellable
		s := m.sessions[task.session]
		s.ended = append(s.ended, task)
		s.version++
		m.evict(task.session)
	}
}

func (m *machine) finishReal(t *rapid.T) func(asynctask.Ticket) error {
	return func(ticket asynctask.Ticket) error {
		return m.real.Finish(t.Context(), ticket, asynctask.Message("output of "+ticket.ID))
	}
}

func (m *machine) finish(t *rapid.T) { m.end(t, true, m.finishReal(t)) }

func (m *machine) fail(t *rapid.T) {
	m.end(t, true, func(ticket asynctask.Ticket) error {
		return m.real.Fail(t.Context(), ticket, errors.New("error of "+ticket.ID))
	})
}

func (m *machine) cancel(t *rapid.T) {
	m.end(t, m.cancellations, func(ticket asynctask.Ticket) error { return m.real.Cancel(t.Context(), ticket) })
}

// hold notes in the model that a reminder holds its tasks.
func (m *machine) hold(t *rapid.T, lease *modelLease, names []string, text string) {
	lease.until = m.clock.Now().Add(delivery.Life)
	lease.tasks = m.news(lease.session)
	want := make([]string, 0, len(lease.tasks))
	for _, task := range lease.tasks {
		want = append(want, task.id)
		task.holder = lease
	}
	require.Equal(t, want, names)
	told, _ := payloads(t, text)
	require.Len(t, told, len(want), "the text tells what the reminder holds")
	for i, p := range told {
		assert.Equal(t, want[i], p.AgentID)
	}
	m.leases, m.open = append(m.leases, lease), append(m.open, lease)
}

func (m *machine) remind(t *rapid.T) {
	session := rapid.SampledFrom(modelSessions).Draw(t, "session")
	running := m.running(session)
	r, err := m.real.Deliveries().Remind(t.Context(), session)
	require.NoError(t, err)
	if len(m.news(session)) == 0 && running == 0 {
		require.Nil(t, r)
		return
	}
	require.NotNil(t, r)
	m.hold(t, &modelLease{session: session, delivery: r, reminder: true}, r.Tasks, r.Text)
	if running > 0 {
		assert.Contains(t, r.Text, fmt.Sprintf("\n\n%d async task(s) still running.\n---", running))
	}
}

func (m *machine) deliver(t *rapid.T) {
	session := rapid.SampledFrom(modelSessions).Draw(t, "session")
	s := m.sessions[session]
	changed := s.version != s.told
	d, err := m.real.Deliveries().Deliver(t.Context(), session, delivery.Options{})
	require.NoError(t, err)
	if !changed && len(s.standing) == 0 && len(m.news(session)) == 0 {
		require.Nil(t, d)
		return
	}
	require.NotNil(t, d)
	lease := &modelLease{session: session, delivery: d, carried: slices.Clone(s.standing)}
	if changed {
		lease.version = s.version
	}
	m.hold(t, lease, d.Tasks, d.Text)
	assert.Equal(t, changed, strings.Contains(d.Text, "[ASYNC TASKS: "), "the summary is told where it changed")
	assert.Equal(t, changed || len(lease.tasks) > 0, d.Text != "")
	require.Len(t, d.Repeated, len(lease.carried))
	for i, n := range d.Repeated {
		assert.Equal(t, lease.carried[i].text, n.Text, "byte for byte, until a turn ends in text")
	}
}

func (m *machine) settle(t *rapid.T, lease *modelLease, outcome delivery.Outcome) {
	require.NoError(t, m.real.Deliveries().Settle(t.Context(), lease.delivery, outcome))
}

// take draws an unsettled lease, nil if there is none.
func (m *machine) take(t *rapid.T) *modelLease {
	if len(m.open) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(m.open)-1).Draw(t, "lease")
	lease := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	return lease
}

func (m *machine) ack(t *rapid.T) {
	lease := m.take(t)
	if lease == nil {
		return
	}
	endedInText := rapid.Bool().Draw(t, "ended in text")
	outcome := delivery.Repeat
	if endedInText || lease.reminder {
		outcome = delivery.Delivered
	}
	m.settle(t, lease, outcome)
	m.acked(lease, endedInText)
}

func (m *machine) acked(lease *modelLease, endedInText bool) {
	lease.settled = true
	s := m.sessions[lease.session]
	for _, task := range lease.tasks {
		if task.holder == lease {
			task.told++
			task.holder = nil
		}
	}
	m.evict(lease.session)
	if lease.reminder {
		return
	}
	s.told = max(s.told, lease.version)
	switch {
	case endedInText:
		s.standing = slices.DeleteFunc(s.standing, func(n *modelNote) bool { return slices.Contains(lease.carried, n) })
	case lease.delivery.Text != "":
		s.standing = append(s.standing, &modelNote{lease.delivery.Text})
	}
}

func (m *machine) release(t *rapid.T) {
	lease := m.take(t)
	if lease == nil {
		return
	}
	m.settle(t, lease, delivery.Unread)
	lease.settled = true
	for _, task := range lease.tasks {
		if task.holder == lease {
			task.holder = nil
		}
	}
}

// settleAgain settles a lease again, which has no effect.
func (m *machine) settleAgain(t *rapid.T) {
	if len(m.leases) == 0 {
		return
	}
	lease := rapid.SampledFrom(m.leases).Draw(t, "lease")
	if !lease.settled {
		return
	}
	m.settle(t, lease, delivery.Unread)
	m.settle(t, lease, delivery.Delivered)
}

// lapse lets earlier leases lapse, now or with the next step.
func (m *machine) lapse(t *rapid.T) {
	m.clock.Advance(delivery.Life / time.Duration(rapid.IntRange(1, 3).Draw(t, "part")))
}

// check compares the Manager with the model.
func (m *machine) check(t *rapid.T) {
	for name, s := range m.sessions {
		s.started = slices.DeleteFunc(s.started, func(task *modelTask) bool { return !task.kept })
		var want, got []string
		for _, task := range s.started {
			want = append(want, fmt.Sprint(task.id, task.running))
		}
		tasks, err := m.real.Tasks(t.Context(), name)
		require.NoError(t, err)
		for _, task := range tasks {
			got = append(got, fmt.Sprint(task.ID, task.State == asynctask.Running))
		}
		require.Equal(t, want, got, "undelivered tasks are there, old ones are not")
		pending, err := m.real.Deliveries().Pending(t.Context(), name, -1)
		require.NoError(t, err)
		require.Equal(t, m.running(name), pending.Unfinished)
		require.Equal(t, len(m.news(name)), pending.Unclaimed)
	}
	for _, task := range m.tasks {
		require.LessOrEqual(t, task.told, 1, "%s was delivered twice", task.id)
	}
}

// drain delivers the rest, and counts the deliveries.
func (m *machine) drain(t *rapid.T) {
	m.clock.Advance(delivery.Life) // what is held was abandoned
	for _, session := range modelSessions {
		for len(m.news(session)) > 0 {
			r, err := m.real.Deliveries().Remind(t.Context(), session)
			require.NoError(t, err)
			require.NotNil(t, r)
			lease := &modelLease{session: session, delivery: r, reminder: true}
			m.hold(t, lease, r.Tasks, r.Text)
			m.settle(t, lease, delivery.Delivered)
			m.acked(lease, false)
		}
		if r, _ := m.real.Deliveries().Remind(t.Context(), session); r != nil {
			require.Empty(t, r.Tasks)
		}
	}
	for _, task := range m.tasks {
		if !task.running && task.tellable {
			require.Equal(t, 1, task.told, "%s was not delivered once", task.id)
		}
	}
}

func TestEveryEndIsDeliveredExactlyOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		actions := map[string]func(*rapid.T){
			"begin":        m.begin,
			"finish":       m.finish,
			"run":          m.run,
			"run more":     m.run,
			"fail":         m.fail,
			"cancel":       m.cancel,
			"remind":       m.remind,
			"deliver":      m.deliver,
			"ack":          m.ack,
			"release":      m.release,
			"settle again": m.settleAgain,
			"lapse":        m.lapse,
			"":             m.check,
		}
		for range 5 { // one round is rather short
			t.Repeat(actions)
		}
		m.drain(t)
		require.NoError(t, m.real.Close(t.Context()))
	})
}
