package asynctask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/delivery"
)

// A further request of the same call has the repeated texts anyway, so its delivery
// has only the news.
func TestFurtherRequestOfACallTellsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.ends("a", "1")
	first := s.deliver()
	first.Anchor = at(1)
	s.settle(first, delivery.Repeat)
	require.Nil(t, s.Deliver("a", delivery.Options{OnlyNew: true}), "the first still stands, but is not new")

	s.ends("a", "2")
	more := s.Deliver("a", delivery.Options{OnlyNew: true})
	require.NotNil(t, more)
	assert.Equal(t, []string{"2"}, more.Tasks)
	assert.Empty(t, more.Repeated)
	s.settle(more, delivery.Delivered)
	assert.Len(t, s.deliver().Repeated, 1, "it does not end what the first has told")
}
