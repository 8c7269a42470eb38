package proxy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unsafe"

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
			carryontest.Text("First the lexer:").Usage(120, 12),
			carryontest.Pause("stuck").Usage(140, 14),
			carryontest.Pause("The grammar file grammar.ebnf is missing").Usage(160, 16))

		report := s.report(t)
		require.Len(t, report.Entries, 1)
		entry := report.Entries[0]
		assert.Equal(t, []string{
			"1 text, finish reason stop, tokens 110",
			"1 go on true: satisfied",
			"2 text, attempt 1, finish reason stop, tokens 132",
			"2 go on true: satisfied",
			"3 paused, attempt 2, finish reason tool_calls, tokens 154",
			"3 go on true: satisfied",
			"3 pause_refused: Invalid pause reason: Reason too brief (min 10 characters for clarity)",
			"4 paused, attempt 3, finish reason tool_calls, tokens 176",
			"4 paused: by the model, until the user writes again",
		}, lines(entry))
		assert.Equal(t, counts{
			Requests: 1, Calls: 1, Continued: 1, Continuations: 3, Results: results{Text: 1, Paused: 2},
			Tokens: 132 + 154 + 176, OwnTokens: 110, Pauses: 1, Refused: 1, Lists: 1, Listed: 1,
		}, report.Counts)
		assert.Equal(t, 132+154+176, entry.Tokens)
		assert.Equal(t, 3, entry.Continuations)
		assert.Equal(t, &shownUsage{Prompt: 120, Completion: 12, Total: 132}, entry.Turns[1].Usage)
		assert.Equal(t, statePaused, entry.State)
		assert.Equal(t, "paused", entry.Outcome.Code)
		assert.Equal(t, "The session is paused", entry.Outcome.Explanation)
		assert.Equal(t, "200", entry.Answer())
		assert.Equal(t, "test-model", entry.Model)
		assert.Equal(t, stream, entry.Streamed)
		assert.Equal(t, http.MethodPost+" /v1/chat/completions", entry.Method+" "+entry.Path)
	})
}

// What was seen says why nothing was added, and what to do about it.
func TestJournalSaysWhatWasSeen(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.ask(t, conversation{todos: `{"todos":[{"content":"Plan","status":"done"},{"content":"Write","status":"completed"}]}`}, carryontest.Text(plan))
	done := s.report(t).Entries[0].Outcome
	assert.Equal(t, "no_active_todos", done.Code)
	assert.Equal(t, "No active todos found (pending or in_progress): all 2 are done (from the last call of todo_write)", done.Explanation)
	assert.Equal(t, &shownList{
		Todos: 2, Completed: 2, Source: "the last call of todo_write", Place: "tool_call", Text: "all 2 are done",
	}, done.List)

	body := strings.ReplaceAll(conversation{}.body(), "todo_write", "save_todos")
	body = strings.Replace(body, `{"function":{"name":"edit_file"}`, `{"function":{"name":"todo_write"}`, 1)
	s.upstream.Append(carryontest.Text(plan))
	require.NoError(t, s.send(newRequest(t, http.MethodPost, s.base+"/chat/completions", body)).err)
	s.served.wait()
	alike := s.report(t).Entries[0].Outcome
	assert.Equal(t, "no_list", alike.Code)
	assert.Equal(t, []string{"save_todos"}, alike.Lookalikes)
	assert.Equal(t, []string{"save_todos"}, alike.Called)
	assert.Equal(t, "No todo list found: save_todos looks like a todo tool and is not known: name it with -todo-tools", alike.Explanation)

	s.get(t, prefix+"/models")
	s.served.wait()
	left := s.report(t).Entries[0]
	assert.True(t, left.Outcome.LeftAlone)
	assert.Equal(t, "path", left.Outcome.Code)
	assert.Equal(t, stateFailed, left.State, "it was answered with 404")
}

// Sessions of one name and different keys are different ones.
func TestJournalTellsKeysApart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, key := range []string{"Bearer sk-one-secret", "Bearer sk-two-secret", "Bearer sk-one-secret"} {
		s.ask(t, conversation{session: "a", header: map[string]string{"Authorization": key}}, edit())
	}
	s.ask(t, conversation{}, edit())
	entries := s.report(t).Entries
	assert.Empty(t, entries[0].SessionID, "there is no session")
	assert.Equal(t, entries[1].SessionID, entries[3].SessionID)
	assert.NotEqual(t, entries[1].SessionID, entries[2].SessionID)
	assert.Len(t, entries[1].SessionID, 16)
}

