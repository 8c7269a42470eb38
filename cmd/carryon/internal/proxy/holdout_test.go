package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/middleware"
)

// The examples of Newcombe's papers of 1998.
func TestRangesOfShares(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		count, all int
		low, high  float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {0, 0, 0, 1}, {20, 20, 0.8389, 1},
	} {
		low, high := wilson(test.count, test.all)
		assert.InDelta(t, test.low, low, 5e-5)
		assert.InDelta(t, test.high, high, 5e-5)
	}
	for _, test := range []struct {
		count, all, otherCount, otherAll int
		low, high                        float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},
		{5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775},
		{10, 10, 0, 20, 0.6791, 1},
		{10, 10, 0, 10, 0.6075, 1},
	} {
		d := newcombe(test.count, test.all, test.otherCount, test.otherAll)
		assert.InDelta(t, test.low, d.Low, 5e-5, test)
		assert.InDelta(t, test.high, d.High, 5e-5, test)
	}
	assert.False(t, difference{0.1, -0.1, 0.3}.isSure())
	assert.True(t, difference{-0.2, -0.3, -0.1}.isSure())
}

func TestRangeOfMeans(t *testing.T) {
	t.Parallel()
	var a, b sample
	for _, x := range []float64{10, 12, 14} {
		a.add(x)
		b.add(x - 10)
	}
	d := welch(a, 3, b, 3)
	assert.InDelta(t, 10, d.Value, 1e-9)
	assert.InDelta(t, 10-z*1.632993, d.Low, 1e-5)
	assert.InDelta(t, 10+z*1.632993, d.High, 1e-5)
	assert.Equal(t, difference{}, welch(sample{}, 0, sample{}, 0))
	one := sample{Sum: 3, Squares: 9}
	assert.Equal(t, difference{3, 3, 3}, welch(one, 1, sample{}, 0))
}

// day plays a day of agents: each works on a list of three todos, and if it stalls,
// stops after the first. Half of the users then say go on.
func (s *scene) day(t *testing.T, sessions int, stalls bool) {
	t.Helper()
	const begun, done = `{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"in_progress"}]}`,
		`{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"completed"}]}`
	turns := new(script)
	ask := func(c conversation, answers ...carryontest.Turn) (all bool) {
		turns.answer(s.upstream, says(answers...)...)
		s.ask(t, c)
		return len(turns.turns) == 0
	}
	for i := range sessions {
		c := conversation{session: fmt.Sprint("agent-", i), user: "Do it all.", todos: begun, stream: i%3 == 0}
		ask(c, edit().Usage(1000, 100))
		c.call = "c1"
		if stalls && !ask(c, carryontest.Text("I have done the first.").Usage(1000, 100), edit().Usage(1200, 100)) {
			if i%2 == 0 {
				continue // the user does not come back
			}
			c.user, c.call = "continue", ""
			ask(c, edit().Usage(1300, 100))
		}
		c.todos, c.call = done, "c2"
		ask(c, carryontest.Text("All done.").Usage(1500, 50))
	}
}

func TestAStrangerLearnsFromADayWhatCarryonIsWorth(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-holdout", "0.5", "-price", "3,0.3,15", "-yolo", "-metrics")
	s.day(t, 40, true)
	got := s.report(t)
	require.NotNil(t, got.Holdout)
	compared := got.Holdout
	t.Log(got.Sentence)
	t.Log(compared.Verdict)
	assert.True(t, compared.Enough)
	assert.Equal(t, 40, compared.Continued.Sessions+compared.HeldOut.Sessions)
	assert.Equal(t, compared.Continued.Sessions, compared.Continued.Finished.Count)
	assert.Less(t, compared.HeldOut.Finished.Count, compared.HeldOut.Sessions)
	assert.Zero(t, compared.Continued.Told.Count)
	assert.Equal(t, compared.HeldOut.Finished.Count, compared.HeldOut.Told.Count)
	assert.True(t, compared.Finished.isSure())
	assert.Regexp(t, `^resumed \d+ stalls in 40 sessions with a todo list; \d+ todos were finished after that, for [\d,]+ tokens \(\$0\.\d\d\); `+
		`\d+ continuations were not sent in the control group; they would have used about [\d,]+ tokens \(\$0\.\d\d\)$`, got.Sentence)
	assert.Regexp(t, `^worth it if one more finished list is worth [\d,]+ tokens \(\$0\.\d\d\) to you: lists were finished in (\d+) of (\d+) sessions with carryon and in \d+ of \d+ without: \d+ points more \(95% range: \+\d+ to \+\d+\); `+
		`users had to say "go on" in 0 sessions with carryon and in \d+ without: \d+ points fewer \(95% range: -\d+ to -\d+\); a session took \d+% more tokens \(\$0\.\d\d instead of \$0\.\d\d\)$`, compared.Verdict)

	require.IsType(t, new(Proxy), s.served.Handler)
	assert.Equal(t, []string{got.Sentence, compared.Verdict}, s.served.Handler.(*Proxy).journal.summary().Sentences(), "the last lines say the same")

	samples := s.samples(t)
	assert.InDelta(t, compared.Continued.Sessions, samples[`carryon_holdout_sessions{arm="continued",list="finished"}`], 0)
	assert.InDelta(t, compared.HeldOut.GoOns, samples[`carryon_holdout_go_on_messages{arm="held_out"}`], 0)
}

