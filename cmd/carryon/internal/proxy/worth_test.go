package proxy

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/internal/reasons"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// A reader learns from one sentence whether carryon is worth it to them.
func TestWorthIsASentence(t *testing.T) {
	t.Parallel()
	tokens := middleware.Tokens{Input: 2000, Cached: 20, Output: 20}
	priced, dry := &Config{Price: "500,0,0"}, &Config{Rules: Rules{DryRun: true}}
	tests := map[string]struct {
		config *Config
		counts counts
		worth  middleware.Worth
	}{
		"has seen no call of a model yet":                                                                                               {},
		"was of no use: 3 calls had no todo list, so there was nothing to continue":                                                     {counts: counts{Calls: 3}},
		"was not worth it: no turn stalled; it sent nothing, and cost nothing":                                                          {counts: counts{Calls: 3, Lists: 1}},
		"was not worth it: no turn stalled in 2 sessions with a todo list; it sent nothing, and cost nothing":                           {counts: counts{Calls: 3, Lists: 1, Listed: 2}},
		"sent 2 continuations, for 2,040 tokens; what came of that is not known":                                                        {counts: counts{Calls: 3, Continuations: 2}, worth: middleware.Worth{Tokens: tokens}},
		"left 3 calls alone, because continuing was switched off":                                                                       {counts: counts{Calls: 3, Off: 3}},
		"was not worth it: no turn stalled; it sent nothing, and cost nothing; left 3 calls alone, because continuing was switched off": {counts: counts{Calls: 4, Off: 3, Lists: 1}},
		"resumed 2 stalls in 5 sessions with a todo list; 3 todos were finished after that, for 2,040 tokens; the model paused once and said why": {
			counts: counts{Calls: 9, Continuations: 3, Listed: 5}, worth: middleware.Worth{Resumed: 2, Finished: 3, Tokens: tokens, Paused: 1},
		},
		"asked 3 times whether anything was open, for 2,040 tokens; the model went on after 2 of them": {
			counts: counts{Calls: 9, Continuations: 3}, worth: middleware.Worth{Questions: 3, Reopened: 2, Tokens: tokens},
		},
		"asked twice whether anything was open, for 0 tokens; the model went on after none of them": {
			counts: counts{Calls: 9, Continuations: 2}, worth: middleware.Worth{Questions: 2},
		},
		"asked once whether anything was open, for 0 tokens, and the model did not go on": {
			counts: counts{Calls: 9, Continuations: 1}, worth: middleware.Worth{Questions: 1},
		},
		"asked once whether anything was open, for 0 tokens, and the model went on": {
			counts: counts{Calls: 9, Continuations: 1}, worth: middleware.Worth{Questions: 1, Reopened: 1},
		},
		"was not worth it so far: it resumed no stall, and used 2,040 tokens; it asked once whether anything was open, and the model did not go on; 5 continuations were unwanted": {
			counts: counts{Calls: 9, Continuations: 6}, worth: middleware.Worth{Questions: 1, NoProgress: 5, Tokens: tokens},
		},
		"resumed 1 stall; 1 todo was finished after that, for 2,040 tokens; it asked 3 times whether anything was open; the model went on after 1 of them": {
			counts: counts{Calls: 9, Continuations: 4}, worth: middleware.Worth{Resumed: 1, Finished: 1, Questions: 3, Reopened: 1, Tokens: tokens},
		},
		"resumed 1 stall; 1 todo was finished after that, for 2,040 tokens ($1.00)": {
			config: priced, counts: counts{Calls: 9, Continuations: 3}, worth: middleware.Worth{Resumed: 1, Finished: 1, Tokens: tokens},
		},
		"resumed 1 stall; 1 todo was finished after that, for 1 token (under $0.01); 1 continuation was not sent in the control group; it would have used about 12 tokens (under $0.01)": {
			config: &Config{Price: "3,0,0"}, counts: counts{Calls: 9, Continuations: 1},
			worth: middleware.Worth{Resumed: 1, Finished: 1, Tokens: middleware.Tokens{Input: 1}, Unsent: 1, Estimate: middleware.Tokens{Input: 12}},
		},
		"resumed 1,234 stalls in 1,000 sessions with a todo list; 2,000 todos were finished after that, for 2,040 tokens": {
			counts: counts{Calls: 9, Continuations: 1234, Listed: 1000}, worth: middleware.Worth{Resumed: 1234, Finished: 2000, Tokens: tokens},
		},
		"resumed no stall so far in 2 sessions with a todo list, for 2,040 tokens ($1.00); the model paused once and said why": {
			config: priced, counts: counts{Calls: 9, Continuations: 1, Listed: 2}, worth: middleware.Worth{Paused: 1, Tokens: tokens},
		},
		"was not worth it so far: it resumed no stall, and used 0 tokens; the model paused once and said why; 5 continuations were unwanted": {
			counts: counts{Calls: 9, Continuations: 6}, worth: middleware.Worth{Paused: 1, Repeated: 2, NoProgress: 3},
		},
		"would have sent 1 continuation, for about 1,234,567 tokens; that is an estimate of first stalls only, because nobody knows what would have followed": {
			config: dry, counts: counts{Calls: 9, Lists: 9}, worth: middleware.Worth{Unsent: 1, Estimate: middleware.Tokens{Input: 1234567}},
		},
		"resumed 1 stall; 1 todo was finished after that, for 2,040 tokens; 2 continuations were not sent in the control group; they would have used about 12 tokens": {
			counts: counts{Calls: 9, Continuations: 1},
			worth:  middleware.Worth{Resumed: 1, Finished: 1, Tokens: tokens, Unsent: 2, Estimate: middleware.Tokens{Input: 12}},
		},
	}
	for want, test := range tests {
		config := test.config
		if config == nil {
			config = new(Config)
		}
		f := figures{Counts: test.counts, Worth: test.worth}
		assert.Equal(t, want, f.sentence(config))
	}
}

