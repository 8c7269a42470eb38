package proxy

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
)

var noon = time.Date(2026, time.May, 12, 12, 0, 0, 0, time.UTC)

// fill sets every number of a struct to 1, those of the structs in it too.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch field := v.Field(i); field.Kind() { //nolint:exhaustive // the others have no numbers
		case reflect.Int, reflect.Int64:
			field.SetInt(1)
		case reflect.Float64:
			field.SetFloat(1)
		case reflect.Struct:
			if field.Type() != reflect.TypeFor[time.Time]() {
				fill(field)
			}
		}
	}
}

// doubled returns a filled value, and what JSON looks like when every number is 2.
func doubled[T any](t *testing.T) (one T, want string) {
	t.Helper()
	fill(reflect.ValueOf(&one).Elem())
	encoded, err := json.Marshal(one)
	require.NoError(t, err)
	var all []byte
	for _, c := range encoded {
		if c == '1' {
			c = '2'
		}
		all = append(all, c)
	}
	return one, string(all)
}

// A new field must be added, too.
func TestSumsHaveEveryField(t *testing.T) {
	t.Parallel()
	asJSON := func(value any) string {
		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		return string(encoded)
	}
	c, want := doubled[counts](t)
	assert.Equal(t, want, asJSON(c.plus(c)))
	b, want := doubled[bar](t)
	assert.Equal(t, want, asJSON(b.plus(b)))
	a, want := doubled[arm](t)
	assert.Equal(t, want, asJSON(a.plus(a)))
}

// talked is what a session of an arm has done.
func talked(share float64, heldOut bool, at time.Time, done, goOns int) *sessionFigures {
	return &sessionFigures{
		Name: "s", Began: at, Ended: at, Requests: 1, GoOns: goOns, Share: share, HeldOut: heldOut, Millis: 60_000,
		List: listCounts{Todos: 3, Completed: done, Active: 3 - done}, Tokens: middleware.Tokens{Input: 1000},
	}
}

func TestFiguresAreMerged(t *testing.T) {
	t.Parallel()
	a, b := newFigures(noon), newFigures(noon.Add(-time.Hour))
	for i, f := range []*figures{a, b} {
		f.take(&step{
			at: noon.Add(time.Duration(i) * time.Minute), counts: counts{Requests: 1}, worth: middleware.Worth{Resumed: 2}, bar: bar{Requests: 1},
			id: "one", session: *talked(0.5, false, noon.Add(time.Duration(i)*time.Minute), i*3, 1),
		})
	}
	b.takeSession("two", talked(0.5, true, noon, 0, 0))
	a.merge(b, noon)
	assert.Equal(t, noon.Add(-time.Hour), a.Began)
	assert.Equal(t, 2, a.Counts.Requests)
	assert.Equal(t, 4, a.Worth.Resumed)
	assert.Len(t, a.Chart.Minutes, 2)
	assert.Equal(t, 2, a.Chart.Days[noon.Unix()/86400].Requests)
	require.Len(t, a.Sessions, 2)
	assert.True(t, a.Sessions["one"].List.isFinished(), "the later list counts")
	assert.Equal(t, 2, a.Sessions["one"].GoOns)
	assert.Equal(t, noon, a.Sessions["one"].Began)
}

// There are figures of so many sessions; the arms of the others are not lost.
func TestFiguresAreBounded(t *testing.T) {
	t.Parallel()
	f := newFigures(noon)
	for i := range maxSessions + 300 {
		f.takeSession(strconv.Itoa(i), talked(0.5, i%2 == 0, noon.Add(time.Duration(i)*time.Second), 3, 0))
	}
	assert.Len(t, f.Sessions, maxSessions)
	assert.NotContains(t, f.Sessions, "299")
	assert.Contains(t, f.Sessions, "300")
	continued, heldOut := f.arms(0.5)
	assert.Equal(t, maxSessions/2+150, continued.Sessions)
	assert.Equal(t, maxSessions/2+150, heldOut.Finished)
	assert.InDelta(t, 60, continued.Seconds.mean(continued.Sessions), 0)
	encoded, err := json.Marshal(f)
	require.NoError(t, err)
	assert.Less(t, len(encoded), 600<<10)
}

// The figures of both arms are of one share: a session that has seen two is in none.
func TestHoldoutThatIsChanged(t *testing.T) {
	t.Parallel()
	f := newFigures(noon)
	count := func(share float64) (n int) {
		a, b := f.arms(share)
		return a.Sessions + b.Sessions
	}
	f.takeSession("early", talked(0.2, false, noon, 3, 0))
	f.takeSession("both", talked(0.2, false, noon, 0, 0))
	f.takeSession("both", talked(0.5, true, noon.Add(time.Hour), 3, 0))
	f.takeSession("late", talked(0.5, true, noon.Add(time.Hour), 3, 0))
	assert.Equal(t, 1, count(0.2))
	assert.Equal(t, 1, count(0.5))
	assert.Zero(t, count(0.3))
	f.takeSession("early", talked(0.5, false, noon.Add(time.Hour), 3, 0))
	assert.Zero(t, count(0.2))
	assert.Equal(t, 1, count(0.5), "it began with another share")

	for _, c := range f.Sessions { // what is dropped is not mixed either
		f.Gone.take(&c)
	}
	f.Gone.take(talked(0.2, false, noon.Add(-time.Hour), 3, 0))
	assert.InDelta(t, 0.5, f.Gone.Share, 0)
	assert.Equal(t, 1, f.Gone.HeldOut.Sessions)
	f.Gone.take(talked(0.7, false, noon.Add(2*time.Hour), 3, 0))
	assert.InDelta(t, 0.7, f.Gone.Share, 0)
	assert.Zero(t, f.Gone.HeldOut.Sessions)
}

