package middleware_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/delivery"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/todo"
)

// A program may settle deliveries itself. Their notes then have no place.
func TestNoteWithoutAPlaceGoesToTheLastMessage(t *testing.T) {
	t.Parallel()
	tasks := asynctask.NewManager()
	ctx := inSession(t, "s")
	ticket, err := tasks.Begin(ctx, "job-7", "transcode")
	require.NoError(t, err)
	require.NoError(t, tasks.Finish(ctx, ticket, nil))
	d, err := tasks.Deliveries().Deliver(ctx, "s", delivery.Options{NoSummary: true})
	require.NoError(t, err)
	require.NoError(t, tasks.Deliveries().Settle(ctx, d, delivery.Repeat))

	texts := []string{"You are an agent.", "Fix the build."}
	attachable := func(i int) (string, bool) { return texts[i], i > 0 }
	mw := middleware.New(todo.Static(), middleware.WithTasks(tasks))
	call := begin(ctx, mw, adapter.Request{Tools: 1, Users: 1, User: texts[1], Messages: 2, Attachable: attachable})
	attached := call.Additions().Attachments
	require.NotEmpty(t, attached)
	for _, attachment := range attached {
		assert.Equal(t, 1, attachment.Message)
	}
	assert.Contains(t, attached[0].Text, "job-7")
	_, err = join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(context.Context, *adapter.Continuation) (sdkAnswer, error) { return says("Done."), nil })
	require.NoError(t, err)
	d, err = tasks.Deliveries().Deliver(ctx, "s", delivery.Options{})
	require.NoError(t, err)
	assert.Nil(t, d, "the reminder was delivered")
}

// illEngine is an engine that hangs while it is ill, and counts its updates.
type illEngine struct {
	records.Records

	isIll atomic.Bool
	asked atomic.Int32
	left  atomic.Int32 // until it is ill; 0 if that is not counted
}

// hangAfter heals the engine for that many updates.
func (e *illEngine) hangAfter(updates int) {
	e.isIll.Store(updates == 0)
	e.left.Store(int32(updates)) //nolint:gosec // a small number
}

func (e *illEngine) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	e.asked.Add(1)
	if e.isIll.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if e.left.Load() > 0 && e.left.Add(-1) == 0 {
		defer e.isIll.Store(true)
	}
	return e.Records.Update(ctx, key, f)
}

// Tasks on an engine that hangs cost one call half a second, and the calls after it
// nothing, until a call finds that it answers again.
func TestTasksThatHangCostOneCallItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := &illEngine{Records: records.NewMemoryEngine()}
		var faults []error
		tasks := asynctask.NewManager(asynctask.WithRecords(engine))
		call := withoutTodos(t, middleware.WithTasks(tasks), middleware.WithObserver(middleware.Observer{
			Failed: func(_ context.Context, f middleware.Failed) { faults = append(faults, f.Err) },
		}))
		takes := func() time.Duration {
			began := time.Now()
			call()
			return time.Since(began)
		}
		assert.Zero(t, takes())
		engine.isIll.Store(true)
		assert.Equal(t, 500*time.Millisecond, takes())
		asked := engine.asked.Load()
		for range 10 {
			assert.Zero(t, takes())
		}
		assert.Equal(t, asked, engine.asked.Load(), "the calls do not ask the engine")
		assert.Len(t, faults, 1, "the failure is reported once")
		require.ErrorIs(t, faults[0], context.DeadlineExceeded)

		<-time.After(5 * time.Second)
		assert.Equal(t, 500*time.Millisecond, takes(), "one call tries again")
		assert.Zero(t, takes())
		engine.isIll.Store(false)
		<-time.After(5 * time.Second)
		assert.Zero(t, takes())
		asked = engine.asked.Load()
		assert.Zero(t, takes())
		assert.Greater(t, engine.asked.Load(), asked, "the tasks are asked again")
	})
}

// reminded is a session in which a background task has ended.
type reminded struct {
	ctx   context.Context
	tasks *asynctask.Manager
	mw    *middleware.Middleware
}

