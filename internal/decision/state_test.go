package decision_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/measure"
)

// fill sets every field below v to a value that is neither zero nor another
// field's, so that a field added to decision.State cannot be forgotten in a record.
func fill(t *testing.T, v reflect.Value, n *int64) {
	t.Helper()
	*n++
	switch v.Kind() { //nolint:exhaustive // the rest fails below
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_900_000_000+*n, 123456789+*n)))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Uint64:
		v.SetUint(math.MaxUint64 - uint64(*n)) //nolint:gosec // small
	case reflect.Uint8:
		v.SetUint(uint64(*n)) //nolint:gosec // small
	case reflect.Int:
		v.SetInt(100 + *n)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text \x00 \u2028 'quoted'")
	default:
		require.Fail(t, "a kind of field that fill does not know", v.Kind().String())
	}
}

func TestPackedStateKeepsEveryField(t *testing.T) {
	t.Parallel()
	var s decision.State
	fill(t, reflect.ValueOf(&s).Elem(), new(int64))
	assert.Equal(t, s, roundTrip(s))
}

func TestPackedStateKeeps(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_900_000_000, 1)
	for name, s := range map[string]decision.State{
		"nothing":                  {},
		"a timeout":                {LastResult: decision.ResultTimeout},
		"watermarks of nothing":    {Watermarks: decision.Watermarks{Set: true}},
		"a pause without a reason": {Paused: continuation.Pause{Since: at}},
		"a claim":                  {Claim: decision.Claim{Token: 1, Since: at}},
		"the largest counts":       {Attempts: math.MaxInt32, Continuations: math.MaxInt32, Tokens: math.MaxInt, TextLength: math.MaxInt32},
	} {
		assert.Equal(t, s, roundTrip(s), name)
	}
}

func TestPackedStateKeepsTheInstantWhateverTheZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 12, 0, 0, 987654321, time.FixedZone("", 3600))
	got := roundTrip(decision.State{LastPrompt: at, Paused: continuation.Pause{Since: at}, Claim: decision.Claim{Token: 1, Since: at}})
	assert.True(t, at.Equal(got.LastPrompt))
	assert.True(t, at.Equal(got.Paused.Since))
	assert.True(t, at.Equal(got.Claim.Since))
}

// A claim that may be held for centuries must not lapse at once.
func TestPackedStateBoundsTimesThatDoNotFit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_900_000_000, 0)
	got := roundTrip(decision.State{Claim: decision.Claim{Token: 1, Since: now, Until: now.Add(math.MaxInt64)}})
	assert.True(t, got.Claim.Active(now.AddDate(200, 0, 0)))
}

// A count that overflows must not come back as a small or negative one, which would
// renew a budget.
func TestUnpackedStateIsACopy(t *testing.T) {
	t.Parallel()
	s := decision.State{Paused: continuation.Pause{Reason: "a", Since: time.Unix(1, 0)}}
	packed := decision.Packed(nil).Append(&s)
	got := packed.Unpack()
	clear(packed)
	assert.Equal(t, "a", got.Paused.Reason)
}

func TestPackedStateKeepsCountsOfAnySize(t *testing.T) {
	t.Parallel()
	s := decision.State{Attempts: math.MaxInt, Continuations: math.MaxInt, LastResult: math.MaxInt}
	assert.Equal(t, s, roundTrip(s))
	assert.Equal(t, decision.PromptResult(math.MinInt), roundTrip(decision.State{LastResult: math.MinInt}).LastResult)
	assert.Zero(t, roundTrip(decision.State{Attempts: -5}).Attempts)
}

func TestPackingAllocatesNothing(t *testing.T) {
	long := decision.State{Paused: continuation.Pause{Reason: "a", Since: time.Unix(1, 0)}, Calls: [8]uint64{1}}
	short := decision.State{UserTurn: 1}
	packed := make(decision.Packed, 0, 1<<10)
	assert.Zero(t, measure.Allocations(func() { packed = packed[:0].Append(&short) }))
	assert.Equal(t, short, packed.Unpack())
	assert.Equal(t, long, packed[:0].Append(&long).Unpack())
}

func TestPackedStateIsSmall(t *testing.T) {
	t.Parallel()
	s := decision.State{
		UserTurn: 3, Message: 1, Users: 3, Previous: 2, Answered: true, Attempts: 1, Continuations: 2, Tokens: 10_000,
		LastPrompt: time.Unix(1_900_000_000, 1), Watermarks: decision.Watermarks{Set: true, Todos: 5, Completed: 2, Active: 3},
	}
	assert.LessOrEqual(t, len(decision.Packed(nil).Append(&s)), 48, "a size class more is 16 MB for a million sessions")
}

func roundTrip(s decision.State) decision.State { return decision.Packed(nil).Append(&s).Unpack() }
