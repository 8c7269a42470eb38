package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/testkit/measure"
	"github.com/carryon-go/carryon/internal/testkit/testclock"
)

// count is an update that leaves a non-zero state.
func count(s decision.State) decision.State {
	s.Attempts++
	return s
}

// newMemory returns a store with the default bounds.
func newMemory() *session.MemoryStore {
	return session.NewMemoryStore(continuation.DefaultLimits().MaxSessions, continuation.DefaultLimits().SessionLife, time.Now)
}

func update(t *testing.T, m session.Store, key string, f func(decision.State) decision.State) {
	t.Helper()
	require.NoError(t, m.Update(t.Context(), key, f))
}

// peek returns the state under key. It counts as an update.
func peek(t *testing.T, m session.Store, key string) (state decision.State) {
	t.Helper()
	update(t, m, key, func(s decision.State) decision.State { state = s; return s })
	return state
}

// kept returns which of the keys the store still has, and may forget the rest.
func kept(t *testing.T, m session.Store, keys ...string) []string {
	t.Helper()
	var found []string
	for _, key := range keys {
		if peek(t, m, key) != (decision.State{}) {
			found = append(found, key)
		}
	}
	return found
}

func claim(at time.Time) func(decision.State) decision.State {
	return func(s decision.State) decision.State {
		return s.Acquire(1, at, continuation.DefaultLimits().ClaimLife)
	}
}

func TestMemoryStoreWorksWhateverTheContext(t *testing.T) {
	t.Parallel()
	m := newMemory()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, m.Update(ctx, "a", count), "a release must get through")
	assert.Equal(t, 1, peek(t, m, "a").Attempts)
}

func TestMemoryStoreForgetsNothingByDefault(t *testing.T) {
	t.Parallel()
	m := newMemory()
	update(t, m, "a", count)
	assert.Equal(t, []string{"a"}, kept(t, m, "a"), "the real clock works too")
}

func TestMemoryStoreKeepsNoZeroStates(t *testing.T) {
	t.Parallel()
	m := session.NewMemoryStore(2, continuation.DefaultLimits().SessionLife, time.Now)
	update(t, m, "a", count)
	update(t, m, "b", count)
	for i := range 100 {
		assert.Zero(t, peek(t, m, strconv.Itoa(i)))
	}
	assert.Equal(t, 2, m.Len(), "reading a session stores nothing")
	assert.Equal(t, []string{"a", "b"}, kept(t, m, "a", "b"))
	update(t, m, "a", func(decision.State) decision.State { return decision.State{} })
	assert.Equal(t, 1, m.Len(), "a zero state is not stored")
}

// A panic in an update stores nothing and leaves the store as usable as before.
func TestMemoryStoreSurvivesAPanic(t *testing.T) {
	t.Parallel()
	m := newMemory()
	update(t, m, "a", count)
	for _, key := range []string{"a", "b"} {
		assert.Panics(t, func() {
			_ = m.Update(t.Context(), key, func(decision.State) decision.State { panic("oops") })
		})
	}
	assert.Equal(t, 1, peek(t, m, "a").Attempts)
	assert.Equal(t, 1, m.Len())
}

func TestMemoryStoreIsNeverFullerThanItsLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 3, 16, 17, 100, 1023, 1024, 1500} {
		m := session.NewMemoryStore(limit, continuation.DefaultLimits().SessionLife, time.Now)
		for i := range 3 * limit {
			key := strconv.Itoa(i)
			update(t, m, key, count)
			require.Equal(t, min(i+1, limit), m.Len(), "limit %d", limit)
			require.Equal(t, 1, peek(t, m, key).Attempts, "the newest session is kept, limit %d", limit)
		}
		found := 0
		for i := range 3 * limit {
			if peek(t, m, strconv.Itoa(i)) != (decision.State{}) {
				found++
			}
		}
		assert.Equal(t, limit, found, "Len counts what is there")
	}
}

func TestMemoryStoreForgetsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	for name, tick := range map[string]time.Duration{"clock runs": time.Second, "clock stands still": 0} {
		for _, limit := range []int{1, 2, 7, 16} {
			rng := rand.New(rand.NewPCG(1, uint64(limit)))
			clock := testclock.New()
			m := session.NewMemoryStore(limit, continuation.Off, clock.Now)
			var order []string // of use, the latest last
			for range 500 {
				clock.Advance(tick)
				key := strconv.Itoa(rng.IntN(2 * limit))
				update(t, m, key, count)
				order = touch(order, key, limit)
			}
			got := kept(t, m, order...)
			assert.Equal(t, order, got, "%s, limit %d", name, limit)
			assert.Equal(t, limit, m.Len())
		}
	}
}

