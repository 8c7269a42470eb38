package carryontest_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/records"
)

type engine func(ctx context.Context, key string, f records.UpdateFunc) error

func (e engine) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	return e(ctx, key, f)
}

const (
	recUnknown  = "unknown keys have no record"
	recKept     = "an update is kept"
	recBytes    = "records come back byte for byte"
	recRemoved  = "a record can be removed"
	recKeys     = "keys are isolated"
	recErrors   = "an error of f means that nothing was stored"
	recStale    = "an error of f counts only with the record as it is"
	recAtomic   = "updates are atomic"
	recCtx      = "the end of the ctx means that nothing was stored"
	recPanics   = "a panic changes nothing"
	recKeep     = "a time to keep is asked for"
	recExpires  = "records are kept for their time"
	recRenewals = "an update that changes nothing keeps a record"
	recClocks   = "the clock is one"
)

// brokenEngine returns a function that opens engines which pass every update to a
// correct one, each in its own wrong way.
func brokenEngine(how func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) error) func() (a, b records.Records) {
	return func() (records.Records, records.Records) {
		right := records.NewMemoryEngine()
		handle := engine(func(ctx context.Context, key string, f records.UpdateFunc) error { return how(right, ctx, key, f) })
		return handle, handle
	}
}

// altered returns a function that opens engines which change what f is given or returns.
func altered(change func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error)) func() (a, b records.Records) {
	return brokenEngine(func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) error {
		return right.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) { return change(f, now, old) })
	})
}

func TestRecordsFindsNothingWrongWithMemory(t *testing.T) {
	t.Parallel()
	assert.Empty(t, carryontest.RecordFindingsWithin(t, time.Minute, func() (a, b records.Records) {
		right := records.NewMemoryEngine()
		return right, right
	}))
}

func TestRecordsFindsBrokenEngines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open  func() (a, b records.Records)
		rules []string
	}{
		"shares nothing": {
			func() (a, b records.Records) { return records.NewMemoryEngine(), records.NewMemoryEngine() },
			[]string{recKept, recBytes, recRemoved, recKeys, recAtomic},
		},
		"forgets all": {
			brokenEngine(func(_ *records.MemoryEngine, _ context.Context, _ string, f records.UpdateFunc) error {
				_, _, err := f(time.Now(), nil)
				return err
			}),
			[]string{recKept, recBytes, recAtomic},
		},
		"always fails": {
			brokenEngine(func(*records.MemoryEngine, context.Context, string, records.UpdateFunc) error { return assert.AnError }),
			[]string{recUnknown, recKept, recAtomic},
		},
		"stores what comes with an error": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				if err != nil && len(next) > 0 {
					return next, keep, nil
				}
				return next, keep, err
			}),
			[]string{recErrors},
		},
		"loses the error of f": {
			brokenEngine(func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) error {
				if err := right.Update(ctx, key, f); err != nil {
					return errors.New("it failed")
				}
				return nil
			}),
			[]string{recErrors, recCtx},
		},
		"removes nothing": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				if err == nil && len(next) == 0 && old != nil {
					return old, time.Hour, nil
				}
				return next, keep, err
			}),
			[]string{recRemoved},
		},
		"keeps text alone": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				return bytes.ToValidUTF8(next, nil), keep, err
			}),
			[]string{recBytes},
		},
		"ends records at NUL": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				next, _, _ = bytes.Cut(next, []byte{0})
				return next, keep, err
			}),
			[]string{recBytes},
		},
		"takes keys in any case": {
			brokenEngine(func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) error {
				return right.Update(ctx, strings.ToLower(key), f)
			}),
			[]string{recKeys},
		},
		"cuts keys": {
			brokenEngine(func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) error {
				return right.Update(ctx, key[:min(len(key), 255)], f)
			}),
			[]string{recKeys},
		},
		"ignores the ctx": {
			brokenEngine(func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) error {
				return right.Update(context.WithoutCancel(ctx), key, f)
			}),
			[]string{recCtx},
		},
		"stores what f made of a panic": {
			brokenEngine(func(right *records.MemoryEngine, ctx context.Context, key string, f records.UpdateFunc) (err error) {
				defer func() {
					if recover() != nil {
						_ = right.Update(ctx, key, func(time.Time, []byte) ([]byte, time.Duration, error) { return []byte("?"), time.Hour, nil })
						err = assert.AnError
					}
				}()
				return right.Update(ctx, key, f)
			}),
			[]string{recPanics},
		},
		"keeps for any time": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				if keep <= 0 {
					keep = records.Off
				}
				return next, keep, err
			}),
			[]string{recKeep},
		},
		"keeps for good": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				if keep > 0 {
					keep = records.Off
				}
				return next, keep, err
			}),
			[]string{recExpires},
		},
		"keeps too short": {
			altered(func(f records.UpdateFunc, now time.Time, old []byte) ([]byte, time.Duration, error) {
				next, keep, err := f(now, old)
				return next, max(keep/4, records.Off), err
			}),
			[]string{recExpires},
		},
		"has no clock": {
			altered(func(f records.UpdateFunc, _ time.Time, old []byte) ([]byte, time.Duration, error) {
				return f(time.Time{}, old)
			}),
			[]string{recClocks},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Subset(t, carryontest.RecordFindings(t, c.open), c.rules)
		})
	}
}

