package asynctask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
)

func TestReservationKeepsAPlace(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(2))
	first, err := s.Reserve(in(t, "a"))
	require.NoError(t, err)
	second, err := s.Reserve(in(t, "a"))
	require.NoError(t, err)
	_, err = s.Reserve(in(t, "a"))
	require.EqualError(t, err, "asynctask: limit reached: 2 of 2 slots are taken (2 of them reserved)")
	_, err = s.Start(in(t, "a"), "task", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrLimit)
	assert.Empty(t, s.Tasks("a"), "a reservation is no task")

	_, err = first.Start(in(t, "b"), "task", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrReservation, "the slot is one of the session's")
	_, err = first.Begin(in(t, "b"), "id", "task")
	require.ErrorIs(t, err, asynctask.ErrReservation)
	_, err = first.Start(in(t, "a"), "task", untilCancelled)
	require.NoError(t, err)
	_, err = second.Begin(in(t, "a"), "elsewhere", "elsewhere")
	require.NoError(t, err)
	_, err = s.Reserve(in(t, "a"))
	require.ErrorIs(t, err, asynctask.ErrLimit)
}

func TestReservationIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	r, err := s.Reserve(in(t, "a"))
	require.NoError(t, err)
	_, err = r.Start(in(t, "a"), "", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrInvalid)
	_, err = r.Begin(in(t, "a"), "no good", "name")
	require.ErrorIs(t, err, asynctask.ErrInvalid)
	s.begins("a", "taken")
	_, err = r.Begin(in(t, "a"), "taken", "name")
	require.ErrorIs(t, err, asynctask.ErrDuplicate)

	_, err = r.Start(in(t, "a"), "name", untilCancelled)
	require.NoError(t, err, "a refused start has not used the reservation")
	_, err = r.Start(in(t, "a"), "name", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrReservation)
	_, err = r.Begin(in(t, "a"), "id", "name")
	require.ErrorIs(t, err, asynctask.ErrReservation)
	require.NoError(t, r.Release(t.Context()))
	assert.Len(t, s.Tasks("a"), 2)
}

func TestReleasedReservationIsFree(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	r, err := s.Reserve(in(t, "a"))
	require.NoError(t, err)
	require.NoError(t, r.Release(t.Context()))
	require.NoError(t, r.Release(t.Context()))
	_, err = r.Start(in(t, "a"), "name", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrReservation)
	_, err = s.Start(in(t, "a"), "name", untilCancelled)
	require.NoError(t, err)
}

func TestReservationLapses(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	r, err := s.Reserve(in(t, "a"))
	require.NoError(t, err)
	s.clock.Advance(asynctask.ReservationLife - 1)
	_, err = s.Reserve(in(t, "a"))
	require.ErrorIs(t, err, asynctask.ErrLimit)
	n, _ := s.Pending("a", -1)
	assert.Equal(t, 1, n)

	s.clock.Advance(1)
	n, _ = s.Pending("a", -1)
	assert.Zero(t, n)
	_, err = r.Start(in(t, "a"), "name", untilCancelled)
	require.ErrorIs(t, err, asynctask.ErrReservation)
	_, err = s.Reserve(in(t, "a"))
	require.NoError(t, err)
}
