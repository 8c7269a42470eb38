package records_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/records"
)

func TestMemoryIsAnEngine(t *testing.T) {
	t.Parallel()
	carryontest.TestRecords(t, func() (records.Records, records.Records) {
		engine := records.NewMemoryEngine()
		return engine, engine
	})
}

func TestMemoryForgetsWhatIsOverItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := records.NewMemoryEngine()
		put(t, engine, "short", "x", time.Minute)
		put(t, engine, "long", "x", records.Off)
		<-time.After(time.Minute - time.Nanosecond)
		assert.Equal(t, "x", get(t, engine, "short"), "reading keeps it for another minute")
		<-time.After(time.Minute)
		assert.Empty(t, get(t, engine, "short"))
		put(t, engine, "short", "x", time.Minute)
		<-time.After(time.Minute)
		for i := range 1000 {
			put(t, engine, strconv.Itoa(i), "x", records.Off)
		}
		assert.Equal(t, 1001, engine.Len(), "an expired record goes when others come")
		assert.Equal(t, "x", get(t, engine, "long"))
	})
}

func put(t *testing.T, engine records.Records, key, record string, keep time.Duration) {
	t.Helper()
	require.NoError(t, engine.Update(t.Context(), key, func(time.Time, []byte) ([]byte, time.Duration, error) {
		return []byte(record), keep, nil
	}))
}

// get returns a record, and keeps it for a minute from now on.
func get(t *testing.T, engine records.Records, key string) string {
	t.Helper()
	var record string
	require.NoError(t, engine.Update(t.Context(), key, func(_ time.Time, old []byte) ([]byte, time.Duration, error) {
		record = string(old)
		return old, time.Minute, nil
	}))
	return record
}