func TestAStrangerLearnsThatCarryonIsNotNeeded(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-holdout", "0.5", "-yolo")
	s.day(t, 40, false)
	got := s.report(t)
	assert.Equal(t, "was not worth it: no turn stalled in 40 sessions with a todo list; it sent nothing, and cost nothing", got.Sentence)
	assert.Equal(t, []string{got.Sentence, got.Holdout.Verdict}, s.served.Handler.(*Proxy).journal.summary().Sentences(), "the last lines say the same")
	assert.Regexp(t, `^not worth it here, because no turn stalled: lists were finished in (\d+) of (\d+) sessions with carryon and in \d+ of \d+ without: `+
		`no difference is certain \(95% range: -\d+ to \+\d+ points\); a session took 2,650 tokens$`, got.Holdout.Verdict)
}

// The comparison begins with what the reader wants to know.
func TestTheComparisonEndsInAConclusion(t *testing.T) {
	t.Parallel()
	// many returns an arm of a hundred sessions.
	many := func(finished, told, tokens int) arm {
		a := arm{Sessions: 100, Finished: finished, Told: told, GoOns: told, Used: middleware.Tokens{Input: 100 * tokens}}
		for range a.Sessions {
			a.Tokens.add(float64(tokens))
		}
		return a
	}
	// charged returns an arm whose tokens are charged for in another way.
	charged := func(a arm, tokens float64, used middleware.Tokens) arm {
		a.Used, a.Tokens = used, sample{}
		for range a.Sessions {
			a.Tokens.add(tokens)
		}
		return a
	}
	const (
		stalls = 50
		price  = "3,0.3,15"
	)
	for _, test := range []struct {
		want          string
		with, without arm
		stalls        int
		price         string
	}{
		{"worth it if one more finished list is worth 2,000 tokens to you", many(90, 0, 2000), many(40, 0, 1000), stalls, ""},
		{"worth it if one more finished list is worth 2,000 tokens ($2.00) to you", many(90, 0, 2000), many(40, 0, 1000), stalls, "1000,0,0"},
		{"worth it if one more finished list is worth 2,000 tokens (under $0.01) to you", many(90, 0, 2000), many(40, 0, 1000), stalls, "1,0,0"},
		{"worth it if one more session without a \"go on\" is worth 2,500 tokens to you", many(90, 10, 2000), many(90, 50, 1000), stalls, ""},
		{"worth it", many(90, 0, 900), many(40, 0, 1000), stalls, ""},
		{"not worth it", many(40, 0, 2000), many(90, 0, 1000), stalls, ""},
		{"not certain yet whether it is worth it", many(90, 0, 2000), many(88, 0, 1000), stalls, ""},
		{"not worth it here, because no turn stalled", many(90, 0, 2000), many(88, 0, 1000), 0, ""},
		{"better and worse: more lists are finished, but users say \"go on\" more often", many(90, 50, 2000), many(40, 10, 1000), stalls, ""},
		{"better and worse: users say \"go on\" less often, but fewer lists are finished", many(40, 10, 2000), many(90, 50, 1000), stalls, ""},

		// Fewer tokens that cost more, more tokens that cost less, and a difference that nobody would see.
		{
			"worth it if one more finished list is worth $0.03 to you",
			charged(many(90, 0, 0), 900, middleware.Tokens{Output: 90_000}), charged(many(40, 0, 0), 1000, middleware.Tokens{Cached: 100_000}), stalls, price,
		},
		{"worth it", charged(many(90, 0, 0), 2000, middleware.Tokens{Cached: 200_000}), many(40, 0, 1000), stalls, price},
		{"worth it", charged(many(90, 0, 0), 1000.1, middleware.Tokens{Input: 100_010}), many(40, 0, 1000), stalls, price},
		{"worth it", charged(many(90, 0, 0), 1000.1, middleware.Tokens{Input: 100_010}), many(40, 0, 1000), stalls, ""},
	} {
		f := newFigures(time.Now())
		f.Gone = gone{Share: 0.5, Continued: test.with, HeldOut: test.without}
		f.Worth.Unsent = test.stalls
		got := f.compare(&Config{Price: test.price, Rules: Rules{Holdout: "0.5"}})
		require.NotNil(t, got, test.want)
		assert.True(t, strings.HasPrefix(got.Verdict, test.want+": lists were finished in "), "%s: %s", test.want, got.Verdict)
	}
}

