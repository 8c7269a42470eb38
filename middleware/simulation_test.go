package middleware_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/adapter/join"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// work is a job for an agent: a list, and a model that needs callsEach tool calls for
// each item. In any turn the model may announce a step and stop, report what it did and
// stop, ask for leave, say nothing, or be unreachable. When it is asked to carry on, it
// stops half as often.
type work struct {
	rng                           *rand.Rand
	items, done, calls            int
	stalls, reports, blank, fails float64
	asks                          float64
	repeats                       float64 // the share of continuations that stop with the words of the turn before
	said                          string  // the last text
	listless                      bool    // it keeps no list

	// Words that are repeated for long.
	gateway, stuck float64 // the shares of turns that a gateway's own text begins at, and of stopped continuations that begin to repeat theirs
	persists       float64 // the chance that either is said once more
	disguised      bool    // with another number each time, so that no rule sees the repetition
	again          string  // what is said over and over, "" for nothing
	times          int
}

const callsEach = 3

// Todos is the list.
func (w *work) Todos(context.Context) ([]todo.Todo, error) {
	if w.listless {
		return nil, todo.ErrNoList
	}
	list := make([]todo.Todo, w.items)
	for i := range list {
		list[i] = todo.Todo{ID: strconv.Itoa(i), Content: fmt.Sprint("Item ", i), Status: todo.Pending}
		if i < w.done {
			list[i].Status = todo.Completed
		}
	}
	return list, nil
}

// turn is what the model answers.
func (w *work) turn(ctx context.Context, k *adapter.Continuation) (sdkAnswer, error) {
	if w.repeatsAgain() {
		return w.saysAgain(w.again), nil
	}
	answer, err := w.newTurn(ctx, k)
	if k == nil || err != nil || answer.Text == "" || w.done == w.items {
		w.said = answer.Text
		return answer, err
	}
	switch p := w.rng.Float64(); {
	case p < w.stuck:
		w.again = w.said
		fallthrough
	case p < w.stuck+w.repeats:
		return w.saysAgain(w.said), nil
	}
	w.said = answer.Text
	return answer, err
}

// repeatsAgain reports whether the turn is the same text over and over, of a gateway or of
// the model.
func (w *work) repeatsAgain() bool {
	switch {
	case w.again != "" && w.rng.Float64() >= w.persists:
		w.again = ""
	case w.again == "" && w.gateway > 0 && w.rng.Float64() < w.gateway:
		w.again = "The usage limit of 100 requests is reached. Try again later."
	}
	return w.again != ""
}

// saysAgain is a text that was said before. All texts have a number, so that one in
// disguise differs in that alone: whatever else is read in it stays the same.
func (w *work) saysAgain(text string) sdkAnswer {
	w.times++
	if !w.disguised {
		return says(text)
	}
	before := strings.IndexFunc(text, unicode.IsDigit)
	after := strings.LastIndexFunc(text, unicode.IsDigit) + 1
	return says(fmt.Sprint(text[:max(before, 0)], w.times, text[after:]))
}

// newTurn is an answer that says something new.
func (w *work) newTurn(_ context.Context, k *adapter.Continuation) (sdkAnswer, error) {
	share := 1.0
	if k != nil {
		share = 0.5
	}
	switch p := w.rng.Float64(); {
	case p < w.fails:
		return sdkAnswer{}, &adapter.StatusError{Status: 529, Err: errOverloaded}
	case p < w.fails+w.blank:
		return says(""), nil
	case w.done == w.items && w.listless && k != nil:
		return says("Nothing is open."), nil
	case w.done == w.items:
		return says("All is done."), nil
	}
	switch p := w.rng.Float64() / share; {
	case p < w.stalls:
		return says(fmt.Sprint("Next I will go on with part ", w.rng.Int(), ".")), nil
	case p < w.stalls+w.reports:
		return says(fmt.Sprint("Part ", w.rng.Int(), " is done.")), nil
	case p < w.stalls+w.reports+w.asks:
		return says(fmt.Sprint("Shall I go on with part ", w.rng.Int(), "?")), nil
	}
	w.calls++
	if w.calls%callsEach == 0 {
		w.done++
	}
	return calls(edit(fmt.Sprint("c", w.calls))), nil
}

// result is what came of a job.
type result struct {
	done  bool
	added int // continuations
	waste int // those that no tool call answered
	typed int // messages of the person, each of which only says go on
	leave int // questions for leave that carryon answered, though a person was there
}

// maxTyped is how often the person says go on before they give up.
const maxTyped = 40