// Time passes as the session saw it, whatever somebody does to the clock.
func TestClockThatJumps(t *testing.T) {
	t.Parallel()
	none := new(sessionFigures)
	known := &sessionFigures{Ended: noon}
	for want, test := range map[time.Duration]struct {
		known        *sessionFigures
		began, ended time.Duration // after noon
	}{
		3 * time.Second:         {none, 0, 3 * time.Second},
		0:                       {none, 0, -time.Hour},
		5 * time.Second:         {known, 2 * time.Second, 5 * time.Second},
		maxGap + time.Second:    {known, 8 * time.Hour, 8*time.Hour + time.Second},
		1 * time.Second:         {known, -4 * time.Second, time.Second}, // two at the same time
		2*time.Second - 1:       {known, -time.Hour, 2*time.Second - 1},
		maxGap:                  {known, 365 * 24 * time.Hour, 0},
		time.Millisecond * 1500: {new(sessionFigures), time.Second, 2500 * time.Millisecond},
	} {
		assert.Equal(t, want, test.known.timeOf(noon.Add(test.began), noon.Add(test.ended)), "%+v", test)
	}
	assert.Zero(t, known.timeOf(noon.Add(-2*time.Hour), noon.Add(-time.Hour)), "the clock went back")
	back := exchange{Began: noon, Ended: noon.Add(-time.Hour)}
	assert.Zero(t, back.Took())

	c := newChart()
	c.add(noon, bar{Requests: 1})
	c.add(noon.Add(1000*time.Hour), bar{Requests: 1})
	assert.Len(t, c.Minutes, 1)
	assert.Len(t, c.Days, 2)
	c.add(noon.Add(time.Minute), bar{Requests: 1})
	assert.Len(t, c.Minutes, 1, "the future is not shown")
	c.add(noon.Add(2*time.Minute), bar{Requests: 1})
	assert.Len(t, c.Minutes, 2)
	assert.Len(t, c.Days, 1)
	c.add(noon.Add(1e6*time.Hour), bar{})
	assert.Len(t, c.Days, 1)
}

// What somebody has kept while a clock was wrong does not push out what comes later.
func TestChartOfAClockThatWasWrong(t *testing.T) {
	t.Parallel()
	kept := newChart()
	kept.add(noon, bar{Requests: 1})
	wrong := newChart()
	wrong.add(noon.Add(1e6*time.Hour), bar{Requests: 1})
	kept.merge(&wrong, noon)
	for i := range 3 {
		later, now := newChart(), noon.Add(time.Duration(i)*time.Minute)
		later.add(now.Add(maxSkew), bar{Requests: 1}) // by a clock that is a little ahead
		kept.merge(&later, now)
	}
	assert.Len(t, kept.Minutes, 4)
	assert.Len(t, kept.Quarters, 1)
	assert.Equal(t, bars{noon.Unix() / 86400: {Requests: 4}}, kept.Days)
}

func TestChartKeepsSoMuch(t *testing.T) {
	t.Parallel()
	c := newChart()
	for i := range 3 * 24 * 60 {
		c.add(noon.Add(time.Duration(i)*time.Minute), bar{Requests: 1})
	}
	assert.Len(t, c.Minutes, 60)
	assert.Len(t, c.Quarters, 96)
	assert.Len(t, c.Days, 4)
}

// What carryon did not do because it was told not to says nothing about it.
func TestSessionsThatWereNotContinuedOnPurposeAreNotCompared(t *testing.T) {
	t.Parallel()
	for want, o := range map[bool]*middleware.Outcome{
		true: {DryRun: true, Reason: reasons.Satisfied}, false: {Reason: reasons.ToolCalls},
	} {
		known, e := new(sessionFigures), &entry{exchange: exchange{Began: noon, Ended: noon}}
		assert.Equal(t, want, since(known, e, o).Mixed)
	}
	off := since(new(sessionFigures), new(entry), &middleware.Outcome{Reason: reasons.Disabled})
	assert.True(t, off.Mixed)
}

// What is kept is what is counted: encoded and decoded, it is the same.
func TestFiguresAsJSON(t *testing.T) {
	t.Parallel()
	f := newFigures(noon)
	f.take(&step{at: noon, counts: counts{Requests: 1}, bar: bar{Requests: 1}, id: "one", session: *talked(0.5, true, noon, 3, 1)})
	f.Gone.take(talked(0.5, true, noon, 3, 1))
	encoded, err := json.Marshal(f)
	require.NoError(t, err)
	var decoded figures
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	assert.Equal(t, f, &decoded)
}
