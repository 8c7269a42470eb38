package records_test

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/records"
)

// server is an engine that can compare and swap, and counts its calls.
type server struct {
	mu       sync.Mutex
	records  map[string]*kept
	asked    int
	revision int
	fails    error // what swaps fail with after they were made
}

type kept struct {
	record   []byte
	revision string
	until    time.Time
}

func newServer() *server { return &server{records: map[string]*kept{}} }

func (s *server) Swap(_ context.Context, key string, swap records.Swap) (now records.Snapshot, swapped bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	now.Now = time.Now()
	own := s.records[key]
	if own != nil && !own.until.IsZero() && !now.Now.Before(own.until) {
		delete(s.records, key)
		own = nil
	}
	if own != nil {
		now.Record, now.Revision = own.record, own.revision
	}
	if now.Revision != swap.Revision {
		return now, false, nil
	}
	switch swap.Action {
	case records.Look:
	case records.Remove:
		if own == nil {
			panic("engines are not asked to remove nothing")
		}
		delete(s.records, key)
	case records.Replace:
		s.revision++
		own = &kept{record: bytes.Clone(swap.Record), revision: strconv.Itoa(s.revision)}
		s.records[key] = own
		now.Revision = own.revision
		fallthrough
	case records.Renew:
		own.until = now.Now.Add(swap.Keep)
		if swap.Keep == records.Off {
			own.until = time.Time{}
		}
	}
	return now, true, s.fails
}

func TestSwappingIsAnEngine(t *testing.T) {
	t.Parallel()
	carryontest.TestRecords(t, func() (a, b records.Records) {
		engine := newServer()
		return records.NewSwapping(engine), records.NewSwapping(engine)
	})
	assert.PanicsWithValue(t, "carryon/records: NewSwapping: nil Swapper", func() { records.NewSwapping(nil) })
}

func TestUpdatesTakeFewRoundTrips(t *testing.T) {
	t.Parallel()
	engine := newServer()
	a, b := records.NewSwapping(engine), records.NewSwapping(engine)
	trips := func(do func()) int {
		before := engine.asked
		do()
		return engine.asked - before
	}
	large := string(make([]byte, 100<<10))
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"the first update of a process, which asks for the time", func() { put(t, a, "k", "1", records.Off) }, 2},
		{"a look", func() { get(t, a, "k") }, 1},
		{"a change", func() { put(t, a, "k", "2", records.Off) }, 1},
		{"a new key", func() { put(t, a, "l", "1", records.Off) }, 1},
		{"the first update of another process", func() { get(t, b, "k") }, 2},
		{"a change of what it knows", func() { put(t, b, "k", "3", records.Off) }, 1},
		{"a change of what another process has changed", func() { put(t, a, "k", "4", records.Off) }, 2},
		{"a key that another process has made", func() { get(t, b, "l") }, 2},
		{"a large record", func() { put(t, a, "m", large, records.Off) }, 1},
		{"a change of a large record, which is not remembered", func() { put(t, a, "m", large+"1", records.Off) }, 2},
		{"a removal", func() { put(t, a, "l", "", records.Off) }, 1},
		{"what was removed, made again", func() { put(t, a, "l", "1", records.Off) }, 1},
		{"a look at nothing", func() { get(t, a, "none") }, 1},
		{"a removal of nothing", func() { put(t, a, "none", "", records.Off) }, 1},
	} {
		assert.Equal(t, step.want, trips(step.do), step.what)
	}
}

// After an error, it is unknown whether the change was made.
func TestAnUpdateAfterALostAnswerBeginsWithWhatIsThere(t *testing.T) {
	t.Parallel()
	engine := newServer()
	a := records.NewSwapping(engine)
	put(t, a, "k", "1", records.Off)
	engine.fails = assert.AnError
	require.ErrorIs(t, a.Update(t.Context(), "k", func(time.Time, []byte) ([]byte, time.Duration, error) {
		return []byte("2"), records.Off, nil
	}), assert.AnError)
	engine.fails = nil
	assert.Equal(t, "2", get(t, a, "k"))
}

func TestWriterMayUseItsRecordAgain(t *testing.T) {
	t.Parallel()
	a, record := records.NewSwapping(newServer()), []byte("1")
	require.NoError(t, a.Update(t.Context(), "k", func(time.Time, []byte) ([]byte, time.Duration, error) { return record, records.Off, nil }))
	record[0] = '2'
	assert.Equal(t, "1", get(t, a, "k"))
}

func TestOneUpdateOfAKeyAtATime(t *testing.T) {
	t.Parallel()
	a := records.NewSwapping(newServer())
	put(t, a, "k", "1", records.Off)
	inside, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- a.Update(t.Context(), "k", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			close(inside)
			<-leave
			return old, records.Off, nil
		})
	}()
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, a.Update(ctx, "k", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		assert.Fail(t, "two at a time")
		return old, records.Off, nil
	}), context.DeadlineExceeded, "who waits leaves with its ctx")
	put(t, a, "another", "1", records.Off)
	close(leave)
	require.NoError(t, <-done)
	assert.Equal(t, "1", get(t, a, "k"))
}

func TestPrefixesSeparatePrograms(t *testing.T) {
	t.Parallel()
	engine := records.NewMemoryEngine()
	a, b := records.WithPrefix(engine, "a:"), records.WithPrefix(engine, "b:")
	put(t, a, "k", "1", records.Off)
	assert.Empty(t, get(t, b, "k"))
	assert.Equal(t, "1", get(t, engine, "a:k"))
	assert.Panics(t, func() { records.WithPrefix(nil, "a:") })

	_, notifies := records.WithPrefix(records.NewSwapping(newServer()), "a:").(records.Notifier)
	assert.False(t, notifies)
	listener, ok := a.(records.Notifier)
	require.True(t, ok)
	ctx, cancel := context.WithCancel(t.Context())
	var heard []string
	require.ErrorIs(t, listener.Listen(ctx, "topic", func(message string) {
		heard = append(heard, message)
		if message == "" { // it is listening
			other, ok := b.(records.Notifier)
			assert.True(t, ok)
			assert.NoError(t, other.Notify(ctx, "topic", "theirs"))
			assert.NoError(t, engine.Notify(ctx, "a:topic", "ours"))
			return
		}
		cancel()
	}), context.Canceled)
	assert.Equal(t, []string{"", "ours"}, heard)
}
