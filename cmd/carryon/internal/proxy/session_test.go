package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
)

// stalls returns a turn that stalls and a continuation that stalls too.
func stalls() []carryontest.Turn {
	return []carryontest.Turn{carryontest.Text(plan), carryontest.Text("I will start with the lexer.")}
}

// asked returns how many requests the upstream received since the last call.
func (s *scene) asked(before *int) int {
	n := len(s.upstream.Requests()) - *before
	*before += n
	return n
}

func TestBudgetsAreKeptPerSession(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-max-attempts", "1")
		a, b := conversation{session: "a", stream: stream}, conversation{session: "b", stream: stream}
		before := 0

		s.ask(t, a, stalls()...)
		assert.Equal(t, 2, s.asked(&before))
		s.ask(t, a, carryontest.Text(plan))
		assert.Equal(t, 1, s.asked(&before), "the budget of a is used up")
		s.ask(t, b, stalls()...)
		assert.Equal(t, 2, s.asked(&before), "that of b is not")
		a.user, a.todos = "Go on.", `{"todos":[{"content":"Write the lexer","status":"pending"}]}`
		s.ask(t, a, stalls()...)
		assert.Equal(t, 2, s.asked(&before), "a new message of the user's, and a new list")

		for _, r := range s.upstream.Requests() {
			assert.Empty(t, r.Header.Values(sessionHeader), "the upstream is not told")
		}
		entries := s.report(t).Entries
		require.Len(t, entries, 4)
		assert.Equal(t, "a", entries[0].Session)
		assert.Equal(t, "b", entries[1].Session)
		assert.Equal(t, "Maximum continuation attempts exceeded: the limit is 1", entries[2].Outcome.Explanation)
	})
}

func TestPauseLastsUntilTheUserWrites(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := conversation{session: "a"}
	before := 0

	got := s.ask(t, c, carryontest.Text(plan), carryontest.Pause("The grammar file grammar.ebnf is missing"))
	assert.Contains(t, got.body, "Task paused: The grammar file grammar.ebnf is missing")
	assert.Equal(t, 2, s.asked(&before))
	s.ask(t, c, carryontest.Text(plan))
	assert.Equal(t, 1, s.asked(&before), "the session is paused")
	c.user = "It is there now."
	s.ask(t, c, carryontest.Text(plan), edit())
	assert.Equal(t, 2, s.asked(&before))
}

func TestWithoutASessionAToolLoopIsOne(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-max-attempts", "1")
	before := 0

	s.ask(t, conversation{call: "call_1"}, stalls()...)
	assert.Equal(t, 2, s.asked(&before))
	s.ask(t, conversation{call: "call_1"}, stalls()...)
	assert.Equal(t, 2, s.asked(&before), "a request that was answered before begins a new run")
	s.ask(t, conversation{call: "call_2"}, stalls()...)
	assert.Equal(t, 2, s.asked(&before), "another loop")
	s.ask(t, conversation{}, stalls()...)
	s.ask(t, conversation{}, stalls()...)
	assert.Equal(t, 4, s.asked(&before), "before its first tool call, each call is on its own")
	assert.Empty(t, s.report(t).Entries[0].Session)
}

func TestWithoutASessionNoPauseIsRemembered(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	before := 0
	for range 2 {
		s.ask(t, conversation{call: "call_1"}, carryontest.Text(plan), carryontest.Pause("The grammar file is missing"))
		assert.Equal(t, 2, s.asked(&before))
		assert.Contains(t, lines(s.report(t).Entries[0]), "2 paused: by the model")
	}
}

func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-max-attempts", "2")
	s.ask(t, conversation{}, append(stalls(), carryontest.Text("Then comes the grammar:"))...)
	assert.Len(t, s.upstream.Requests(), 3)
	entry := s.report(t).Entries[0]
	assert.Equal(t, "Maximum continuation attempts exceeded: the limit is 2", entry.Outcome.Explanation)
	assert.Equal(t, 1, s.report(t).Counts.Exhausted)
}