// A conversation over two calls: the second shows what the first was worth.
func TestPageAndLastLineSayWhatContinuationsWereWorth(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-price", "10,1,100")
		s.ask(t, conversation{session: "a", stream: stream}, carryontest.Text(plan), edit().Usage(100000, 1000))
		finished := `{"todos":[{"id":"1","content":"Write the parser","status":"completed"}]}`
		s.ask(t, conversation{session: "a", call: "c1", todos: finished, stream: stream}, carryontest.Text("Done."))
		got := s.report(t).Worth
		assert.Equal(t, middleware.Worth{Resumed: 1, Finished: 1, Tokens: middleware.Tokens{Input: 100000, Output: 1000}}, got.Worth)
		require.NotNil(t, got.Money)
		assert.InDelta(t, 1.1, *got.Money, 1e-9)
		assert.Equal(t, "resumed 1 stall in 1 session with a todo list; 1 todo was finished after that, for 101,000 tokens ($1.10)", s.report(t).Sentence)
		assert.Contains(t, s.logs.String(), `msg="carryon: worth"`)
	})
}

func TestPageSaysWhatADryRunWouldHaveSent(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-dry-run")
		s.ask(t, conversation{session: "a", stream: stream}, carryontest.Text(plan).Usage(100, 10))
		got := s.report(t).Worth
		assert.Equal(t, 1, got.Unsent)
		assert.Equal(t, 10, got.Estimate.Output)
		assert.Greater(t, got.Estimate.Input, 110)
		assert.Nil(t, got.Money)
		assert.Zero(t, got.Tokens)
	})
}

func TestSummaryIsALine(t *testing.T) {
	t.Parallel()
	list := continuation.List{Todos: 3, Active: 1, Completed: 2}
	for want, s := range map[string]Summary{
		"0 requests, 0 continuations, no call of a model seen":                           {},
		"1 request, 0 continuations, no call of a model seen, 1 WebSocket passed unread": {Requests: 1, WebSockets: 1},
		"3 requests, 0 continuations, no todo list seen, 2 encoded bodies passed unread": {Requests: 3, Calls: 1, Encoded: 2},
		"2 requests, 0 continuations, continuing was switched off":                       {Requests: 2, Calls: 2, Off: true},
		"1 request, 0 continuations, no todo list seen":                                  {Requests: 1, Calls: 1},
		"1 request, 1 continuation, 2 of 3 todos done, 7 tokens added":                   {Requests: 1, Turns: 1, Tokens: 7, List: list},
		"2 requests, 1 continuation, paused by the model with 2 of 3 todos done":         {Requests: 2, Turns: 1, Paused: true, List: list},
		"2 requests, 0 continuations, the list of sql could not be read: it is strange":  {Requests: 2, Calls: 2, Problem: &todo.UnreadableError{Tool: "sql", Err: errors.New("it is strange")}},
		"2 requests, 0 continuations, no todo list seen (if plan_todos writes one: -todo-tools plan_todos,todo_add)": {
			Requests: 2, Calls: 2, Problem: &todo.NoListError{Lookalikes: []string{"plan_todos", "todo_add"}},
		},
		"2 requests, 0 continuations, the todo list is empty": {Requests: 2, Calls: 2, Empty: true},
		"1 request, 0 continuations, no todo list seen (-todo-tools names more tools that write one)": {
			Requests: 1, Calls: 1, Problem: &todo.NoListError{Lookalikes: []string{"plan_todos", "todo;rm -rf ~"}},
		},
	} {
		assert.Equal(t, want, s.String())
	}
}

