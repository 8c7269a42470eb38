package session_test

import (
	"context"
	"math"
	"math/bits"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/decision"
	"github.com/carryon-go/carryon/internal/session"
	"github.com/carryon-go/carryon/internal/testkit/recordtest"
)

// testStore checks that a store does what carryon relies on: unknown keys have the zero
// state, every field of a state comes back (times as instants, to the millisecond),
// updates of one key run one after another, however many goroutines make them, and no
// two keys share a state. An update that fails must have stored nothing.
func testStore(t *testing.T, open func() session.Store) {
	t.Helper()
	for _, rule := range storeRules() {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			rule.check(&storeCheck{TB: t, store: open()})
		})
	}
}

// twoStores are one store as two processes have it, used alternately.
type twoStores struct {
	a, b session.Store
	used atomic.Uint64
}

func (s *twoStores) Update(ctx context.Context, key string, f func(decision.State) decision.State) error {
	if bits.OnesCount64(s.used.Add(1))%2 == 0 { // an order without a period, so that each reads what the other wrote
		return s.b.Update(ctx, key, f)
	}
	return s.a.Update(ctx, key, f)
}

// storeRule is one thing that a store must get right.
type storeRule struct {
	name  string
	check func(*storeCheck)
}

func storeRules() []storeRule {
	return []storeRule{
		{"unknown keys have the zero state", (*storeCheck).unknownKeys},
		{"an update is kept", (*storeCheck).keepsUpdates},
		{"every field comes back", (*storeCheck).everyField},
		{"states of all kinds come back", (*storeCheck).kindsOfStates},
		{"a state can become zero again", (*storeCheck).backToZero},
		{"keys are isolated", (*storeCheck).isolatedKeys},
		{"updates are atomic", (*storeCheck).atomicUpdates},
		{"only one call gets a claim", (*storeCheck).claims},
		{"keys do not disturb one another", (*storeCheck).concurrentKeys},
		{"an error means that nothing was stored", (*storeCheck).endedContext},
		{"a panic changes nothing", (*storeCheck).panics},
	}
}

// storeCheck is one check, of its own store.
type storeCheck struct {
	testing.TB

	store session.Store
}

// update fails the check if the store fails or never runs f.
func (c *storeCheck) update(key string, f func(decision.State) decision.State) {
	c.Helper()
	ran := false
	require.NoError(c, c.store.Update(c.Context(), key, func(s decision.State) decision.State {
		ran = true
		return f(s)
	}), "key %q", key)
	require.True(c, ran, "key %q: Update has to run f", key)
}

func (c *storeCheck) put(key string, s decision.State) {
	c.Helper()
	c.update(key, func(decision.State) decision.State { return s })
}

func (c *storeCheck) get(key string) decision.State {
	c.Helper()
	var got decision.State
	c.update(key, func(s decision.State) decision.State {
		got = s
		return s
	})
	return got
}

func (c *storeCheck) unknownKeys() {
	assert.Equal(c, decision.State{}, c.get("unknown"))
	assert.Equal(c, decision.State{}, c.get("unknown"), "a look changes nothing")
	c.put("known", decision.State{Attempts: 1})
	assert.Equal(c, decision.State{}, c.get("unknown"))
}

func (c *storeCheck) keepsUpdates() {
	for want := range 5 {
		c.update("a", func(s decision.State) decision.State {
			assert.Equal(c, want, s.Attempts, "f gets what was stored last, each time it runs")
			s.Attempts++
			return s
		})
	}
	assert.Equal(c, 5, c.get("a").Attempts)
	assert.Equal(c, 5, c.get("a").Attempts, "a look changes nothing")
}

func (c *storeCheck) everyField() {
	var want decision.State
	fillState(c, reflect.ValueOf(&want).Elem(), new(int64))
	c.put("a", want)
	assert.Equal(c, tidy(want), tidy(c.get("a")))
}

func (c *storeCheck) kindsOfStates() {
	at := time.Date(2030, time.March, 1, 12, 0, 0, int(987*time.Millisecond), time.UTC)
	for name, want := range map[string]decision.State{
		"paused":            {Paused: continuation.Pause{Reason: "No file\n\"a\\b\" \u2028 \U0001f6d1 <&>", Since: at}},
		"claimed":           {Claim: decision.Claim{Token: math.MaxUint64, Since: at}, Attempts: 1, Continuations: 1, LastPrompt: at},
		"claimed and ended": {Attempts: 1, Continuations: 1, Tokens: 1 << 40, LastPrompt: at},
		"timed out":         {LastResult: decision.ResultTimeout},
		"empty list seen":   {Watermarks: decision.Watermarks{Set: true}},
		"stale":             {Stale: 1<<63 + 1},
		"cancelled":         {Cancelled: true},
		"odd message":       {Message: 1<<53 + 1},
		"text agent":        {UserTurn: 7, Message: 1<<63 + 7, TextLength: len("Question")},
		"elsewhere":         {Paused: continuation.Pause{Reason: "x", Since: at.In(time.FixedZone("", 3600))}},
	} {
		c.put(name, want)
		assert.Equal(c, tidy(want), tidy(c.get(name)), name)
	}
}

func (c *storeCheck) backToZero() {
	c.put("a", decision.State{Attempts: 1, Paused: continuation.Pause{Reason: "x", Since: time.Unix(1_900_000_000, 0)}})
	c.put("a", decision.State{})
	assert.Equal(c, decision.State{}, tidy(c.get("a")))
}

func (c *storeCheck) isolatedKeys() {
	keys := recordtest.AwkwardKeys()
	for i, key := range keys {
		c.put(key, decision.State{Tokens: i + 1})
	}
	for i, key := range keys {
		assert.Equal(c, decision.State{Tokens: i + 1}, c.get(key), "key %q", key)
	}
}

// fillState sets every field below v to a value that is neither zero nor that of another field, so that fields that State
// gets later are checked too.
func fillState(tb testing.TB, v reflect.Value, n *int64) {
	tb.Helper()
	*n++
	switch v.Kind() { //nolint:exhaustive // the rest fails below
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMilli(1_900_000_000_123 + *n)))
			return
		}
		for i := range v.NumField() {
			fillState(tb, v.Field(i), n)
		}
	case reflect.Uint64:
		v.SetUint(math.MaxUint64 - uint64(*n)) //nolint:gosec // small
	case reflect.Array:
		for i := range v.Len() {
			fillState(tb, v.Index(i), n)
		}
	case reflect.Uint8:
		v.SetUint(uint64(*n)) //nolint:gosec // small
	case reflect.Int:
		v.SetInt(100 + *n)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text \u00e9 'quoted' \"quoted\"")
	default:
		require.Fail(tb, "a kind of field that testStore does not know", v.Kind().String())
	}
}

// tidy returns s with its times in UTC, to the millisecond, so that equal instants are equal.
func tidy(s decision.State) decision.State {
	for _, at := range []*time.Time{&s.LastPrompt, &s.Claim.Since, &s.Claim.Until, &s.Loop.Seen, &s.Paused.Since, &s.Waiting.Since} {
		if at.IsZero() {
			*at = time.Time{}
			continue
		}
		*at = at.Round(time.Millisecond).UTC()
	}
	return s
}
