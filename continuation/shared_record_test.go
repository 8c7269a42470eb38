package continuation

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/recordtest"
	"github.com/carryon-go/carryon/records"
)

func TestRecordsOfStatesHaveAFixedForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, time.March, 1, 12, 0, 0, 123456789, time.UTC)
	recordtest.Golden(t, stateFormat(), State{
		UserTurn: 7, Message: 1<<64 - 1, Users: 3, TextLength: 40, Previous: 1<<63 + 1, Answered: true,
		Claim:    Claim{Token: 1<<64 - 3, Since: at, Until: at.Add(10 * time.Minute)},
		Paused:   Pause{Reason: "No <key> \"naïve\"", Since: at},
		Attempts: 2, Continuations: 5, Tokens: 1 << 40,
		LastPrompt: at, LastResult: ResultTransport,
		Watermarks:  Watermarks{Set: true, Todos: 5, Completed: 4, Active: 1},
		Stale:       1<<53 + 1,
		Overrides:   Overrides{TodoContinuation: SwitchedOff, YOLO: SwitchedOn},
		Refused:     true,
		Cancelled:   true,
		Touched:     true,
		LeaveDenied: true,
		Unjudged:    true,
		Calls:       CallsSeen{1<<62 + 1, 5},
		Loop:        Loop{Size: 9, Seen: at},
	})
}

func TestAStateIsComparable(t *testing.T) {
	t.Parallel()
	var pointers func(reflect.Type) bool
	pointers = func(typ reflect.Type) bool {
		if typ == reflect.TypeFor[time.Time]() {
			return false
		}
		if typ.Kind() == reflect.Struct {
			for i := range typ.NumField() {
				if pointers(typ.Field(i).Type) {
					return true
				}
			}
		}
		return !typ.Comparable() || typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Interface
	}
	assert.False(t, pointers(reflect.TypeFor[State]()), "two states with pointers differ, whatever these point to")
}

func TestAStateIsKeptForItsTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_900_000_000, 0)
	claim := func(life time.Duration) Claim { return Claim{Token: 1, Since: now, Until: now.Add(life)} }
	for name, c := range map[string]struct {
		opts  []SharedStoreOption
		state State
		want  time.Duration
	}{
		"nothing":            {nil, State{}, 0},
		"by default":         {nil, State{UserTurn: 1}, 24 * time.Hour},
		"zero":               {[]SharedStoreOption{WithSharedMaxAge(0)}, State{UserTurn: 1}, 24 * time.Hour},
		"shorter":            {[]SharedStoreOption{WithSharedMaxAge(time.Minute)}, State{UserTurn: 1}, time.Minute},
		"a claim":            {[]SharedStoreOption{WithSharedMaxAge(time.Minute)}, State{UserTurn: 1, Claim: claim(10 * time.Minute)}, 10 * time.Minute},
		"a claim for good":   {nil, State{UserTurn: 1, Claim: Claim{Token: 1, Since: now}}, records.Off},
		"without a limit":    {[]SharedStoreOption{WithSharedMaxAge(Off)}, State{UserTurn: 1}, records.Off},
		"a loop":             {nil, State{UserTurn: 1, Loop: Loop{Size: 1, Seen: now}}, LoopLife},
		"a loop, whatever":   {[]SharedStoreOption{WithSharedMaxAge(Off)}, State{UserTurn: 1, Loop: Loop{Size: 1, Seen: now}}, LoopLife},
		"settings":           {nil, State{Overrides: Overrides{TodoContinuation: SwitchedOff}}, records.Off},
		"settings, for what": {[]SharedStoreOption{WithSharedMaxAge(time.Minute)}, State{Overrides: Overrides{YOLO: SwitchedOn}}, records.Off},
	} {
		assert.Equal(t, c.want, NewSharedStore(records.NewMemoryEngine(), c.opts...).keep(c.state), name)
	}
}