func TestYOLOChangesThePrompt(t *testing.T) {
	t.Parallel()
	for prompt, args := range map[string][]string{
		"You have an active task that needs completion:": nil,
		"CONTINUE TASK IMMEDIATELY:":                     {"-yolo"},
	} {
		s := newScene(t, args...)
		s.ask(t, conversation{}, carryontest.Text(plan), edit())
		assert.Contains(t, s.upstream.Requests()[1].Last().Content, prompt)
	}
}

func TestDryRunAddsNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-dry-run")
		for range 2 {
			s.ask(t, conversation{session: "a", stream: stream}, carryontest.Text(plan))
		}
		assert.Len(t, s.upstream.Requests(), 2)
		report := s.report(t)
		assert.Equal(t, counts{Requests: 2, Calls: 2, OwnTokens: 30, Lists: 2, Listed: 1}, report.Counts)
		assert.Contains(t, lines(report.Entries[0]), "1 go on true: satisfied")
	})
}

func TestHoldoutAddsNothingToNamedSessions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-holdout", "1", "-metrics")
		s.ask(t, conversation{session: "a", stream: stream}, carryontest.Text(plan))
		s.ask(t, conversation{stream: stream}, carryontest.Text(plan), edit())
		assert.Len(t, s.upstream.Requests(), 3, "a conversation without a name is not held out")
		report := s.report(t)
		assert.InDelta(t, 1, report.Settings.Holdout, 0)
		assert.Equal(t, stateContinued, report.Entries[0].State)
		held := report.Entries[1]
		assert.Equal(t, stateHoldout, held.State)
		assert.Equal(t, "holdout", held.Outcome.Code)
		assert.True(t, held.Outcome.Holdout)
		assert.InDelta(t, 1, s.samples(t)[`carryon_calls_total{carryon_continued="false",carryon_reason="holdout"}`], 0)
		assert.Contains(t, s.logs.String(), "code=holdout")
	})
}

// In a bubble, time is exact.
func TestMinInterval(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]time.Duration{"": time.Second, "250ms": 250 * time.Millisecond, "0": 0} {
		synctest.Test(t, func(t *testing.T) {
			upstream := carryontest.NewServer(t, carryontest.Text(plan), carryontest.Text("First the lexer:"), edit())
			flags := []string{"-upstream", carryontest.BaseURL}
			if args != "" {
				flags = append(flags, "-min-interval", args)
			}
			proxy := handlerOf(t, parsed(t, flags...), upstream.Transport(), loggerTo(io.Discard))
			proxy.ServeHTTP(httptest.NewRecorder(), post(t, prefix, conversation{session: "a", stream: true}))
			sent := upstream.Requests()
			require.Len(t, sent, 3)
			assert.Zero(t, sent[1].Time.Sub(sent[0].Time))
			assert.Equal(t, want, sent[2].Time.Sub(sent[1].Time))
		})
	}
}

// Agents name their conversations in headers of their own.
func TestSessionsOfAgents(t *testing.T) {
	t.Parallel()
	assert.Subset(t, agentHeaders(), []string{"X-Claude-Code-Session-Id", "Thread-Id", "X-Opencode-Session", "X-Client-Session-Id"})
	for _, header := range append(agentHeaders(), "X-Chat") {
		s := newScene(t, "-max-attempts", "1", "-session-header", "X-Chat")
		before := 0
		c := conversation{header: map[string]string{header: "conversation-42"}}
		s.ask(t, c, stalls()...)
		assert.Equal(t, 2, s.asked(&before), header)
		s.ask(t, c, carryontest.Text(plan))
		assert.Equal(t, 1, s.asked(&before), "%s: the budget of the session is used up", header)
		assert.Equal(t, "conversation-42", s.report(t).Entries[0].Session)
		assert.Equal(t, "conversation-42", s.upstream.Requests()[0].Header.Get(header), "it passes")
	}
}

