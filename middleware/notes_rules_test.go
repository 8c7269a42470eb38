package middleware_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// noted is a session in which a background task has ended.
type noted struct {
	ctx   context.Context
	tasks *asynctask.Manager
	mw    *middleware.Middleware
}

func newNoted(t *testing.T, todos todo.Provider, opts ...middleware.Option) *noted {
	t.Helper()
	s := &noted{ctx: inSession(t, "s"), tasks: asynctask.NewManager()}
	_, err := s.tasks.Begin(s.ctx, "job-7", "transcode")
	require.NoError(t, err)
	require.NoError(t, s.tasks.Finish("job-7", nil))
	s.mw = middleware.New(todos, append([]middleware.Option{unhurried, middleware.WithTasks(s.tasks)}, opts...)...)
	return s
}

// requestOf is a request with the messages, all of which take notes.
func requestOf(texts ...string) middleware.Request {
	return middleware.Request{
		Tools: 1, Users: 1, User: "Fix the build.", Messages: len(texts),
		Carrier: func(i int) (string, bool) { return texts[i], true },
	}
}

// answered plays the turns to a request, and returns its notes.
func (s *noted) answered(t *testing.T, request middleware.Request, turns ...sdkAnswer) []middleware.Note {
	t.Helper()
	call := s.mw.Begin(s.ctx, request)
	require.NotNil(t, call)
	notes := call.Notes()
	_, _ = middleware.Unary(call, &answers{ledger: newLedger()},
		func(context.Context, *middleware.Continuation) (sdkAnswer, error) {
			answer := turns[0]
			turns = turns[1:]
			return answer, answer.err
		})
	return notes
}

func TestRequestThatTakesNoNotesGetsNone(t *testing.T) {
	t.Parallel()
	s := newNoted(t, todo.Static(), middleware.WithTaskSummary(middleware.SummaryInSystem))
	request := requestOf("You are an agent.", "Fix the build.")
	request.Carrier, request.System = nil, 1
	assert.Empty(t, s.answered(t, request, says("Done.")))
}

func TestNotesComeInTheOrderOfTheMessages(t *testing.T) {
	t.Parallel()
	s := newNoted(t, todo.Static(), middleware.WithTaskSummary(middleware.SummaryInSystem))
	request := requestOf("Fix the build.", "You are an agent.")
	request.System = 2
	request.Carrier = func(i int) (string, bool) { return "Fix the build.", i == 0 }
	notes := s.answered(t, request, says("Done."))
	require.Len(t, notes, 2)
	assert.Equal(t, []int{0, 1}, []int{notes[0].Message, notes[1].Message})
}

func TestNoteOfAMessageThatIsNoMoreGoesToTheLastOne(t *testing.T) {
	t.Parallel()
	s := newNoted(t, todo.Static())
	notes := s.answered(t, requestOf("Fix the build.", "One.", "Two."), calls(edit("c1")))
	require.NotEmpty(t, notes)
	assert.Equal(t, 2, notes[0].Message)
	shortened := s.answered(t, requestOf("Fix the build.", "Summary."), says("Done."))
	require.NotEmpty(t, shortened, "the turn before ended in a call")
	assert.Equal(t, 1, shortened[0].Message)
}

func TestReminderThatTurnOneReadIsToldAlthoughTheContinuationFails(t *testing.T) {
	t.Parallel()
	s := newNoted(t, buildTodos)
	require.NotEmpty(t, s.answered(t, requestOf("Fix the build."), says("Next."), fails(errors.New("overloaded"))))
	assert.Nil(t, s.tasks.Deliver("s", asynctask.ReminderAndSummary), "it was told")
}

// Where there never is a finish reason, a turn was read unless it failed.
func TestReminderIsToldWithoutAFinishReason(t *testing.T) {
	t.Parallel()
	unfinished := sdkAnswer{Text: "Done."}
	for name, tt := range map[string]struct {
		turn sdkAnswer
		told bool
	}{
		"read": {unfinished, true}, "failed": {fails(errors.New("overloaded")), false},
	} {
		s := newNoted(t, todo.Static())
		request := requestOf("Fix the build.")
		request.NoFinish = true
		require.NotEmpty(t, s.answered(t, request, tt.turn), name)
		assert.Equal(t, tt.told, s.tasks.Deliver("s", asynctask.ReminderAndSummary) == nil, name)
	}
}

// A model that prints the call and makes it pauses once, and nothing of either is shown.
func TestPauseThatIsPrintedBesideItsCallIsNotShown(t *testing.T) {
	t.Parallel()
	s := newSetup([]sdkAnswer{says("One."), calls(pauses(blocked)).saying("todo_pause('" + blocked + "')")})
	answer, outcome, err := s.answer(inSession(t, "s"))
	require.NoError(t, err)
	assert.NotContains(t, answer.Text, "todo_pause")
	require.NotNil(t, outcome.Paused)
	assert.Equal(t, blocked, outcome.Paused.Reason)
}