func newReminded(t *testing.T, todos todo.Provider, opts ...asynctask.Option) *reminded {
	t.Helper()
	s := &reminded{ctx: inSession(t, "s"), tasks: asynctask.NewManager(opts...)}
	ticket, err := s.tasks.Begin(s.ctx, "job-7", "transcode")
	require.NoError(t, err)
	require.NoError(t, s.tasks.Finish(s.ctx, ticket, nil))
	s.mw = middleware.New(todos, unhurried, middleware.WithTasks(s.tasks))
	return s
}

// delivery returns what the next request would tell.
func (s *reminded) delivery(t *testing.T) *delivery.Delivery {
	t.Helper()
	d, err := s.tasks.Deliveries().Deliver(s.ctx, "s", delivery.Options{})
	require.NoError(t, err)
	return d
}

// requestOf is a request with the messages, all of which take attachments.
func requestOf(texts ...string) adapter.Request {
	return adapter.Request{
		Tools: 1, Users: 1, User: "Fix the build.", Messages: len(texts),
		Attachable: func(i int) (string, bool) { return texts[i], true },
	}
}

// answered plays the turns to a request, and returns its attachments.
func (s *reminded) answered(t *testing.T, request adapter.Request, turns ...sdkAnswer) []adapter.Attachment {
	t.Helper()
	call := begin(s.ctx, s.mw, request)
	require.NotNil(t, call)
	attached := call.Additions().Attachments
	_, _ = join.Unary(call, &answers{usageTotals: newUsageTotals()},
		func(context.Context, *adapter.Continuation) (sdkAnswer, error) {
			if len(turns) == 0 {
				return sdkAnswer{}, errScriptEnded
			}
			answer := turns[0]
			turns = turns[1:]
			return answer, answer.err
		})
	return attached
}

func TestRequestThatTakesNoNotesGetsNone(t *testing.T) {
	t.Parallel()
	s := newReminded(t, todo.Static(), asynctask.WithSummaryInSystem())
	request := requestOf("You are an agent.", "Fix the build.")
	request.Attachable, request.System = nil, 1
	assert.Empty(t, s.answered(t, request, says("Done.")))
}

func TestNotesComeInTheOrderOfTheMessages(t *testing.T) {
	t.Parallel()
	s := newReminded(t, todo.Static(), asynctask.WithSummaryInSystem())
	request := requestOf("Fix the build.", "You are an agent.")
	request.System = 2
	request.Attachable = func(i int) (string, bool) { return "Fix the build.", i == 0 }
	attached := s.answered(t, request, says("Done."))
	require.Len(t, attached, 2)
	assert.Equal(t, []int{0, 1}, []int{attached[0].Message, attached[1].Message})
}

func TestNoteOfAMessageThatIsNoMoreGoesToTheLastOne(t *testing.T) {
	t.Parallel()
	s := newReminded(t, todo.Static())
	attached := s.answered(t, requestOf("Fix the build.", "One:", "Two:"), calls(edit("c1")))
	require.NotEmpty(t, attached)
	assert.Equal(t, 2, attached[0].Message)
	shortened := s.answered(t, requestOf("Fix the build.", "Summary."), says("Done."))
	require.NotEmpty(t, shortened, "the turn before ended in a call")
	assert.Equal(t, 1, shortened[0].Message)
}

func TestReminderThatTurnOneReadIsToldAlthoughTheContinuationFails(t *testing.T) {
	t.Parallel()
	s := newReminded(t, buildTodos)
	require.NotEmpty(t, s.answered(t, requestOf("Fix the build."), says("Next:"), fails(errLost), fails(errLost), fails(errLost)))
	assert.Nil(t, s.delivery(t), "the reminder was delivered")
}

// A task that ends during the caller's own turn is told in each try of the continuation.
func TestNewsIsToldAgainIfAContinuationIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newReminded(t, buildTodos)
	ticket, err := s.tasks.Begin(s.ctx, "job-8", "upload")
	require.NoError(t, err)
	var prompts []string
	_, err = join.Unary(begin(s.ctx, s.mw, requestOf("Fix the build.")), &answers{usageTotals: newUsageTotals()},
		func(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
			if k == nil {
				return says("Next:"), s.tasks.Finish(s.ctx, ticket, nil)
			}
			prompts = append(prompts, k.Prompt)
			return sdkAnswer{}, errLost
		})
	require.NoError(t, err)
	require.Len(t, prompts, 3)
	for _, prompt := range prompts {
		assert.Contains(t, prompt, `"agent_id": "job-8"`)
	}
}