// touch moves key to the end and drops the first if there are too many.
func touch(order []string, key string, limit int) []string {
	next := make([]string, 0, limit+1)
	for _, k := range order {
		if k != key {
			next = append(next, k)
		}
	}
	next = append(next, key)
	return next[max(len(next)-limit, 0):]
}

// In larger stores the choice is by sample: a session that was just used must still
// be very unlikely to go.
func TestMemoryStoreForgetsOldOnesOfMany(t *testing.T) {
	t.Parallel()
	const limit = 4096
	clock := testclock.New()
	m := session.NewMemoryStore(limit, continuation.DefaultLimits().SessionLife, clock.Now)
	for i := range limit {
		clock.Advance(time.Second)
		update(t, m, strconv.Itoa(i), count)
	}
	for i := range limit / 4 {
		clock.Advance(time.Second)
		update(t, m, "new"+strconv.Itoa(i), count)
	}
	recent := make([]string, limit/4)
	for i := range recent {
		recent[i] = strconv.Itoa(limit - 1 - i)
	}
	found := kept(t, m, recent...)
	assert.Greater(t, len(found), len(recent)*95/100, "sessions left of the most recent quarter, after a quarter was dropped")
}

func TestMemoryStoreForgetsClaimedSessionsLast(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(3, continuation.DefaultLimits().SessionLife, clock.Now)
	update(t, m, "claimed", claim(clock.Now()))
	for _, key := range []string{"a", "b", "c", "d"} {
		clock.Advance(time.Second)
		update(t, m, key, count)
	}
	assert.Equal(t, []string{"claimed", "c", "d"}, kept(t, m, "claimed", "a", "b", "c", "d"))

	update(t, m, "claimed", func(s decision.State) decision.State { return s.Release(1, decision.ContinuationResult{}) })
	for _, key := range []string{"e", "f", "g"} {
		clock.Advance(time.Second)
		update(t, m, key, count)
	}
	assert.Equal(t, []string{"e", "f", "g"}, kept(t, m, "claimed", "c", "d", "e", "f", "g"), "once released it is like the others")
}

func TestMemoryStoreWithClaimedSessionsOnly(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(2, continuation.DefaultLimits().SessionLife, clock.Now)
	for _, key := range []string{"a", "b", "c"} {
		clock.Advance(time.Second)
		update(t, m, key, claim(clock.Now()))
	}
	assert.Equal(t, 2, m.Len(), "the limit holds anyway")
	assert.Equal(t, []string{"b", "c"}, kept(t, m, "a", "b", "c"))
}

// A state that was just stored is there afterwards, even if all others have a claim.
func TestMemoryStoreKeepsANewSessionAmongClaimedOnes(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(2, continuation.DefaultLimits().SessionLife, clock.Now)
	update(t, m, "a", claim(clock.Now()))
	clock.Advance(time.Second)
	update(t, m, "b", claim(clock.Now()))
	update(t, m, "new", count)
	assert.Equal(t, []string{"b", "new"}, kept(t, m, "a", "b", "new"))
}

// Streams that were dropped without Close must not crowd out live sessions.
func TestMemoryStoreForgetsLapsedClaimsLikeOthers(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(2, continuation.DefaultLimits().SessionLife, clock.Now)
	update(t, m, "abandoned", claim(clock.Now()))
	clock.Advance(continuation.DefaultLimits().ClaimLife)
	update(t, m, "a", count)
	clock.Advance(time.Second)
	update(t, m, "b", count)
	assert.Equal(t, []string{"a", "b"}, kept(t, m, "abandoned", "a", "b"))
}

func TestMemoryStoreForgetsWhatIsTooOld(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(continuation.DefaultLimits().MaxSessions, time.Hour, clock.Now)
	update(t, m, "a", count)
	clock.Advance(time.Hour)
	assert.Equal(t, 1, peek(t, m, "a").Attempts, "as old as allowed; reading renews it")
	clock.Advance(time.Hour)
	update(t, m, "a", count)
	assert.Equal(t, 2, peek(t, m, "a").Attempts)
	clock.Advance(time.Hour + time.Microsecond)
	assert.Zero(t, peek(t, m, "a"), "too old")
	assert.Zero(t, m.Len(), "a session that is too old is dropped when it is used")

	update(t, m, "a", count)
	clock.Advance(2 * time.Hour)
	update(t, m, "a", count)
	assert.Equal(t, 1, peek(t, m, "a").Attempts, "an update of what is too old starts from nothing")
	assert.Equal(t, 1, m.Len())
}

