package asynctask_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/guard"
)

func TestSubscribersAreToldOfEachEnd(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	var first, second []string
	s.Subscribe(func(t asynctask.Task) { first = append(first, fmt.Sprint(t.Session, t.ID, t.State)) })
	cancel := s.Subscribe(func(t asynctask.Task) {
		second = append(second, t.ID)
		again, ok := s.Get(t.ID) // after the change, with no lock held
		assert.True(s.t, ok)
		assert.Equal(s.t, t, again)
	})
	s.ends("a", "1")
	s.begins("b", "2", "3")
	require.NoError(t, s.Fail("2", nil))
	require.NoError(t, s.Cancel("3"))
	require.Error(t, s.Cancel("3"))
	cancel()
	cancel()
	s.ends("", "4")

	assert.Equal(t, []string{"a1completed", "b2failed", "b3cancelled", "4completed"}, first)
	assert.Equal(t, []string{"1", "2", "3"}, second)
}

func TestSubscriberIsNotCalledOnceItIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	var cancel func()
	s.Subscribe(func(asynctask.Task) { cancel() })
	cancel = s.Subscribe(func(asynctask.Task) { t.Error("called") })
	s.ends("a", "1")
}

func TestSubscribersGetTheWholeOutput(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	var size int
	s.Subscribe(func(t asynctask.Task) { size = len(*t.Output.FinalMessage) })
	s.begins("a", "1")
	require.NoError(t, s.Finish("1", asynctask.Message(strings.Repeat("x", 1<<20))))
	assert.Equal(t, 1<<20, size)
	assert.Less(t, len(message(t, s, "1")), asynctask.MaxCompletion, "the account keeps only the cut output")
}

func TestPanicOfASubscriberReachesNobody(t *testing.T) {
	t.Parallel()
	var panics []any
	s := newSetup(t, asynctask.OnError(func(err error) {
		var panicked *guard.PanicError
		require.ErrorAs(t, err, &panicked)
		panics = append(panics, panicked.Value)
	}))
	told := 0
	s.Subscribe(func(asynctask.Task) { panic("oh") })
	s.Subscribe(func(asynctask.Task) { told++ })
	s.ends("a", "1")
	assert.Equal(t, []any{"oh"}, panics)
	assert.Equal(t, 1, told)

	quiet := newSetup(t)
	quiet.Subscribe(func(asynctask.Task) { panic("oh") })
	assert.NotPanics(t, func() { quiet.ends("a", "1") })
}

func TestPanicOfOnErrorReachesNobody(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.OnError(func(error) { panic("and this panics too") }))
	s.Subscribe(func(asynctask.Task) { panic("oh") })
	assert.NotPanics(t, func() { s.ends("a", "1") })
	id, err := s.Start(in(t, "a"), "task", func(context.Context) (*asynctask.Output, error) { return nil, nil })
	require.NoError(t, err)
	_, err = s.Wait(t.Context(), id)
	require.NoError(t, err)
}

func TestSubscriberMayStartTheNextTask(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	next := make(chan string, 1)
	var cancel func()
	cancel = s.Subscribe(func(asynctask.Task) {
		cancel()
		id, err := s.Start(in(t, "a"), "next", untilCancelled)
		assert.NoError(t, err, "the slot of the one that ended is free")
		next <- id
	})
	_, err := s.Start(in(t, "a"), "first", func(context.Context) (*asynctask.Output, error) { return nil, nil })
	require.NoError(t, err)
	_, ok := s.Get(<-next)
	assert.True(t, ok)
}