// Nothing that a client sends becomes a command.
func TestSummaryQuotesNoName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"$(todo)", "todo`id`", "-todo", "todo list", "todo,x", "todo'", "todo\x1b[2J", "t\u202eodo", "", strings.Repeat("todo", 1000)} {
		s := Summary{Requests: 1, Calls: 1, Problem: &todo.NoListError{Lookalikes: []string{name}}}
		assert.Equal(t, "1 request, 0 continuations, no todo list seen (-todo-tools names more tools that write one)", s.String())
		s = Summary{Problem: &todo.UnreadableError{Tool: name, Err: errors.New("it is strange")}}
		assert.Less(t, len(s.String()), 1000)
	}
}

// A call that was continued and then called a tool has shown the list, which is
// all that an agent may show before it is stopped.
func TestSummaryKnowsTheListOfACallThatEndedInAToolCall(t *testing.T) {
	t.Parallel()
	var seen lastList
	seen.take(&middleware.Outcome{Reason: reasons.ToolCalls})
	assert.Equal(t, lastList{tools: true, why: reasons.ToolCalls}, seen, "the list was not looked at")
	list := continuation.List{Todos: 3, Active: 1, Completed: 2}
	seen.take(&middleware.Outcome{Reason: reasons.ToolCalls, Turns: 2, List: list})
	assert.Equal(t, lastList{list: list, calls: true, tools: true, why: reasons.ToolCalls}, seen)
}

// The last line says why work was left, whatever side calls follow.
func TestSummarySaysWhyTheLastTurnWasNotContinued(t *testing.T) {
	t.Parallel()
	list := continuation.List{Todos: 3, Active: 2, Completed: 1}
	for reason, want := range map[continuation.Reason]string{
		reasons.AsksUser:    "; the last turn was not continued: the model asked the user something",
		reasons.MaxAttempts: "; the last turn was not continued: maximum continuation attempts exceeded",
		reasons.Holdout:     "; the last turn was not continued: the session is held out for comparison, and would have been continued",
		reasons.Paused:      "",
		reasons.Satisfied:   "",
	} {
		var seen lastList
		seen.take(&middleware.Outcome{Reason: reason, List: list})
		seen.take(&middleware.Outcome{Reason: reasons.SideCall})
		seen.take(&middleware.Outcome{Reason: reasons.NoTools})
		s := Summary{Requests: 3, List: seen.list, Why: whyNot(seen.why)}
		assert.Equal(t, "3 requests, 0 continuations, 1 of 3 todos done"+want, s.String())
		seen.take(&middleware.Outcome{Reason: reasons.ToolCalls})
		assert.Empty(t, whyNot(seen.why), "the agent was at work when it ended")
	}
	done := Summary{Requests: 1, List: continuation.List{Todos: 1, Completed: 1}, Why: "no active todos found"}
	assert.Equal(t, "1 request, 0 continuations, 1 of 1 todo done", done.String())
	assert.Equal(t, "1 request, 0 continuations, no todo list seen (no request offered tools)", Summary{Requests: 1, Calls: 1, NoTools: true}.String())
}

// A provider that reports no usage has not worked for nothing.
func TestUnreportedTokensAreUnknown(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-price", "3,0.30,15", "-token-budget", "10", "-metrics")
	silent := func(turn carryontest.Turn) carryontest.Turn { return turn.Usage(0, 0) }
	s.ask(t, conversation{session: "a"}, silent(carryontest.Text(plan)), silent(carryontest.Text("Next, I will go on.")))
	proxy, ok := s.served.Handler.(*Proxy)
	require.True(t, ok)
	summary := proxy.journal.summary()
	told := append(summary.Sentences(), summary.String(), s.report(t).Sentence)
	for _, text := range told {
		assert.NotContains(t, text, "0 token")
		assert.NotContains(t, text, "$0.00")
		assert.Contains(t, text, "an unknown number of tokens")
	}
	report := s.report(t)
	assert.Equal(t, 1, report.Worth.Unreported)
	assert.Nil(t, report.Worth.Money)
	assert.Nil(t, report.Sessions[0].Money)
	assert.InDelta(t, 1, s.samples(t)["carryon_continuations_unreported_total"], 0)

	s.ask(t, conversation{session: "b"}, carryontest.Text(plan), edit().Usage(1000, 100))
	assert.Contains(t, s.report(t).Sentence, "used at least 1,100 tokens (under $0.01)")
}
