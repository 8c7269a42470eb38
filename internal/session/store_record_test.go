package session

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/testkit/recordtest"
	"github.com/carryon-go/carryon/records"
)

func TestRecordsOfStatesHaveAFixedForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, time.March, 1, 12, 0, 0, 123456789, time.UTC)
	recordtest.Golden(t, stateFormat(), decision.State{
		UserTurn: 7, Message: 1<<64 - 1, Users: 3, TextLength: 40, Previous: 1<<63 + 1, Answered: true,
		Claim:    decision.Claim{Token: 1<<64 - 3, Since: at, Until: at.Add(10 * time.Minute)},
		Paused:   continuation.Pause{Reason: "No <key> \"naïve\"", Since: at},
		Waiting:  decision.Waiting{Since: at, Turns: 2},
		Attempts: 2, Continuations: 5, Tokens: 1 << 40, Repeats: 1,
		LastPrompt: at, LastResult: decision.ResultTransport,
		Watermarks:       decision.Watermarks{Set: true, Todos: 5, Completed: 4, Active: 1},
		Stale:            1<<53 + 1,
		Overrides:        decision.Overrides{TodoContinuation: decision.SwitchedOff, YOLO: decision.SwitchedOn},
		ProviderRefused:  true,
		Cancelled:        true,
		ListWritten:      true,
		PermissionDenied: true,
		ClosingQuestion:  true,
		Unassessed:       true,
		Check:            decision.CheckState{Message: 1<<60 + 1, Worked: true, Failed: 3, Last: 1<<61 + 1},
		Calls:            [8]uint64{1<<62 + 1, 5},
		Loop:             decision.Loop{Size: 9, Seen: at},
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
	assert.False(t, pointers(reflect.TypeFor[decision.State]()), "two states with pointers differ, whatever these point to")
}

func TestAStateIsKeptForItsTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_900_000_000, 0)
	claim := func(life time.Duration) decision.Claim {
		return decision.Claim{Token: 1, Since: now, Until: now.Add(life)}
	}
	for name, c := range map[string]struct {
		life  time.Duration
		state decision.State
		want  time.Duration
	}{
		"nothing":            {continuation.DefaultLimits().SessionLife, decision.State{}, 0},
		"by default":         {continuation.DefaultLimits().SessionLife, decision.State{UserTurn: 1}, 24 * time.Hour},
		"shorter":            {time.Minute, decision.State{UserTurn: 1}, time.Minute},
		"a claim":            {time.Minute, decision.State{UserTurn: 1, Claim: claim(10 * time.Minute)}, 10 * time.Minute},
		"a claim for good":   {continuation.DefaultLimits().SessionLife, decision.State{UserTurn: 1, Claim: decision.Claim{Token: 1, Since: now}}, records.Off},
		"without a limit":    {continuation.Off, decision.State{UserTurn: 1}, records.Off},
		"a loop":             {continuation.DefaultLimits().SessionLife, decision.State{UserTurn: 1, Loop: decision.Loop{Size: 1, Seen: now}}, decision.LoopLife},
		"a loop, whatever":   {continuation.Off, decision.State{UserTurn: 1, Loop: decision.Loop{Size: 1, Seen: now}}, decision.LoopLife},
		"settings":           {continuation.DefaultLimits().SessionLife, decision.State{Overrides: decision.Overrides{TodoContinuation: decision.SwitchedOff}}, records.Off},
		"settings, for what": {time.Minute, decision.State{Overrides: decision.Overrides{YOLO: decision.SwitchedOn}}, records.Off},
	} {
		assert.Equal(t, c.want, NewSharedStore(records.NewMemoryEngine(), c.life).keep(c.state), name)
	}
}