// Two callers may give their conversations the same name. Gateways take keys in
// headers of their own, in a cookie or in the query, and one key may serve several
// projects.
func TestSessionsAreNotSharedBetweenCallers(t *testing.T) {
	t.Parallel()
	key := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	query := func(query string) func(*http.Request) {
		return func(r *http.Request) { r.URL.RawQuery = query }
	}
	for name, c := range map[string]struct {
		alice, bob func(*http.Request)
		apart      bool
	}{
		"keys":                    {key("Authorization", "Bearer a"), key("Authorization", "Bearer b"), true},
		"keys of Anthropic":       {key("X-Api-Key", "a"), key("X-Api-Key", "b"), true},
		"keys of Azure":           {key("Api-Key", "a"), key("Api-Key", "b"), true},
		"keys of Google":          {key("X-Goog-Api-Key", "a"), key("X-Goog-Api-Key", "b"), true},
		"keys of Portkey":         {key("X-Portkey-Api-Key", "a"), key("X-Portkey-Api-Key", "b"), true},
		"keys of LiteLLM":         {key("X-Litellm-Api-Key", "a"), key("X-Litellm-Api-Key", "b"), true},
		"keys of API Management":  {key("Ocp-Apim-Subscription-Key", "a"), key("Ocp-Apim-Subscription-Key", "b"), true},
		"secrets of Cloudflare":   {key("Cf-Access-Client-Secret", "a"), key("Cf-Access-Client-Secret", "b"), true},
		"cookies":                 {key("Cookie", "login=a"), key("Cookie", "login=b"), true},
		"keys in the query":       {query("key=a"), query("key=b"), true},
		"projects":                {key("Openai-Project", "a"), key("Openai-Project", "b"), true},
		"organizations":           {key("Openai-Organization", "a"), key("Openai-Organization", "b"), true},
		"organizations, shortly":  {key("X-Org-Id", "a"), key("X-Org-Id", "b"), true},
		"accounts of ChatGPT":     {key("Chatgpt-Account-Id", "a"), key("Chatgpt-Account-Id", "b"), true},
		"users of a chat website": {key("X-Openwebui-User-Id", "a"), key("X-Openwebui-User-Id", "b"), true},
		"request ids":             {key("X-Request-Id", "a"), key("X-Request-Id", "b"), false},
		"idempotency keys":        {key("Idempotency-Key", "a"), key("Idempotency-Key", "b"), false},
		"programs":                {key("User-Agent", "a"), key("User-Agent", "b"), false},
		"other session headers":   {key("X-Session-Id", "a"), key("X-Session-Id", "b"), false},
	} {
		s := newScene(t, "-max-attempts", "1")
		before := 0
		send := func(as func(*http.Request)) {
			s.upstream.Append(stalls()...)
			r := post(t, s.base, conversation{session: "a"})
			as(r)
			require.Equal(t, http.StatusOK, s.send(r).status)
			s.served.wait()
		}
		send(c.alice)
		require.Equal(t, 2, s.asked(&before), name)
		send(c.bob)
		assert.Equal(t, c.apart, s.asked(&before) == 2, name)
		entries := s.report(t).Entries
		assert.Equal(t, c.apart, entries[0].SessionID != entries[1].SessionID, name)
	}
}

// The documents show how to find the record of a session, with a client that sends no credentials.
func TestDocumentsNameASessionAsTheProxyDoes(t *testing.T) {
	t.Parallel()
	c := callerOf(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", nil))
	assert.Contains(t, document(t, "operators.md"), "printf %s "+c.sessionKey("me")+" | sha256sum")
}

// A client that gives up after a while gets its own turn's answer in time.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		upstream := carryontest.NewServer(t, carryontest.Text(plan), carryontest.Text("First the lexer:").Delay(5*time.Second))
		flags := []string{"-upstream", carryontest.BaseURL, "-max-wait", "2s"}
		proxy := handlerOf(t, parsed(t, flags...), upstream.Transport(), loggerTo(io.Discard))
		w, began := httptest.NewRecorder(), time.Now()
		proxy.ServeHTTP(w, post(t, prefix, conversation{}))
		assert.Contains(t, w.Body.String(), plan)
		assert.NotContains(t, w.Body.String(), "lexer")
		assert.Less(t, time.Since(began), 2*time.Second)
	})
}

