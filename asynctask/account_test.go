package asynctask

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pgregory.net/rapid"

	"github.com/carryon-go/carryon/internal/delivery"
)

var (
	noon       = time.Date(2030, time.January, 1, 12, 0, 0, 0, time.UTC)
	twoEnded   = rules{history: 2, limit: Off}
	unlimited  = rules{limit: Off}
	twoRunning = rules{limit: 2}
)

// ids returns the ids of the tasks that are kept.
func ids(a account) (list []string) {
	for _, t := range a.Tasks {
		list = append(list, t.ID)
	}
	return list
}

// begun is an account with running tasks.
func begun(t require.TestingT, ids ...string) account {
	var a account
	for _, id := range ids {
		var err error
		a, err = a.begin(record{ID: id, Name: id}, noon, unlimited)
		require.NoError(t, err)
	}
	return a
}

// ended is an account with tasks that have ended, in this order.
func ended(t require.TestingT, ids ...string) account {
	a := begun(t, ids...)
	for _, id := range ids {
		var err error
		a, _, err = a.end(id, completed(Message(id)), noon, twoEnded)
		require.NoError(t, err)
	}
	return a
}

// delivered begins a delivery of everything.
func delivered(a account, token uint64) (account, *delivery.Delivery) {
	a, d, words := a.deliver(delivery.Options{}, token, noon)
	if d != nil {
		d.Text = words.text()
	}
	return a, d
}

func TestBeginAddsARunningTask(t *testing.T) {
	t.Parallel()
	a := begun(t, "one", "two")
	assert.Equal(t, []string{"one", "two"}, ids(a))
	assert.Equal(t, Running, a.find("two").state())
	assert.Equal(t, 2, a.Running)
	_, err := a.begin(record{ID: "one", Name: "again"}, noon, unlimited)
	require.ErrorIs(t, err, ErrDuplicate)
}

func TestEndIsTheOneTransitionOfATask(t *testing.T) {
	t.Parallel()
	a := begun(t, "one")
	after, task, err := a.end("one", failed(errors.New("no")), noon.Add(time.Second), twoEnded)
	require.NoError(t, err)
	assert.Equal(t, Failed, task.state())
	assert.Equal(t, noon.Add(time.Second), task.Ended)
	assert.Equal(t, 1, after.Undelivered)
	assert.Equal(t, Running, a.find("one").state(), "the account before it is as it was")

	_, _, err = after.end("one", cancelled(), noon, twoEnded)
	require.ErrorIs(t, err, ErrEnded)
	_, _, err = after.end("two", cancelled(), noon, twoEnded)
	require.ErrorIs(t, err, ErrUnknown)
}

func TestLastEndIsTheLatest(t *testing.T) {
	t.Parallel()
	a := begun(t, "one", "two")
	a.Tasks[0].Ended, a.Tasks[1].Ended = noon.Add(2), noon.Add(1)
	assert.Equal(t, noon.Add(2), a.lastEnd())
}

func TestVariablesThatAreLeftOutTwiceAreCounted(t *testing.T) {
	t.Parallel()
	vars := make(map[string]string)
	for i := range 100 {
		vars[strconv.Itoa(i)] = strings.Repeat("x", 100)
	}
	whole := completed(&Output{EmittedVars: vars})
	short := whole.kept(4 << 10).fit(2 << 10)
	assert.Equal(t, len(whole.Texts), len(short.Texts)+short.LeftOut)
}

func TestBeatMakesALifeLonger(t *testing.T) {
	t.Parallel()
	then := noon.Add(time.Minute)
	for until, want := range map[time.Time]time.Time{{}: {}, noon: then, then.Add(1): then.Add(1)} {
		a := begun(t, "one")
		a.Tasks[0].Until = until
		assert.Equal(t, want, a.beat([]string{"one"}, then).Tasks[0].Until)
		assert.Equal(t, until, a.beat(nil, then).Tasks[0].Until)
	}
}

