package asynctask_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/carryontest"
)

// encodedStore keeps accounts as bytes, as one that several processes share has
// to, and runs each change twice.
type encodedStore struct {
	now      func() time.Time
	mu       sync.Mutex
	accounts map[string][]byte
	failure  error // what it fails with, if that is set
}

func newEncodedStore(now func() time.Time) *encodedStore {
	return &encodedStore{now: now, accounts: map[string][]byte{}}
}

func (s *encodedStore) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

func (s *encodedStore) decode(session string) (a asynctask.Account, err error) {
	if s.failure != nil {
		return a, s.failure
	}
	if encoded, ok := s.accounts[session]; ok {
		err = json.Unmarshal(encoded, &a)
	}
	return a, err
}

func (s *encodedStore) Look(_ context.Context, session string) (*asynctask.Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.decode(session)
	return &a, err
}

func (s *encodedStore) Update(
	_ context.Context, session string, f func(time.Time, asynctask.Account) (asynctask.Account, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var encoded []byte
	for range 2 {
		a, err := s.decode(session)
		if err != nil {
			return err
		}
		if a, err = f(s.now(), a); err != nil {
			return err
		}
		if encoded, err = json.Marshal(a); err != nil {
			return err
		}
	}
	s.accounts[session] = encoded
	return nil
}

// Three processes share a store: one starts a task, another finishes it, and a
// third tells the model. What travels between them is text.
func TestTaskOfOneManagerIsFinishedAndToldByOthers(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(asynctask.Clock) asynctask.Store{
		"memory":  func(c asynctask.Clock) asynctask.Store { return asynctask.NewMemoryStore(asynctask.WithClock(c)) },
		"encoded": func(c asynctask.Clock) asynctask.Store { return newEncodedStore(c.Now) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := carryontest.NewClock()
			shared := store(clock)
			process := func() *setup {
				return newSetup(t, asynctask.WithStore(shared), asynctask.WithClock(clock), asynctask.WithLimit(1))
			}
			starter, worker, teller := process(), process(), process()

			own, ticket, err := starter.Manager.Begin(in(t, "a"), "job-7", "transcode")
			require.NoError(t, err)
			text, err := ticket.MarshalText()
			require.NoError(t, err)
			n, _ := teller.Pending("a", -1)
			assert.Equal(t, 1, n)
			_, err = worker.Manager.Wait(t.Context(), ticket)
			require.ErrorIs(t, err, asynctask.ErrElsewhere)

			received, err := asynctask.ParseTicket(string(text))
			require.NoError(t, err)
			require.NoError(t, worker.Manager.Finish(t.Context(), received, asynctask.Message("done")))
			require.ErrorIs(t, worker.Manager.Finish(t.Context(), received, nil), asynctask.ErrEnded, "the job ran twice")

			d := teller.Deliver("a", asynctask.DeliverOptions{})
			require.NotNil(t, d)
			assert.Equal(t, []string{"job-7"}, d.Tasks)
			assert.Contains(t, d.Text, "done")
			assert.Empty(t, starter.told("a"), "the teller holds it")
			carried, err := json.Marshal(d)
			require.NoError(t, err)
			var settled asynctask.Delivery
			require.NoError(t, json.Unmarshal(carried, &settled))
			starter.settle(&settled, asynctask.Told)
			assert.Empty(t, teller.told("a"))

			_, err = starter.Begin(in(t, "a"), "job-8", "transcode")
			require.NoError(t, err, "the place is free again")
			require.ErrorIs(t, own.Err(), context.Canceled, "and the ctx has ended")
		})
	}
}

func TestErrorsOfTheStoreAreReturned(t *testing.T) {
	t.Parallel()
	store := newEncodedStore(time.Now)
	var reported []error
	s := newSetup(t, asynctask.WithStore(store), asynctask.OnError(func(err error) { reported = append(reported, err) }))
	hold := make(chan struct{})
	id, err := s.Start(in(t, "a"), "task", func(context.Context) (*asynctask.Output, error) {
		<-hold
		return nil, nil
	})
	require.NoError(t, err)
	ctx, ticket, down := t.Context(), s.ticket(id), assert.AnError
	store.fails(down)

	_, err = s.Manager.Pending(ctx, "a", 0)
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Summary(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Tasks(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Find(ctx, "a", "x")
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Get(ctx, ticket)
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Deliver(ctx, "a", asynctask.DeliverOptions{})
	require.ErrorIs(t, err, down)
	_, err = s.Manager.Remind(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Manager.CancelAll(ctx, "a")
	require.ErrorIs(t, err, down)
	_, err = s.Start(in(t, "a"), "task", untilCancelled)
	require.ErrorIs(t, err, down)
	require.ErrorIs(t, s.Finish(id, nil), down)
	require.ErrorIs(t, s.Manager.Forget(ctx, "a"), down)
	require.ErrorIs(t, s.Settle(ctx, &asynctask.Delivery{Session: "a", Lease: 1}, asynctask.Told), down)
	require.ErrorIs(t, s.Renew(ctx, &asynctask.Delivery{Session: "a", Lease: 1}), down)
	result, ok, err := s.Handle(in(t, "a"), asynctask.CheckToolName, "{}")
	require.ErrorIs(t, err, down)
	assert.True(t, ok)
	assert.Equal(t, "Error: the tasks cannot be looked up now.", result)

	close(hold)
	require.NoError(t, func() error { _, err := s.Wait(ctx, id); store.fails(nil); return ignore(err, down) }())
	require.NoError(t, s.Close(ctx))
	require.Len(t, reported, 1)
	require.ErrorIs(t, reported[0], down)
	_, err = s.Start(in(t, "a"), "late", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrClosed)
}

func ignore(err, expected error) error {
	if err != nil && assert.ObjectsAreEqual(err, expected) {
		return nil
	}
	return err
}