func TestMemoryStoreDefaultAge(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(continuation.DefaultLimits().MaxSessions, continuation.DefaultLimits().SessionLife, clock.Now)
	update(t, m, "a", count)
	clock.Advance(continuation.DefaultLimits().SessionLife)
	assert.Equal(t, []string{"a"}, kept(t, m, "a"))
	clock.Advance(continuation.DefaultLimits().SessionLife + time.Second)
	assert.Empty(t, kept(t, m, "a"))
}

func TestMemoryStoreWithoutAge(t *testing.T) {
	t.Parallel()
	clock := testclock.New()
	m := session.NewMemoryStore(continuation.DefaultLimits().MaxSessions, continuation.Off, clock.Now)
	update(t, m, "a", count)
	clock.Advance(100 * 365 * 24 * time.Hour)
	assert.Equal(t, []string{"a"}, kept(t, m, "a"))
}

func TestMemoryStoreClockSetBack(t *testing.T) {
	t.Parallel()
	now := noon
	m := session.NewMemoryStore(2, time.Hour, func() time.Time { return now })
	update(t, m, "a", count)
	now = now.Add(-24 * time.Hour)
	assert.Equal(t, []string{"a"}, kept(t, m, "a"), "from the future, but not too old")
	now = now.Add(time.Hour + time.Second)
	assert.Empty(t, kept(t, m, "a"), "ages as the clock goes now")
}

func TestMemoryStoreConcurrentUse(t *testing.T) {
	t.Parallel()
	const workers, rounds = 8, 400
	for _, limit := range []int{1, 3, 40, 2000} {
		m := session.NewMemoryStore(limit, continuation.DefaultLimits().SessionLife, time.Now)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range rounds {
					for _, key := range []string{"shared", fmt.Sprint(w, "/", i)} {
						if err := m.Update(t.Context(), key, count); err != nil {
							t.Error(err)
						}
					}
					assert.LessOrEqual(t, m.Len(), limit+workers-1, "only updates that have not returned may be beyond the limit")
				}
			})
		}
		wg.Wait()
		assert.Equal(t, limit, m.Len())
	}
}

// fillStore stores n sessions such as an agent leaves behind.
func fillStore(tb testing.TB, m *session.MemoryStore, n int) {
	tb.Helper()
	turn := decision.UserTurnOf(3, "Please build it")
	for i := range n {
		err := m.Update(context.Background(), fmt.Sprintf("conversation-%08d", i), //nolint:usetesting // costs nothing
			func(s decision.State) decision.State {
				s = s.RegisterUserTurn(turn).Acquire(1, noon, continuation.DefaultLimits().ClaimLife).
					Release(1, decision.ContinuationResult{Tokens: 100})
				s.Watermarks = decision.Watermarks{Set: true, Active: 3}
				return s
			})
		require.NoError(tb, err)
	}
}

// memoryOf returns the bytes that n sessions take, keys included.
func memoryOf(tb testing.TB, n int) int64 {
	tb.Helper()
	m := session.NewMemoryStore(n, continuation.DefaultLimits().SessionLife, time.Now)
	before := measure.Live()
	fillStore(tb, m, n)
	after := measure.Live()
	require.Equal(tb, n, m.Len())
	runtime.KeepAlive(m)
	return after - before
}

// Not parallel: other tests' memory must not count.
func TestMemoryStoreIsSmall(t *testing.T) {
	if measure.RaceDetector {
		t.Log("the race detector makes allocations larger; the bound holds without it")
		return
	}
	assert.LessOrEqual(t, memoryOf(t, 100_000), int64(20<<20))
}

// The key may be a small part of a request that is long gone.
func TestMemoryStoreDoesNotHoldOnToWhereAKeyWasCutFrom(t *testing.T) {
	const large = 8 << 20
	m := newMemory()
	before := measure.Live()
	for i := range 4 {
		request := string(make([]byte, large)) + strconv.Itoa(i)
		update(t, m, request[large:], count)
	}
	assert.Less(t, measure.Live(), before+large)
	assert.Equal(t, 4, m.Len())
	runtime.KeepAlive(m)
}

func TestMemoryStoreUpdateDoesNotAllocate(t *testing.T) {
	if measure.RaceDetector {
		t.Log("the race detector allocates")
		return
	}
	m := newMemory()
	update(t, m, "a", count)
	ctx := t.Context()
	assert.Zero(t, measure.Allocations(func() { _ = m.Update(ctx, "a", count) }))
}

// A bubble ends only after the goroutines that were started in it.
func TestMemoryStoreStartsNoGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := session.NewMemoryStore(2000, continuation.DefaultLimits().SessionLife, time.Now)
		for i := range 3000 {
			update(t, m, strconv.Itoa(i), count)
		}
		assert.Equal(t, 2000, m.Len())
	})
}