// If the provider never gives a finish reason, a turn counts as read unless it failed.
func TestReminderIsToldWithoutAFinishReason(t *testing.T) {
	t.Parallel()
	unfinished := sdkAnswer{Text: "Done."}
	for name, tt := range map[string]struct {
		turn sdkAnswer
		told bool
	}{
		"read": {unfinished, true}, "failed": {fails(errors.New("overloaded")), false},
	} {
		s := newReminded(t, todo.Static())
		request := requestOf("Fix the build.")
		request.NoFinish = true
		require.NotEmpty(t, s.answered(t, request, tt.turn), name)
		assert.Equal(t, tt.told, s.delivery(t) == nil, name)
	}
}

// A model that both prints the call and makes it pauses once, and neither is shown.
func TestPauseThatIsPrintedBesideItsCallIsNotShown(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One:"), calls(pauses(blocked)).saying("todo_pause('" + blocked + "')")})
	answer, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.NotContains(t, answer.Text, "todo_pause")
	require.NotNil(t, outcome.Paused)
	assert.Equal(t, blocked, outcome.Paused.Reason)
}

// downTasks are tasks whose store has failed.
type downTasks struct {
	delivery.Tasks

	pending, deliver, settle error
}

func (downTasks) IsShared() bool { return true }

func (d downTasks) Pending(ctx context.Context, session string, maxAge time.Duration) (delivery.Pending, error) {
	if d.pending != nil {
		return delivery.Pending{}, d.pending
	}
	return d.Tasks.Pending(ctx, session, maxAge)
}

func (d downTasks) Summary(ctx context.Context, session string) (string, error) {
	if d.deliver != nil {
		return "", d.deliver
	}
	return d.Tasks.Summary(ctx, session)
}

func (d downTasks) Deliver(ctx context.Context, session string, o delivery.Options) (*delivery.Delivery, error) {
	if d.deliver != nil {
		return nil, d.deliver
	}
	return d.Tasks.Deliver(ctx, session, o)
}

func (d downTasks) Settle(ctx context.Context, begun *delivery.Delivery, outcome delivery.Outcome) error {
	if d.settle != nil {
		return d.settle
	}
	return d.Tasks.Settle(ctx, begun, outcome)
}

// Tasks that cannot be asked cost the caller no answer: the model is not told about
// them, and the call is not continued, because the model may be waiting for one.
func TestTasksThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")
	for name, tt := range map[string]struct {
		tasks    downTasks
		attached int
		reason   continuation.Reason
	}{
		"pending": {downTasks{pending: down}, 2, reasons.Store},
		"deliver": {downTasks{deliver: down}, 0, reasons.Store},
		"settle":  {downTasks{settle: down}, 2, reasons.ToolCalls},
	} {
		s := newReminded(t, buildTodos, asynctask.WithSummaryInSystem())
		tt.tasks.Tasks = s.tasks.Deliveries()
		var failed []middleware.Failed
		s.mw = middleware.New(buildTodos, unhurried, middleware.WithBackground(tt.tasks),
			middleware.WithObserver(middleware.Observer{Failed: func(_ context.Context, e middleware.Failed) { failed = append(failed, e) }}))
		capturing, outcomes := middleware.Capture(s.ctx)
		session := reminded{ctx: capturing, mw: s.mw}
		request := requestOf("You are an agent.", "Fix the build.")
		request.System = 1

		assert.Len(t, session.answered(t, request, says("Next."), calls(edit("c1"))), tt.attached, name)

		assert.Equal(t, tt.reason, outcomes.Last().Reason, name)
		require.NotEmpty(t, failed, name)
		assert.Equal(t, "tasks", failed[0].Op, name)
		require.ErrorIs(t, failed[0].Err, down, name)
	}
}