// A closing question follows a turn without a list, so it says nothing about stalls.
func TestClosingQuestionsAreNoStalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ sent, unsent, questions, stalls int }{
		{3, 0, 3, 0}, {3, 2, 3, 2}, {1, 2, 3, 0}, {4, 1, 2, 3}, {0, 0, 1, 0},
	} {
		f := figures{Counts: counts{Continuations: test.sent, Questions: test.questions}, Worth: middleware.Worth{Unsent: test.unsent}}
		assert.Equal(t, test.stalls, f.stalls(), test)
	}
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-ask", "-holdout", "0.5", "-yolo")
		s.day(t, 40, false)
		turns := new(script)
		for i := range 10 {
			turns.answer(s.upstream, says(carryontest.Text("All is written."), carryontest.Text("Nothing is open."))...)
			s.ask(t, conversation{session: fmt.Sprint("no-list-", i), noList: true, call: "c1", stream: stream})
		}
		got := s.report(t)
		assert.Equal(t, 10, got.Counts.Questions)
		assert.Equal(t, 10, got.Counts.Results.NothingOpen+got.Worth.Unsent)
		assert.Positive(t, got.Counts.Results.NothingOpen)
		assert.Positive(t, got.Worth.Unsent)
		assert.Contains(t, got.Holdout.Verdict, "not worth it here, because no turn stalled: ")
	})
}

func TestTooFewSessionsAreNotCompared(t *testing.T) {
	t.Parallel()
	nameless := newScene(t, "-holdout", "0.5", "-max-attempts", "1")
	nameless.upstream.Append(stalls()...)
	require.Equal(t, http.StatusOK, nameless.send(post(t, nameless.base, conversation{})).status)
	nameless.served.wait()
	assert.Equal(t, "nothing to compare: calls with a todo list have named no session, so none was held out; a header X-Carryon-Session would name it",
		nameless.report(t).Holdout.Verdict)
	assert.Equal(t, "nothing to compare yet: no session has had a todo list; each side needs 10", newScene(t, "-holdout", "0.5").report(t).Holdout.Verdict)
	s := newScene(t, "-holdout", "0.5", "-yolo")
	s.day(t, 3, false)
	compared := s.report(t).Holdout
	assert.False(t, compared.Enough)
	assert.Regexp(t, `^not enough sessions yet to compare: \d with carryon and \d without have had a todo list; each side needs 10$`, compared.Verdict)
	f := newFigures(time.Now())
	f.Gone = gone{Share: 0.5, Continued: arm{Sessions: 10}, HeldOut: arm{Sessions: 9}}
	assert.False(t, f.compare(&Config{Rules: Rules{Holdout: "0.5"}}).Enough, "each side needs them")
	f.Counts.Listed = 19
	assert.Equal(t, "not enough sessions yet to compare: 0 with carryon and 0 without have had a todo list; each side needs 10; "+
		"sessions that began with another share, in a dry run or while continuing was off do not count",
		f.compare(&Config{Rules: Rules{Holdout: "0.3"}}).Verdict)
	assert.Nil(t, newScene(t).report(t).Holdout)
	assert.Nil(t, newScene(t, "-holdout", "0.5", "-dry-run").report(t).Holdout)
}
