package asynctask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A further request of the same call carries anyway what stands, so that only
// what is new is in its delivery.
func TestFurtherRequestOfACallTellsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	first := s.deliver()
	first.Place("here")
	first.Ack(false)
	require.Nil(t, s.DeliverMore("a", both), "the first still stands, but is not new")

	s.ends("a", "2")
	more := s.DeliverMore("a", both)
	require.NotNil(t, more)
	assert.Equal(t, []string{"2"}, more.Tasks())
	assert.Empty(t, more.Standing())
	more.Ack(true)
	assert.Len(t, s.deliver().Standing(), 1, "it does not end what the first has told")
}

// What was seen is told already, before it is known what the call ends in.
func TestWhatWasSeenIsNotToldAgain(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	d := s.deliver()
	d.Place("here")
	d.Seen()
	d.Seen() // does no more
	assert.Nil(t, s.DeliverMore("a", both))
	d.Release() // too late
	assert.Nil(t, s.DeliverMore("a", both))
	d.Ack(false)
	assert.Len(t, s.deliver().Standing(), 1)
}