// What an agent tells the model by itself is no word from the user.
func TestAutomaticMessagesRenewNoBudget(t *testing.T) {
	t.Parallel()
	const reminder = "<system-reminder>\nThe list has open items.\n</system-reminder>"
	for name, test := range map[string]conversation{
		"a reminder":             {session: "a", more: reminder},
		"a notification":         {session: "a", more: "<task-notification>7 is done</task-notification>"},
		"a reminder, no session": {call: "call_1", more: reminder},
		"a message that says it": {session: "a", more: "Continue.", header: map[string]string{"X-Initiator": "agent"}},
	} {
		s := newScene(t, "-max-attempts", "1")
		before := 0
		first := test
		first.more = ""
		s.ask(t, first, stalls()...)
		assert.Equal(t, 2, s.asked(&before), name)
		s.ask(t, test, carryontest.Text(plan))
		assert.Equal(t, 1, s.asked(&before), "%s: the budget is used up", name)
	}
	s := newScene(t, "-max-attempts", "1")
	before := 0
	s.ask(t, conversation{session: "a"}, stalls()...)
	s.ask(t, conversation{session: "a", more: "Continue.", todos: `{"todos":[{"content":"Write the lexer","status":"pending"}]}`}, stalls()...)
	assert.Equal(t, 4, s.asked(&before), "a word from the user")
}

// Each agent names its conversation in its own way, and some in several.
func TestMostSpecificSessionHeaderCounts(t *testing.T) {
	t.Parallel()
	for want, headers := range map[string][]string{
		"claude": {"X-Claude-Code-Session-Id"}, "codex": {"thread-id", "session-id"}, "pi": {"session_id"},
		"zen": {"X-Opencode-Session", "X-Session-Id"}, "opencode": {"X-Session-Id", "X-Session-Affinity"},
		"copilot": {"X-Client-Session-Id", "X-Agent-Task-Id"}, "task": {"X-Agent-Task-Id"},
	} {
		header := make(http.Header)
		for i, name := range headers {
			header.Set(name, []string{want, "another"}[i])
		}
		assert.Equal(t, want, sessionOf(header, ""), headers)
	}
}

// What carryon has continued is remembered, by the names that agents gave; what it has not, is not.
func TestContinuedSessionsAreRemembered(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	proxy, ok := s.served.Handler.(*Proxy)
	require.True(t, ok)
	record := filepath.Join(t.TempDir(), "carryon", "continued.jsonl")
	proxy.config.AtWork = record
	before := time.Now()
	s.ask(t, conversation{header: map[string]string{"X-Claude-Code-Session-Id": "a"}}, edit())
	assert.NoFileExists(t, record)
	s.ask(t, conversation{header: map[string]string{"X-Claude-Code-Session-Id": "b"}}, carryontest.Text(plan), edit())
	read := func() atwork.Continued {
		continued, err := atwork.Read(record)
		require.NoError(t, err)
		return continued
	}
	continued := read()
	assert.False(t, continued.Has("a", before, time.Now()))
	assert.True(t, continued.Has("b", time.Time{}, time.Time{}))
	s.ask(t, conversation{session: "a name of the user's"}, carryontest.Text(plan), edit())
	continued = read()
	assert.True(t, continued.Has("a", before, time.Now()), "it was under way while a session without a name was continued")
	assert.False(t, continued.Has("a", before.Add(-time.Hour), before.Add(-time.Minute)))
	content, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.NotContains(t, string(content), "user", "it holds no name")
}
