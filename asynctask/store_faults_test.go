package asynctask_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
)

// hookedStore calls after once an update was made, with its number, and fails
// with what that returns.
type hookedStore struct {
	asynctask.Store

	mu      sync.Mutex
	updates int
	before  func(update int)
	after   func(update int, err error) error
}

func (s *hookedStore) Update(
	ctx context.Context, session string, f func(time.Time, asynctask.Account) (asynctask.Account, error),
) error {
	s.mu.Lock()
	s.updates++
	update, before, after := s.updates, s.before, s.after
	s.mu.Unlock()
	if before != nil {
		before(update)
	}
	err := s.Store.Update(ctx, session, f)
	if after != nil {
		err = after(update, err)
	}
	return err
}

// failsAfter has the store fail although it has stored, until done is called.
func (s *hookedStore) failsAfter() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after = func(int, error) error { return assert.AnError }
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.after = nil
	}
}

func TestStoreThatFailsAfterStoringTellsNothingTwice(t *testing.T) {
	t.Parallel()
	clock := carryontest.NewClock()
	store := &hookedStore{Store: newEncodedStore(clock.Now)}
	s := newSetup(t, asynctask.WithClock(clock), asynctask.WithStore(store))
	s.ends("a", "1")

	done := store.failsAfter()
	_, err := s.Manager.Remind(t.Context(), "a")
	require.ErrorIs(t, err, assert.AnError)
	done()
	assert.Empty(t, s.told("a"), "somebody may be telling it")
	clock.Advance(asynctask.LeaseLife)
	r := s.Remind("a")
	require.Equal(t, []string{"1"}, r.Tasks, "what was not told is told once that lapses")

	done = store.failsAfter()
	require.ErrorIs(t, s.Settle(t.Context(), r, asynctask.Told), assert.AnError)
	done()
	s.settle(r, asynctask.Unread) // the program thinks that it failed
	clock.Advance(asynctask.LeaseLife)
	assert.Empty(t, s.told("a"))
}

func TestStartThatFailsLeavesNoTaskBehind(t *testing.T) {
	t.Parallel()
	store := &hookedStore{Store: asynctask.NewMemoryStore()}
	s := newSetup(t, asynctask.WithStore(store), asynctask.WithLimit(1))
	done := store.failsAfter()
	_, err := s.Start(in(t, "a"), "task", untilCancelled)
	require.ErrorIs(t, err, assert.AnError)
	done()
	n, _ := s.Pending("a", 0)
	assert.Zero(t, n, "although the store has taken it")
	s.begins("a", "next")
}

// Close looks for the task before the store has it, and ends its ctx after Begin
// has looked at that.
func TestCloseEndsWhatIsJustBeginning(t *testing.T) {
	t.Parallel()
	looked, begun := make(chan struct{}), make(chan struct{})
	closed := make(chan error, 1)
	store := &hookedStore{Store: asynctask.NewMemoryStore()}
	m := asynctask.NewManager(asynctask.WithStore(store))
	store.before = func(update int) {
		if update == 1 { // of Begin
			go func() { closed <- m.Close(context.WithoutCancel(t.Context())) }()
			<-looked
		}
	}
	store.after = func(update int, err error) error {
		if update == 2 { // of Close
			close(looked)
			<-begun
		}
		return err
	}
	own, ticket, err := m.Begin(in(t, "a"), "1", "task")
	require.NoError(t, err)
	close(begun)
	require.NoError(t, <-closed)
	require.ErrorIs(t, context.Cause(own), asynctask.ErrClosed)
	task, err := m.Get(t.Context(), ticket)
	require.NoError(t, err)
	assert.Equal(t, asynctask.Cancelled, task.State)
}