// entry is a record on a server that can only read and write.
type entry struct {
	record []byte
	until  time.Time
}

// plainServer is such a server.
type plainServer struct {
	mu      sync.Mutex
	entries map[string]entry
}

func (s *plainServer) get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[key]; e.until.IsZero() || time.Now().Before(e.until) {
		return e.record
	}
	return nil
}

func (s *plainServer) set(key string, record []byte, keep time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := entry{record: bytes.Clone(record)}
	if keep != records.Off {
		e.until = time.Now().Add(keep)
	}
	s.entries[key] = e
}

// lockedClient is the usual first attempt: a mutex of the process around a read and a write.
type lockedClient struct {
	mu     sync.Mutex
	server *plainServer
}

func (c *lockedClient) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, keep, err := f(time.Now(), c.server.get(key))
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case len(next) == 0:
		next, keep = nil, records.Off
	case keep <= 0 && keep != records.Off:
		return errors.New("a record cannot be kept for that long")
	}
	c.server.set(key, next, keep)
	return nil
}

func TestRecordsFindsAMutexAroundAReadAndAWrite(t *testing.T) {
	t.Parallel()
	assert.Empty(t, carryontest.RecordFindingsWithin(t, time.Minute, func() (a, b records.Records) {
		client := &lockedClient{server: &plainServer{entries: map[string]entry{}}}
		return client, client
	}), "in one process it is right")
	assert.Contains(t, carryontest.RecordFindings(t, func() (a, b records.Records) {
		server := &plainServer{entries: map[string]entry{}}
		return &lockedClient{server: server}, &lockedClient{server: server}
	}), recAtomic)
}

// cachingClient is an engine that trusts its cache.
type cachingClient struct {
	*records.MemoryEngine

	mu   sync.Mutex
	seen map[string][]byte
}

func (c *cachingClient) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	c.mu.Lock()
	last := c.seen[key]
	c.mu.Unlock()
	if last != nil {
		if _, _, err := f(time.Now(), last); err != nil {
			return err
		}
	}
	return c.MemoryEngine.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		next, keep, err := f(now, old)
		if err == nil {
			c.mu.Lock()
			c.seen[key] = bytes.Clone(next)
			c.mu.Unlock()
		}
		return next, keep, err
	})
}

func TestRecordsFindsErrorsOfOldRecords(t *testing.T) {
	t.Parallel()
	assert.Contains(t, carryontest.RecordFindings(t, func() (a, b records.Records) {
		right := records.NewMemoryEngine()
		return &cachingClient{MemoryEngine: right, seen: map[string][]byte{}}, &cachingClient{MemoryEngine: right, seen: map[string][]byte{}}
	}), recStale)
}

// neverRenewing drops a record once its first time is over, however often it is looked at.
type neverRenewing struct{ *lockedClient }

func (c neverRenewing) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	return c.lockedClient.Update(ctx, key, func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		next, keep, err := f(now, old)
		if err == nil && bytes.Equal(next, old) && len(old) > 0 {
			if until := c.server.entries[key].until; !until.IsZero() {
				keep = max(1, time.Until(until))
			}
		}
		return next, keep, err
	})
}

func TestRecordsFindsRecordsThatAreNotRenewed(t *testing.T) {
	t.Parallel()
	assert.Contains(t, carryontest.RecordFindings(t, func() (a, b records.Records) {
		client := neverRenewing{&lockedClient{server: &plainServer{entries: map[string]entry{}}}}
		return client, client
	}), recRenewals)
}