func TestReportOfWhatHasChanged(t *testing.T) {
	t.Parallel()
	j := newJournal(&Config{Upstream: new(url.URL)})
	first, second := j.begin(listing(t), "", new(caller)), j.begin(listing(t), "", new(caller))
	before := j.report(0)
	assert.Len(t, before.Entries, 2)
	assert.Empty(t, j.report(before.Revision).Entries)
	j.end(first, whole, new(middleware.Outcomes))
	changed := j.report(before.Revision)
	require.Len(t, changed.Entries, 1)
	assert.Equal(t, first.Number, changed.Entries[0].Number)
	assert.Equal(t, 1, changed.Oldest)
	j.end(second, clientLeft, new(middleware.Outcomes))
	left := j.report(changed.Revision)
	require.Len(t, left.Entries, 1)
	assert.True(t, left.Entries[0].Left)
	assert.Equal(t, statePassed, left.Entries[0].State, "that is no failure")
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
	assert.Equal(t, stateOpen, entry.State)
	close(open)
}

func TestJournalKeepsTheNewestRequests(t *testing.T) {
	t.Parallel()
	j := newJournal(&Config{Upstream: new(url.URL)})
	for range maxEntries + 50 {
		j.end(j.begin(listing(t), "", new(caller)), whole, new(middleware.Outcomes))
	}
	report := j.report(0)
	require.Len(t, report.Entries, maxEntries)
	assert.Equal(t, maxEntries+50, report.Entries[0].Number)
	assert.Equal(t, 51, report.Entries[maxEntries-1].Number)
	assert.Equal(t, maxEntries+50, report.Counts.Requests)
}

func TestJournalKeepsLittleOfWhatIsLong(t *testing.T) {
	t.Parallel()
	j := newJournal(&Config{Upstream: new(url.URL), Content: true})
	r := httptest.NewRequestWithContext(t.Context(), strings.Repeat("M", 300), "/v1/models/"+strings.Repeat("p", 300), nil)
	e := j.begin(r, strings.Repeat("é", 300)+"\xff", new(caller))
	ctx := withEntry(t.Context(), e)
	for i := range maxNotes + 50 {
		j.at(ctx, continuation.TurnID{Turn: i + 1}, func(e *entry, t *turn) { e.note(t, noteFailed, strings.Repeat("t", 2*maxText), "") })
	}
	entry := j.report(0).Entries[0]
	assert.Equal(t, strings.Repeat("M", maxName)+"...", entry.Method)
	assert.Equal(t, "/v1/models/"+strings.Repeat("p", maxName-11)+"...", entry.Path)
	assert.Equal(t, strings.Repeat("é", maxName)+"...", entry.Session)
	assert.Len(t, entry.Turns, maxTurns)
	assert.Len(t, entry.Turns[0].Notes[0].Text, maxText+len("..."))
}

func TestReportIsACopy(t *testing.T) {
	t.Parallel()
	j := newJournal(&Config{Upstream: new(url.URL)})
	ctx := withEntry(t.Context(), j.begin(listing(t), "", new(caller)))
	add := func(text string) {
		j.at(ctx, continuation.TurnID{Turn: 1}, func(e *entry, t *turn) { e.note(t, noteFailed, text, "") })
	}
	for range 3 { // which leaves room for one more
		add("before")
	}
	report := j.report(0)
	_ = append(report.Entries[0].Turns[0].Notes, note{noteFailed, "of the reader's"})
	add("after")
	assert.Equal(t, []string{"1 under way", "1 failed: before", "1 failed: before", "1 failed: before"}, lines(report.Entries[0]))
	assert.Equal(t, append(lines(report.Entries[0]), "1 failed: after"), lines(j.report(0).Entries[0]))
}

// What an entry keeps of a request would otherwise hold all of its body.
func TestJournalKeepsNoBody(t *testing.T) {
	t.Parallel()
	tool := strings.Repeat("t", 50)
	kept := names([]string{tool[:10]})
	assert.Equal(t, []string{"tttttttttt"}, kept)
	assert.NotSame(t, unsafe.StringData(tool), unsafe.StringData(kept[0]))
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
	j := newJournal(&Config{Upstream: new(url.URL)})
	for want, end := range map[string]struct {
		status int
		how    ending
		bad    bool
	}{
		"200":             {http.StatusOK, whole, false},
		"101":             {http.StatusSwitchingProtocols, whole, false},
		"404":             {http.StatusNotFound, whole, true},
		"200, cut short":  {http.StatusOK, cutShort, true},
		"the client left": {0, clientLeft, true},
	} {
		r := listing(t)
		e := j.begin(r, "", new(caller))
		j.answered(r.WithContext(withEntry(t.Context(), e)), end.status)
		got := j.end(e, end.how, new(middleware.Outcomes))
		assert.Equal(t, want, got.Answer())
		assert.Equal(t, end.bad, got.Bad(), want)
	}
}

// listing is a request that is not for carryon.
func listing(t *testing.T) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/models", nil)
}
