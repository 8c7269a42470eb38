package carryontest

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/recordtest"
	"github.com/carryon-go/carryon/records"
)

// TestRecords checks that an engine does what carryon relies on. Call it from a test of the engine's own package,
// preferably with the race detector on:
//
//	func TestRecords(t *testing.T) {
//		carryontest.TestRecords(t, func() (a, b records.Records) {
//			server := startServer(t)
//			return myengine.New(server.URL), myengine.New(server.URL)
//		})
//	}
//
// open returns two handles on one engine without any records, like the handles of two processes; an engine in memory
// returns the same one twice. open is called once per check, one call at a time, and may use t.Cleanup of the outer test to
// close what it opens. The checks then run in parallel.
//
// An engine passes if
//
//   - each handle is given what the other has stored, byte for byte, however many goroutines update a key through both
//   - no two keys share a record, even if they are long or not UTF-8
//   - an error, of f or of the ctx, means that nothing was stored, and an error of f is returned only if f was given the
//     current record
//   - a panic of f changes nothing
//   - a record is kept as long as asked, by the clock that the engine gives f, and is gone soon after
func TestRecords(t *testing.T, open func() (a, b records.Records)) {
	t.Helper()
	if open == nil {
		panic("carryon/carryontest: TestRecords needs a function that opens an engine")
	}
	for _, rule := range recordRules() {
		t.Run(rule.name, func(t *testing.T) {
			a, b := open()
			require.NotNil(t, a, "the engine to test")
			require.NotNil(t, b, "the engine to test, as another process has it")
			t.Parallel()
			rule.check(newRecordCheck(t, a, b, 10*time.Second))
		})
	}
}

// recordRule is one thing that an engine must get right.
type recordRule struct {
	name  string
	check func(*recordCheck)
}

func recordRules() []recordRule {
	return []recordRule{
		{"unknown keys have no record", (*recordCheck).unknownKeys},
		{"an update is kept", (*recordCheck).keepsUpdates},
		{"records come back byte for byte", (*recordCheck).bytesComeBack},
		{"a record can be removed", (*recordCheck).removal},
		{"keys are isolated", (*recordCheck).isolatedKeys},
		{"an error of f means that nothing was stored", (*recordCheck).errorsOfF},
		{"an error of f counts only with the record as it is", (*recordCheck).errorsOnOldRecords},
		{"updates are atomic", (*recordCheck).atomicUpdates},
		{"keys do not disturb one another", (*recordCheck).concurrentKeys},
		{"the end of the ctx means that nothing was stored", (*recordCheck).endedContext},
		{"a panic changes nothing", (*recordCheck).panics},
		{"a time to keep is asked for", (*recordCheck).timesToKeep},
		{"records are kept for their time", (*recordCheck).keepsForTheTime},
		{"an update that changes nothing keeps a record", (*recordCheck).renewals},
		{"the clock is one", (*recordCheck).clocks},
	}
}

// recordCheck is one check, of its own engine.
type recordCheck struct {
	testing.TB

	records  records.Records // updates alternate between two processes
	patience time.Duration   // how long an update may take to return
}

func newRecordCheck(tb testing.TB, a, b records.Records, patience time.Duration) *recordCheck {
	tb.Helper()
	return &recordCheck{TB: tb, records: &twoRecords{a: a, b: b}, patience: patience}
}

// twoRecords are the handles of two processes, used alternately.
type twoRecords struct {
	a, b  records.Records
	turns turns
}

func (r *twoRecords) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	if r.turns.second() {
		return r.b.Update(ctx, key, f)
	}
	return r.a.Update(ctx, key, f)
}

// turns says which process is next, in an order without a period, so that each writes records that the other reads.
type turns struct{ n atomic.Uint64 }

func (t *turns) second() bool { return bits.OnesCount64(t.n.Add(1)-1)%2 == 1 }

const keep = time.Hour