func TestAccountIsKeptAsLongAsATaskMayRun(t *testing.T) {
	t.Parallel()
	a := begun(t, "one")
	assert.EqualValues(t, Off, a.keep(time.Hour, noon))
	a.Tasks[0].Until = noon.Add(time.Minute)
	assert.Equal(t, time.Hour+time.Minute, a.keep(time.Hour, noon))
	a = ended(t, "one")
	assert.Equal(t, time.Hour, a.keep(time.Hour, noon))
	assert.EqualValues(t, Off, a.keep(Off, noon))
}

func TestWhatEndedNeedNotBeToldAlways(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result *result
		rules  rules
		want   int
	}{
		"completed":           {completed(nil), rules{}, 1},
		"cancelled":           {cancelled(), rules{}, 0},
		"cancelled, by rule":  {cancelled(), rules{cancellations: true}, 1},
		"completed, silently": {completed(nil), rules{silent: true}, 0},
	} {
		c.rules.history = 2
		a, _, err := begun(t, "one").end("one", c.result, noon, c.rules)
		require.NoError(t, err)
		assert.Equal(t, c.want, a.Undelivered, name)
	}
}

func TestSettleHasTheOutcomesThatItSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcomes    []delivery.Outcome
		undelivered int
		told        bool
		repeated    int
		open        int
	}{
		"open":                {nil, 1, false, 0, 1},
		"unread":              {[]delivery.Outcome{delivery.Unread}, 1, false, 0, 0},
		"unread, then told":   {[]delivery.Outcome{delivery.Unread, delivery.Delivered}, 1, false, 0, 0},
		"read":                {[]delivery.Outcome{delivery.Read}, 0, true, 0, 1},
		"read, then unread":   {[]delivery.Outcome{delivery.Read, delivery.Unread}, 0, true, 0, 1},
		"read, then told":     {[]delivery.Outcome{delivery.Read, delivery.Delivered}, 0, true, 0, 0},
		"read, then repeat":   {[]delivery.Outcome{delivery.Read, delivery.Read, delivery.Repeat}, 0, true, 1, 0},
		"told":                {[]delivery.Outcome{delivery.Delivered}, 0, true, 0, 0},
		"repeat":              {[]delivery.Outcome{delivery.Repeat}, 0, true, 1, 0},
		"repeat, then repeat": {[]delivery.Outcome{delivery.Repeat, delivery.Repeat, delivery.Delivered, delivery.Unread}, 0, true, 1, 0},
	} {
		a, d := delivered(ended(t, "one"), 7)
		for _, outcome := range c.outcomes {
			a = a.settle(d, outcome, twoEnded)
		}
		assert.Equal(t, c.undelivered, a.Undelivered, name)
		assert.Equal(t, c.told, a.Told == a.Version, name)
		assert.Len(t, a.Repeated, c.repeated, name)
		assert.Len(t, a.Leases, c.open, name)
	}
}

func TestLeaseLapsesUnlessItIsRenewed(t *testing.T) {
	t.Parallel()
	a, _ := delivered(ended(t, "one"), 7)
	late := noon.Add(delivery.Life)
	assert.Empty(t, a.free(late.Add(-1)))
	assert.Equal(t, []*record{&a.Tasks[0]}, a.free(late))
	a = a.renew(7, late.Add(time.Second))
	assert.Empty(t, a.free(late))
	assert.Equal(t, a, a.renew(8, noon), "only its holder's")
}

func TestOpenLeasesAreBounded(t *testing.T) {
	t.Parallel()
	a := ended(t, "one")
	now := noon
	for token := range uint64(10 * maxLeases) {
		says := a.draft(now)
		a = a.hold(says.lease(token+1, now), now)
		now = now.Add(delivery.Life)
	}
	assert.LessOrEqual(t, len(a.Leases), maxLeases)
	for i, l := range a.Leases {
		assert.Equal(t, i == len(a.Leases)-1, len(l.Tasks) == 1, "the last of them has it")
	}
}

func TestForgetKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	a, d := delivered(ended(t, "one", "two"), 7)
	a = a.settle(d, delivery.Repeat, twoEnded)
	a, err := a.begin(record{ID: "three", Name: "three"}, noon, unlimited)
	require.NoError(t, err)
	a = a.forget()
	assert.Equal(t, []string{"three"}, ids(a))
	assert.Empty(t, a.Repeated)
	assert.Zero(t, a.OutputBytes)
}