// finish runs an agent that goes on as long as the model calls tools, and whose SDK
// retries twice. If a person is there, they say "go on" whenever the agent stops early.
func (w *work) finish(t *testing.T, mw *middleware.Middleware, session string, attended bool) (r result) {
	t.Helper()
	users, message := 1, "Do it."
	for loop, tries := 0, 0; ; loop++ {
		request := adapter.Request{Tools: 1, Users: users, User: message, Unanswered: loop == 0, Messages: 1 + 2*loop, History: afterCalls(loop)}
		call, _ := join.Begin(inSession(t, session), mw, request)
		answer, err := join.Unary(call, &answers{usageTotals: newUsageTotals()}, w.turn)
		r.added += call.Outcome().Attempts
		r.waste += call.Outcome().Attempts
		if call.Outcome().Continued() && len(answer.Calls) > 0 {
			r.waste--
		}
		if attended && strings.Contains(answer.Text, "?\n\n") {
			r.leave++
		}
		switch {
		case err != nil && tries < 2:
			tries++
			continue
		case err == nil && len(answer.Calls) > 0:
			tries = 0
			continue
		case w.done == w.items, !attended, r.typed == maxTyped:
			r.done = w.done == w.items
			return r
		}
		r.typed++
		users, message, loop, tries = users+1, "go on", -1, 0
	}
}

// totals are the results of many jobs.
type totals struct {
	sessions, finished, alone, added, waste, typed, leave, calls int
}

func (s *totals) add(r result, calls int) {
	s.sessions++
	s.added, s.typed, s.leave, s.calls = s.added+r.added, s.typed+r.typed, s.leave+r.leave, s.calls+calls
	s.waste += r.waste
	if r.done {
		s.finished++
	}
	if r.done && r.typed == 0 {
		s.alone++
	}
}

func (s *totals) share(n int) float64 { return float64(n) / float64(s.sessions) }

func (s *totals) String() string {
	return fmt.Sprintf("%5.1f %% finished, %5.1f %% without a word, %.2f continuations for each tool call; per 100 sessions %3.0f wasted, %3.0f words and %2.0f questions answered",
		100*s.share(s.finished), 100*s.share(s.alone), float64(s.added)/float64(s.calls), 100*s.share(s.waste), 100*s.share(s.typed), 100*s.share(s.leave))
}

// Where nobody is there, the rules finish nearly all of the work of models that stop too
// early, ask for leave, say nothing, or cannot be reached. Where a person is there, their
// questions are theirs, and stalls are not. The cost is bounded in both modes.
func TestWorkIsFinishedInASimulation(t *testing.T) {
	t.Parallel()
	const sessions = 150
	for name, tt := range map[string]struct {
		work  work
		yolo  float64 // the least share of the sessions that finish where nobody is there
		alone float64 // the least share that a person need not say a word in
		most  float64 // continuations for each tool call
	}{
		"short tasks":                 {work{items: 4, stalls: 0.3}, 0.95, 0.95, 0.6},
		"long tasks":                  {work{items: 20, stalls: 0.3}, 0.95, 0.95, 0.6},
		"reports":                     {work{items: 20, reports: 0.15}, 0.95, 0.1, 0.3},
		"questions":                   {work{items: 20, stalls: 0.1, asks: 0.05}, 0.95, 0.01, 0.3},
		"failures":                    {work{items: 20, stalls: 0.3, fails: 0.05}, 0.9, 0.9, 0.6},
		"blank turns":                 {work{items: 20, stalls: 0.3, blank: 0.03}, 0.9, 0.9, 0.6},
		"words said again":            {work{items: 20, stalls: 0.3, repeats: 0.1}, 0.95, 0.95, 0.6},
		"long tasks of better models": {work{items: 20, stalls: 0.1}, 0.98, 0.98, 0.3},
		"all of it":                   {work{items: 10, stalls: 0.15, reports: 0.1, asks: 0.05, blank: 0.02, fails: 0.02}, 0.9, 0.05, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var without, yolo, standard totals
			for seed := range uint64(sessions) {
				for sum, option := range map[*totals]middleware.Option{
					&without: middleware.WithDryRun(), &yolo: middleware.WithApprovalMode(continuation.ApprovalYOLO), &standard: nil,
				} {
					w := tt.work
					w.rng = rand.New(rand.NewPCG(seed, 17))
					mw := middleware.New(&w, option, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))
					sum.add(w.finish(t, mw, "s", sum == &standard), w.calls)
				}
			}
			t.Logf("without carryon:             %v", &without)
			t.Logf("yolo, nobody is there:       %v", &yolo)
			t.Logf("standard, a person is there: %v", &standard)
			assert.LessOrEqual(t, without.share(without.finished), 0.05)
			assert.GreaterOrEqual(t, yolo.share(yolo.finished), tt.yolo)
			assert.GreaterOrEqual(t, standard.share(standard.finished), 0.99, "the person sees to it")
			assert.GreaterOrEqual(t, standard.share(standard.alone), tt.alone)
			assert.Zero(t, standard.leave, "no question is answered in the person's place")
			for _, sum := range []*totals{&yolo, &standard} {
				assert.LessOrEqual(t, float64(sum.added)/float64(sum.calls), tt.most)
			}
			require.Positive(t, yolo.finished)
		})
	}
}

