package asynctask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/asynctask"
	"github.com/carryon-go/carryon/internal/delivery"
)

var both delivery.Options

// deliver returns the delivery for a request of session a.
func (s *setup) deliver() *delivery.Delivery {
	s.t.Helper()
	d := s.Deliver("a", both)
	require.NotNil(s.t, d)
	return d
}

// heads shortens texts to the parts that differ.
func heads(notes []delivery.Note) []string {
	list := make([]string, 0, len(notes))
	for _, n := range notes {
		list = append(list, fmt.Sprintf("%v: %d bytes", n.Anchor, len(n.Text)))
	}
	return list
}

func TestDeliveryTexts(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	assert.Nil(t, s.Deliver("a", both))

	s.begins("a", "12345678-a", "12345678-b")
	d := s.deliver()
	golden(t, "delivery-started", d.Text)
	assert.Empty(t, d.Tasks)
	assert.Empty(t, d.Repeated)
	s.settle(d, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", both), "nothing has changed")

	require.NoError(t, s.Finish("12345678-a", asynctask.Message("done")))
	d = s.deliver()
	golden(t, "delivery-ended", d.Text)
	assert.Equal(t, []string{"12345678-a"}, d.Tasks)
	s.settle(d, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", both))

	require.NoError(t, s.Cancel("12345678-b"))
	d = s.deliver()
	golden(t, "delivery-cancelled", d.Text)
	s.settle(d, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", both))
}

func TestDeliveryOfTheReminderAlone(t *testing.T) {
	t.Parallel()
	style := delivery.Options{NoSummary: true}
	s := newSetup(t)
	running := func(n int) string {
		return fmt.Sprintf("---\nSystem Note: Async Task Status\n\nThis note is automatic. Nothing in it comes from the user.\n\n%d async task(s) still running.\n---", n)
	}
	s.begins("a", "1", "2")
	d := s.Deliver("a", style)
	assert.Equal(t, running(2), d.Text)
	s.settle(d, delivery.Unread)
	d = s.Deliver("a", style)
	assert.Equal(t, running(2), d.Text, "the model was not told")
	s.settle(d, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", style))

	require.NoError(t, s.Cancel("1"))
	assert.Nil(t, s.Deliver("a", style), "fewer are no news")
	s.begins("a", "3")
	d = s.Deliver("a", style)
	assert.Equal(t, running(2), d.Text, "more are")
	s.settle(d, delivery.Delivered)

	require.NoError(t, s.Finish("2", nil))
	require.NoError(t, s.Cancel("3"))
	d = s.Deliver("a", style)
	assert.Equal(t, []string{"2"}, d.Tasks)
	assert.NotContains(t, d.Text, "ASYNC TASKS")
	s.settle(d, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", style))
	assert.Contains(t, s.deliver().Text, "[ASYNC TASKS: 3 total]", "the summary was not told by any of these")
}

func TestEvictionIsNoChangeToTellOf(t *testing.T) {
	t.Parallel()
	s := newSetup(t, asynctask.WithLimit(1))
	s.ends("a", "1", "2", "3")
	d := s.deliver()
	assert.Contains(t, d.Text, "[ASYNC TASKS: 3 total]")
	s.settle(d, delivery.Delivered)
	assert.Contains(t, s.Summary("a"), "[ASYNC TASKS: 2 total]")
	assert.Nil(t, s.Deliver("a", both))
}

func TestReminderStandsUntilATurnEndsInText(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.begins("a", "running")
	s.ends("a", "1")
	d := s.deliver()
	first := d.Text
	d.Anchor = at(0)
	s.settle(d, delivery.Repeat) // the model called a tool

	d = s.deliver()
	assert.Empty(t, d.Text, "there is nothing new")
	assert.Empty(t, d.Tasks)
	assert.Equal(t, []delivery.Note{{Text: first, Anchor: at(0)}}, repeated(d))
	s.settle(d, delivery.Repeat)

	s.ends("a", "2")
	d = s.deliver()
	second := d.Text
	assert.Equal(t, []string{"2"}, d.Tasks)
	assert.NotContains(t, second, "result of 1")
	assert.Equal(t, []delivery.Note{{Text: first, Anchor: at(0)}}, repeated(d))
	d.Anchor = at(4)
	s.settle(d, delivery.Repeat)

	d = s.deliver()
	assert.Equal(t, []delivery.Note{{Text: first, Anchor: at(0)}, {Text: second, Anchor: at(4)}}, repeated(d))
	s.settle(d, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", both))
}

func TestReminderStandsThroughFailedCalls(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	d := s.deliver()
	d.Anchor = at(3)
	s.settle(d, delivery.Repeat)
	want := []delivery.Note{{Text: d.Text, Anchor: at(3)}}

	s.ends("a", "2")
	d = s.deliver()
	d.Repeated[0].Anchor = at(5)
	s.settle(d, delivery.Unread)
	s.settle(d, delivery.Delivered) // too late
	d = s.deliver()
	assert.Equal(t, want, repeated(d), "as the last request that the model saw had it")
	assert.Equal(t, []string{"2"}, d.Tasks)
}

func TestReminderMayMove(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	d := s.deliver()
	s.settle(d, delivery.Repeat) // nobody said where
	d = s.deliver()
	require.Equal(t, []delivery.Note{{Text: d.Repeated[0].Text}}, repeated(d))
	d.Repeated[0].Anchor = at(7)
	s.settle(d, delivery.Repeat)
	assert.Equal(t, at(7), s.deliver().Repeated[0].Anchor)
}

func TestWhatOneTurnEndsOthersMayHaveAdded(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	d := s.deliver()
	d.Anchor = at(0)
	s.settle(d, delivery.Repeat)

	slow := s.deliver()
	s.ends("a", "2")
	quick := s.deliver()
	quick.Anchor = at(2)
	s.settle(quick, delivery.Repeat)
	s.settle(slow, delivery.Delivered)
	assert.Equal(t, []delivery.Note{{Text: quick.Text, Anchor: at(2)}}, repeated(s.deliver()), "texts that the turn has not seen are repeated")
}

func TestConcurrentDeliveriesShareNoTask(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	first := s.deliver()
	second := s.deliver()
	assert.Empty(t, second.Tasks)
	assert.Contains(t, second.Text, "[1] 1 - [DONE]", "a summary may be told twice")
	s.settle(second, delivery.Delivered)
	assert.Nil(t, s.Deliver("a", both))
	s.settle(first, delivery.Unread)
	assert.Equal(t, []string{"1"}, s.deliver().Tasks)
}

func TestDeliverySkipsWhatAReminderHolds(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	r := s.Remind("a")
	s.settle(s.deliver(), delivery.Delivered) // of the summary
	assert.Nil(t, s.Deliver("a", both))
	s.settle(r, delivery.Unread)
	d := s.deliver()
	assert.Equal(t, []string{"1"}, d.Tasks)
	assert.NotContains(t, d.Text, "ASYNC TASKS", "that has been told")
	assert.Nil(t, s.Remind("a"))
}

func TestWhatStandsIsBounded(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	long := strings.Repeat("x", 1<<20)
	for i := range 100 {
		id := fmt.Sprint("task-", i)
		s.begins("a", id)
		require.NoError(t, s.Finish(id, asynctask.Message(long)))
		d := s.deliver()
		d.Anchor = at(i)
		s.settle(d, delivery.Repeat)
	}
	standing := s.deliver().Repeated
	size := 0
	for _, n := range standing {
		size += len(n.Text)
	}
	assert.LessOrEqual(t, size, 4*asynctask.MaxReminder, heads(standing))
	assert.Len(t, standing, 15)
	assert.Equal(t, at(99), standing[14].Anchor, "the oldest go")
	s.settle(s.deliver(), delivery.Delivered)
	assert.Nil(t, s.Deliver("a", both))
}

func TestStandingIsACopy(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	d := s.deliver()
	s.settle(d, delivery.Repeat)
	d = s.deliver()
	d.Repeated[0].Text = "changed"
	s.settle(d, delivery.Repeat)
	assert.NotEqual(t, "changed", s.deliver().Repeated[0].Text)
}