// recount checks the counts of an account against its content.
func recount(t *rapid.T, a account) {
	var running, undelivered, bytes int
	open := map[uint64]bool{}
	for i := range a.Tasks {
		task := &a.Tasks[i]
		if i > 0 {
			require.Greater(t, task.Number, a.Tasks[i-1].Number)
		}
		require.Same(t, task, a.byNumber(task.Number))
		if task.Result == nil {
			running++
			continue
		}
		bytes += task.Result.Bytes
		if !task.Delivered {
			undelivered++
			open[task.Order] = true
		}
	}
	require.Equal(t, []int{running, undelivered, bytes}, []int{a.Running, a.Undelivered, a.OutputBytes})
	for _, l := range a.Leases {
		require.True(t, slices.IsSorted(l.Tasks))
		for _, order := range l.Tasks {
			require.True(t, open[order], "a lease holds what was not delivered, and what no other holds")
			delete(open, order)
		}
	}
	require.LessOrEqual(t, a.ToldRunning, a.Running)
	require.LessOrEqual(t, a.Told, a.Version)
}

func encode(t *rapid.T, a account) string {
	text, err := json.Marshal(a)
	require.NoError(t, err)
	return string(text)
}

// Whatever happens to an account, its counts are right, encoding and decoding do not
// change it, and the earlier account is not changed.
func TestAccountIsAValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var (
			a     account
			open  []*delivery.Delivery
			now   = noon
			token uint64
		)
		id := func() string { return strconv.Itoa(rapid.IntRange(1, 6).Draw(t, "id")) }
		draw := func() *delivery.Delivery {
			return rapid.SampledFrom(append(open, &delivery.Delivery{Lease: 1})).Draw(t, "delivery")
		}
		changes := map[string]func() account{
			"begin": func() account {
				task := record{ID: id(), Name: "name", Until: now.Add(time.Hour)}
				next, _ := a.begin(task, now, twoRunning)
				return next
			},
			"end": func() account {
				output := Message(strings.Repeat("\x00text", rapid.SampledFrom([]int{0, 1, 1000}).Draw(t, "size")))
				next, _, _ := a.end(id(), completed(output), now, rules{history: rapid.IntRange(1, 4).Draw(t, "history")})
				return next
			},
			"cancel": func() account { next, _, _ := a.end(id(), cancelled(), now, twoEnded); return next },
			"deliver": func() account {
				token++
				next, d := delivered(a, token)
				if d != nil {
					open = append(open, d)
				}
				return next
			},
			"remind": func() account {
				token++
				next, d, _ := a.remind(token, now)
				if d != nil {
					open = append(open, d)
				}
				return next
			},
			"settle": func() account {
				return a.settle(draw(), rapid.SampledFrom([]delivery.Outcome{delivery.Unread, delivery.Read, delivery.Delivered, delivery.Repeat}).Draw(t, "outcome"), twoEnded)
			},
			"renew": func() account { return a.renew(draw().Lease, now.Add(delivery.Life)) },
			"time": func() account {
				now = now.Add(delivery.Life / 2)
				return a
			},
			"shrink": func() account { return a.shrink(rapid.SampledFrom([]int{0, 4 << 10}).Draw(t, "size")) },
			"beat":   func() account { return a.beat([]string{id(), id()}, now.Add(ownerLife)) },
			"lose":   func() account { next, _ := a.endLost(now, twoEnded); return next },
			"forget": func() account { return a.forget() },
		}
		actions := map[string]func(*rapid.T){"": func(t *rapid.T) { recount(t, a) }}
		for name, change := range changes {
			actions[name] = func(t *rapid.T) {
				before, text := a, encode(t, a)
				next := change()
				require.Equal(t, text, encode(t, before), "%s changed the account before it", name)
				a = account{}
				require.NoError(t, json.Unmarshal([]byte(encode(t, next)), &a))
				a = a.with(a.Tasks)
				require.Equal(t, encode(t, next), encode(t, a))
			}
		}
		t.Repeat(actions)
	})
}
