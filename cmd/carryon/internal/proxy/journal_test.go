package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
)

func TestJournalTellsTheStory(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t)
		c := conversation{session: "a", stream: stream}
		s.ask(t, c,
			carryontest.Text(plan).Usage(100, 10),
			carryontest.Text("First the lexer.").Usage(120, 12),
			carryontest.Pause("stuck").Usage(140, 14),
			carryontest.Pause("The grammar file grammar.ebnf is missing").Usage(160, 16))

		report := s.report(t)
		require.Len(t, report.Entries, 1)
		entry := report.Entries[0]
		assert.Equal(t, []string{
			"1 ended finish reason stop, tokens: 110",
			"1 decided go on: All continuation conditions satisfied",
			"2 asked to carry on, attempt 1",
			"2 ended finish reason stop, tokens: 132",
			"2 decided go on: All continuation conditions satisfied",
			"3 asked to carry on, attempt 2",
			"3 ended finish reason tool_calls, tokens: 154",
			"3 decided go on: All continuation conditions satisfied",
			"3 pause refused Invalid pause reason: Reason too brief (min 10 characters for clarity)",
			"4 asked to carry on, attempt 3",
			"4 ended finish reason tool_calls, tokens: 176",
			"4 paused by the model, until the user writes again",
		}, lines(entry))
		assert.Equal(t, counts{Requests: 1, Calls: 1, Turns: 3, Tokens: 132 + 154 + 176, Pauses: 1, Refused: 1}, report.Counts)
		assert.Equal(t, 132+154+176, entry.Tokens)
		assert.Equal(t, 4, entry.Turns)
		assert.Equal(t, "The session is paused", entry.Outcome)
		assert.Equal(t, "200", entry.Answer())
		assert.Equal(t, http.MethodPost+" /v1/chat/completions", entry.Method+" "+entry.Path)
	})
}

func TestJournalShowsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	open := make(chan struct{})
	s.upstream.Append(carryontest.Text(plan).GateAfter(1, open), edit())
	response, err := s.client.Do(post(t, s.base, conversation{stream: true}))
	require.NoError(t, err)
	defer response.Body.Close()
	entry := s.report(t).Entries[0]
	assert.Equal(t, "in progress", entry.Answer())
	assert.False(t, entry.Bad())
	assert.Contains(t, s.get(t, pagePath).body, `<span class="live">in progress</span>`)
	close(open)
}

func TestJournalKeepsTheNewestRequests(t *testing.T) {
	t.Parallel()
	j := newJournal(new(Config))
	for range maxEntries + 50 {
		j.end(j.begin(listing(t)), true, new(middleware.Outcomes))
	}
	report := j.report()
	require.Len(t, report.Entries, maxEntries)
	assert.Equal(t, maxEntries+50, report.Entries[0].Number)
	assert.Equal(t, 51, report.Entries[maxEntries-1].Number)
	assert.Equal(t, maxEntries+50, report.Counts.Requests)
}

func TestJournalKeepsLittleOfWhatIsLong(t *testing.T) {
	t.Parallel()
	j := newJournal(&Config{Content: true})
	r := httptest.NewRequestWithContext(t.Context(), strings.Repeat("M", 300), "/v1/"+strings.Repeat("p", 300), nil)
	r.Header.Set(sessionHeader, strings.Repeat("é", 300)+"\xff")
	e := j.begin(r)
	ctx := withEntry(t.Context(), e)
	for range maxEvents + 50 {
		j.note(ctx, continuation.TurnID{Turn: 1}, asked, strings.Repeat("t", 2*maxText), "")
	}
	entry := j.report().Entries[0]
	assert.Equal(t, strings.Repeat("M", maxName)+"...", entry.Method)
	assert.Equal(t, "/v1/"+strings.Repeat("p", maxName-4)+"...", entry.Path)
	assert.Equal(t, strings.Repeat("é", maxName)+"...", entry.Session)
	assert.Len(t, entry.Events, maxEvents)
	assert.Len(t, entry.Events[0].Text, maxText+len("..."))
}

func TestReportIsACopy(t *testing.T) {
	t.Parallel()
	j := newJournal(new(Config))
	ctx := withEntry(t.Context(), j.begin(listing(t)))
	decision := "1 decided stop"
	for range 3 { // which leaves room for one more
		j.note(ctx, continuation.TurnID{Turn: 1}, decided, "stop", "")
	}
	before := j.report()
	j.note(ctx, continuation.TurnID{Turn: 1}, ended, "finish reason stop", "")
	assert.Equal(t, []string{decision, decision, decision}, lines(before.Entries[0]))
	assert.Equal(t, []string{"1 ended finish reason stop", decision, decision, decision}, lines(j.report().Entries[0]))
}

func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "abc": "abc", "abcd": "abc...", "äöü": "äöü", "äöüß": "äöü...", "a\xff\xfeb": "a?b",
	} {
		assert.Equal(t, want, short(text, 3), "%q", text)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	j := newJournal(new(Config))
	for want, end := range map[string]struct {
		status int
		whole  bool
		bad    bool
	}{
		"200":             {http.StatusOK, true, false},
		"101":             {http.StatusSwitchingProtocols, true, false},
		"404":             {http.StatusNotFound, true, true},
		"200, cut short":  {http.StatusOK, false, true},
		"the client left": {0, false, true},
	} {
		r := listing(t)
		e := j.begin(r)
		j.answered(r.WithContext(withEntry(t.Context(), e)), end.status)
		got := j.end(e, end.whole, new(middleware.Outcomes))
		assert.Equal(t, want, got.Answer())
		assert.Equal(t, end.bad, got.Bad(), want)
	}
}

// listing is a request that is not for carryon.
func listing(t *testing.T) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/models", nil)
}