// afterCalls is the history of a user turn that has called tools so many times.
func afterCalls(n int) iter.Seq[adapter.Entry] {
	return func(yield func(adapter.Entry) bool) {
		for range n {
			if !yield(adapter.Entry{Call: todo.Call{Name: "edit_file", Result: "ok", Answered: true}}) {
				return
			}
		}
		yield(adapter.Entry{FromUser: true})
	}
}

// Where an agent keeps no list, the question whether anything is open finishes a good part of the work that stops too early, for a
// few requests: after turns that show that they stalled, or, if the program wants that, after each.
func TestQuestionFinishesWorkInASimulation(t *testing.T) {
	t.Parallel()
	const sessions = 300
	nobody := middleware.WithApprovalMode(continuation.ApprovalYOLO)
	var without, some, with totals
	for seed := range uint64(sessions) {
		for sum, options := range map[*totals][]middleware.Option{
			&without: nil, &some: {nobody}, &with: {nobody, middleware.WithClosingQuestion()},
		} {
			w := work{items: 4, stalls: 0.05, reports: 0.03, listless: true, rng: rand.New(rand.NewPCG(seed, 23))}
			options = append(options, middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off}))
			sum.add(w.finish(t, middleware.New(&w, options...), "s", false), w.calls)
		}
	}
	t.Logf("without the question: %v", &without)
	t.Logf("after a stall:        %v; %.1f requests a session", &some, some.share(some.added))
	t.Logf("after each user turn: %v; %.1f requests a session", &with, with.share(with.added))
	assert.Less(t, without.share(without.finished), 0.5)
	assert.GreaterOrEqual(t, with.share(with.finished), 0.8)
	assert.GreaterOrEqual(t, some.share(some.finished), 0.6)
	assert.Less(t, some.added, with.added/2)
	assert.Zero(t, without.added)
	assert.LessOrEqual(t, with.share(with.added), 3.0)
}

// Texts that are repeated word for word mostly persist: a limit that a gateway writes into an answer, an announcement over and over.
// There, ending at the second repetition in a row costs next to no work and saves continuations. It has a price only where a model
// repeats itself often and yet goes on. Without the limit, the same texts have a number, so that they are not seen to be the same.
func TestLimitOfRepetitionsCostsNoWorkInASimulation(t *testing.T) {
	t.Parallel()
	weak := work{items: 10, stalls: 0.15, reports: 0.1, asks: 0.05, blank: 0.02, fails: 0.02}
	type waste map[continuation.ApprovalMode]float64
	persistent, half := weak, weak
	persistent.gateway, persistent.stuck, persistent.persists = 0.0005, 0.01, 0.98
	half.repeats = 0.5
	for name, tt := range map[string]struct {
		work  work
		costs float64 // the most sessions that the limit may leave unfinished
		waste waste   // the most continuations that it may waste, as a share of those without it
	}{
		// In the default mode, where a person goes on after it, a repetition by chance costs as
		// much with the limit as without: 171 in a hundred sessions, of 3000. The rest is
		// chance, for the sessions differ from the limit on.
		"texts that persist":                      {persistent, 0.003, waste{continuation.ApprovalYOLO: 1, continuation.ApprovalDefault: 1}},
		"half of the stalls, each time by chance": {half, 0.06, waste{continuation.ApprovalYOLO: 1, continuation.ApprovalDefault: 1.02}},
	} {
		for _, mode := range []continuation.ApprovalMode{continuation.ApprovalYOLO, continuation.ApprovalDefault} {
			t.Run(fmt.Sprint(name, " ", mode), func(t *testing.T) {
				t.Parallel()
				with, without := tt.work.repeated(t, mode)
				t.Logf("with the limit:    %v", &with)
				t.Logf("without the limit: %v", &without)
				assert.GreaterOrEqual(t, with.share(with.finished), without.share(without.finished)-tt.costs)
				assert.LessOrEqual(t, float64(with.waste), tt.waste[mode]*float64(without.waste))
			})
		}
	}
}

// repeated runs a job many times, with the limit of repetitions and without it.
func (w *work) repeated(t *testing.T, mode continuation.ApprovalMode) (with, without totals) {
	t.Helper()
	const sessions = 400
	limits := middleware.WithLimits(continuation.Limits{MinInterval: continuation.Off})
	for seed := range uint64(sessions) {
		for sum, disguised := range map[*totals]bool{&with: false, &without: true} {
			w := *w
			w.rng, w.disguised = rand.New(rand.NewPCG(seed, 29)), disguised
			mw := middleware.New(&w, middleware.WithApprovalMode(mode), limits)
			sum.add(w.finish(t, mw, "s", mode != continuation.ApprovalYOLO), w.calls)
		}
	}
	return with, without
}
