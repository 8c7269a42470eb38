package continuation_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
)

func TestLimitsDefaults(t *testing.T) {
	t.Parallel()
	assert.Equal(t, continuation.Limits{
		MaxAttempts: 4, MaxWithoutProgress: 10, MinInterval: time.Second, ResponseTimeout: 30 * time.Second,
		FirstByteTimeout: 5 * time.Minute, TokenBudget: continuation.Off, ClaimLife: 10 * time.Minute, MaxTaskAge: 30 * time.Minute,
		TodoTimeout: time.Second, StoreTimeout: 500 * time.Millisecond, MaxSessions: 100_000, SessionLife: 24 * time.Hour,
	}, withDefaults(t, continuation.Limits{}))
}

func TestLimitsKeepWhatIsSet(t *testing.T) {
	t.Parallel()
	const off = continuation.Off
	for _, l := range []continuation.Limits{
		{
			MaxAttempts: 1, MaxWithoutProgress: 2, MinInterval: 1, ResponseTimeout: 4, FirstByteTimeout: 5,
			TokenBudget: 6, ClaimLife: 8, MaxTaskAge: 7,
			TodoTimeout: 9, StoreTimeout: 10, MaxSessions: 11, SessionLife: 12,
		},
		{
			MaxAttempts: off, MaxWithoutProgress: off, MinInterval: off, ResponseTimeout: off, FirstByteTimeout: off,
			TokenBudget: off, ClaimLife: off, MaxTaskAge: off,
			TodoTimeout: 9, StoreTimeout: 10, MaxSessions: 11, SessionLife: off,
		},
	} {
		got := withDefaults(t, l)
		assert.Equal(t, l, got)
		assert.Equal(t, got, withDefaults(t, got), "defaults can be applied twice")
	}
}

func TestLimitsRefuseNegativeValues(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[continuation.Limits]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		for _, value := range []int64{-2, int64(-time.Second)} {
			var l continuation.Limits
			reflect.ValueOf(&l).Elem().Field(i).SetInt(value)
			got, err := l.WithDefaults()
			require.Error(t, err, name)
			assert.Contains(t, err.Error(), name)
			assert.Contains(t, err.Error(), "continuation.Off")
			assert.Zero(t, got, name)
		}
	}
}