// update fails the check if the engine fails or never runs f.
func (c *recordCheck) update(key string, f records.UpdateFunc) {
	c.Helper()
	ran := false
	require.NoError(c, c.records.Update(c.Context(), key, func(now time.Time, old []byte) ([]byte, time.Duration, error) {
		ran = true
		return f(now, old)
	}), "key %q", key)
	require.True(c, ran, "key %q: Update has to run f", key)
}

func (c *recordCheck) put(key, record string) {
	c.Helper()
	c.update(key, func(time.Time, []byte) ([]byte, time.Duration, error) { return []byte(record), keep, nil })
}

// get returns the record under key, "" for none.
func (c *recordCheck) get(key string) string {
	c.Helper()
	got := ""
	c.update(key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		got = string(old)
		return old, keep, nil
	})
	return got
}

func (c *recordCheck) unknownKeys() {
	for range 4 {
		assert.Empty(c, c.get("unknown"), "a look changes nothing")
	}
	c.put("known", "x")
	assert.Empty(c, c.get("unknown"))
}

func (c *recordCheck) keepsUpdates() {
	want := ""
	for n := range 10 {
		c.update("a", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			return append(bytes.Clone(old), 'x'), keep, nil
		})
		want = strings.Repeat("x", n+1)
		assert.Equal(c, want, c.get("a"), "f gets what was stored last, whoever stored it")
	}
	assert.Equal(c, want, c.get("a"), "a look changes nothing")
}

func (c *recordCheck) bytesComeBack() {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, want := range map[string]string{
		"text":   "{\"a\":\"\u00e9\"}\n",
		"space":  " ",
		"zero":   "\x00",
		"number": "0",
		"bytes":  string(all),
		"large":  strings.Repeat("0123456789abcdef", 32<<10),
	} {
		c.put(name, want)
		for range 3 {
			require.True(c, want == c.get(name), "the record %q has changed", name) //nolint:testifylint // half a megabyte is no message
		}
	}
}

func (c *recordCheck) removal() {
	for _, none := range [][]byte{nil, {}} {
		for range 3 { // by each process
			c.put("a", "x")
			c.update("a", func(time.Time, []byte) ([]byte, time.Duration, error) { return none, 0, nil })
			var left []byte
			c.update("a", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
				left = old
				return old, keep, nil
			})
			assert.Nil(c, left)
		}
	}
}

func (c *recordCheck) isolatedKeys() {
	keys := recordtest.AwkwardKeys()
	for i, key := range keys {
		c.put(key, fmt.Sprint("record ", i))
	}
	for i, key := range keys {
		assert.Equal(c, fmt.Sprint("record ", i), c.get(key), "key %q", key)
	}
}

func (c *recordCheck) errorsOfF() {
	for key, want := range map[string]string{"old": "x", "new": ""} {
		if want != "" {
			c.put(key, want)
		}
		for range 3 {
			err := c.records.Update(c.Context(), key, func(time.Time, []byte) ([]byte, time.Duration, error) {
				return []byte("y"), keep, errOfF
			})
			require.ErrorIs(c, err, errOfF, "key %q", key)
			assert.Equal(c, want, c.get(key))
		}
	}
}

// errorsOnOldRecords makes f refuse every record but the current one; the process that is asked may know an older one.
func (c *recordCheck) errorsOnOldRecords() {
	for i := range 12 {
		want := fmt.Sprint("record ", i)
		c.put("a", want)
		c.update("a", func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
			if string(old) != want {
				return nil, 0, errOfF
			}
			return old, keep, nil
		})
	}
}

func (c *recordCheck) timesToKeep() {
	c.put("a", "x")
	for _, wrong := range []time.Duration{0, -2, -time.Hour} {
		require.Error(c, c.records.Update(c.Context(), "a", func(time.Time, []byte) ([]byte, time.Duration, error) {
			return []byte("y"), wrong, nil
		}), "to keep a record for %v", wrong)
	}
	assert.Equal(c, "x", c.get("a"))
	c.update("a", func(time.Time, []byte) ([]byte, time.Duration, error) { return []byte("y"), records.Off, nil })
	assert.Equal(c, "y", c.get("a"))
}
