package proxy

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
	"github.com/carryon-go/carryon/internal/reasons"
)

// told returns everything that a scene shows: the page, the JSON and the log.
func (s *scene) told(t *testing.T) map[string]string {
	t.Helper()
	s.served.wait()
	page, data := s.get(t, pagePath), s.get(t, pagePath+"?format=json")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, http.StatusOK, data.status)
	assert.Equal(t, "text/html; charset=utf-8", page.header.Get("Content-Type"))
	assert.Equal(t, "application/json", data.header.Get("Content-Type"))
	return map[string]string{"page": page.body, "JSON": data.body, "log": s.logs.String()}
}

// eventful makes a call with every kind of event that has a text.
func (s *scene) eventful(t *testing.T) {
	t.Helper()
	const refusal = `{"error":{"message":"No more than 5 calls for sk-secret-key, please"}}`
	s.ask(t, conversation{session: "a"}, carryontest.Text(plan), carryontest.Pause("stuck"),
		carryontest.Pause("The grammar file grammar.ebnf is missing"))
	busy := carryontest.Status(http.StatusTooManyRequests, refusal)
	s.ask(t, conversation{session: "b", stream: true}, carryontest.Text(plan), busy, busy, busy)
}

// The texts in eventful, and which of them -content shows.
var (
	contents = []string{"Write the parser", "stuck", "grammar.ebnf", "No more than 5 calls for [key], please"}
	messages = []string{"Plan it.", plan, "You have an active task"}
)

func TestPageShowsNoTexts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.eventful(t)
	for place, text := range s.told(t) {
		for _, secret := range append(contents, messages...) {
			assert.NotContains(t, text, secret, place)
		}
		assert.NotContains(t, text, "No more than 5", place)
		if place != "page" { // whose script shows the JSON
			assert.Contains(t, text, "429", place)
		}
	}
}

func TestPageShowsTextsIfAsked(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-content")
	s.eventful(t)
	told := s.told(t)
	for _, content := range contents {
		assert.Contains(t, told["JSON"], content)
		assert.NotContains(t, told["log"], content)
	}
	for place, text := range told {
		for _, secret := range messages {
			assert.NotContains(t, text, secret, place)
		}
	}
}

func TestKeysPassThroughAndAreShownNowhere(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"plain": nil, "content": {"-content"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, args...)
			keys := map[string]string{
				"Authorization": "Bearer sk-first-secret", "Api-Key": "sk-second-secret",
				"X-Api-Key": "sk-third-secret", "X-Goog-Api-Key": "sk-fourth-secret",
			}
			quoting := `{"error":{"message":"Bad key: sk-first-secret, sk-second-secret, sk-third-secret or sk-fourth-secret"}}`
			for _, stream := range []bool{false, true} {
				s.ask(t, conversation{header: keys, stream: stream}, carryontest.Text(plan), carryontest.Status(http.StatusUnauthorized, quoting))
			}
			got := s.send(newRequest(t, http.MethodGet, s.base+"/models?key=sk-fifth-secret", ""))
			require.NoError(t, got.err)
			for _, sent := range s.upstream.Requests() {
				for name, key := range keys {
					assert.Equal(t, key, sent.Header.Get(name))
				}
			}
			for place, text := range s.told(t) {
				assert.NotContains(t, text, "secret", place)
				if place != "page" {
					assert.Contains(t, text, "401", place)
				}
			}
		})
	}
}

func TestKeysAreNotShownWhenTheUpstreamIsDown(t *testing.T) {
	t.Parallel()
	s := sceneAt(t, "http://"+nobody(t)+"/v1?key=sk-sixth-secret", "-content")
	got := s.send(post(t, s.base, conversation{}))
	require.NoError(t, got.err)
	assert.NotContains(t, got.body, "secret")
	for place, text := range s.told(t) {
		assert.NotContains(t, text, "secret", place)
	}
}

// Nobody's text stands in the page, and the JSON is not HTML even where a browser
// looks for some.
func TestPageHoldsNothingThatOthersWrite(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-content")
	before := s.get(t, pagePath).body
	const attack = `"'><img src=x onerror=alert(1)></main><script>alert(2)</script>`
	s.ask(t, conversation{session: attack}, carryontest.Text(plan), carryontest.Pause("The file is missing: "+attack))
	told := s.told(t)
	assert.Equal(t, before, told["page"])
	assert.NotContains(t, told["JSON"], "<img")
	assert.Equal(t, attack, s.report(t).Entries[0].Session)
}

// The policy allows the page's own script and style and no other.
func TestPageRunsNoScriptButItsOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	got := s.get(t, pagePath)
	policy := got.header.Get("Content-Security-Policy")
	assert.True(t, strings.HasPrefix(policy, "default-src 'none'; connect-src 'self'; img-src data:; style-src 'sha256-"), policy)
	for _, directive := range []string{"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		assert.Contains(t, policy, "; "+directive)
	}
	assert.NotContains(t, policy, "unsafe")
	for _, tag := range []string{"style", "script"} {
		match := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(got.body, -1)
		require.Len(t, match, 1, tag)
		assert.Contains(t, policy, tag+"-src "+hashOf(match[0][1]))
	}
	assert.Equal(t, "no-store", got.header.Get("Cache-Control"))
	assert.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	assert.NotRegexp(t, `(src|href)="[^"?d]|url\([^#]|@import`, got.body, "nothing comes from elsewhere")
	assert.True(t, strings.HasSuffix(got.body, "</html>\n"))
}

func TestPageRefusesARevisionThatIsNone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	assert.Equal(t, http.StatusBadRequest, s.get(t, pagePath+"?format=json&after=now").status)
	forPrograms, forPeople := s.get(t, pagePath+"?format=json&after=0"), s.get(t, pagePath+"?format=json")
	assert.Equal(t, http.StatusOK, forPrograms.status)
	assert.Equal(t, 1, strings.Count(forPrograms.body, "\n"))
	assert.Contains(t, forPeople.body, "\n  \"process\"")
}

// The page is as the guard lets clients in: at names of this machine alone.
func TestPageIsShownToNoWebsite(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for host, want := range map[string]int{"localhost": http.StatusOK, "evil.example": http.StatusForbidden} {
		for _, path := range []string{pagePath, pagePath + "?format=json"} {
			r := newRequest(t, http.MethodGet, strings.TrimSuffix(s.base, prefix)+path, "")
			r.Host = host
			assert.Equal(t, want, s.send(r).status, host+path)
		}
	}
}

// The files of the script share a scope. Of two functions of one name, the later would win everywhere.
func TestNamesInTheScriptAreDeclaredOnce(t *testing.T) {
	t.Parallel()
	script := pageDOM + pageWords + pageChart + pageHoldout + pageDownload + pageScript
	declared := map[string]int{}
	for _, found := range regexp.MustCompile(`(?m)^(?:async )?(?:function|const|let) (\w+)`).FindAllStringSubmatch(script, -1) {
		declared[found[1]]++
		assert.Equal(t, 1, declared[found[1]], found[1])
	}
	assert.Greater(t, len(declared), 100)
}

// A person who opens the proxy's address sees the page; a program is told what to ask.
func TestRootLeadsAPersonToThePage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	client := *s.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client = &client
	for name, test := range map[string]struct {
		method, path string
		header       map[string]string
		want         int
	}{
		"a browser":          {http.MethodGet, "/", map[string]string{"Sec-Fetch-Mode": "navigate", "Accept": "text/html,*/*"}, http.StatusSeeOther},
		"an old browser":     {http.MethodGet, "/", map[string]string{"Accept": "text/html,application/xhtml+xml"}, http.StatusSeeOther},
		"a script of a page": {http.MethodGet, "/", map[string]string{"Sec-Fetch-Mode": "cors", "Accept": "text/html"}, http.StatusNotFound},
		"a program":          {http.MethodGet, "/", map[string]string{"Accept": "*/*"}, http.StatusNotFound},
		"a call":             {http.MethodPost, "/", map[string]string{"Accept": "text/html"}, http.StatusNotFound},
		"another path":       {http.MethodGet, "/other", map[string]string{"Accept": "text/html"}, http.StatusNotFound},
	} {
		r := newRequest(t, test.method, strings.TrimSuffix(s.base, prefix)+test.path, "")
		for key, value := range test.header {
			r.Header.Set(key, value)
		}
		got := s.send(r)
		require.NoError(t, got.err)
		assert.Equal(t, test.want, got.status, name)
		if test.want == http.StatusSeeOther {
			assert.Equal(t, pagePath, got.header.Get("Location"), name)
		}
	}
}

// The page tells a closing question, and the answer that nothing is open, from other turns.
func TestPageNamesClosingQuestions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, stream bool) {
		s := newScene(t, "-ask")
		report := carryontest.Text("The parser is written.")
		s.ask(t, conversation{session: "a", noList: true, call: "c1", stream: stream}, report, carryontest.Text("Nothing is open."))
		s.ask(t, conversation{session: "b", noList: true, call: "c1", stream: stream}, report, edit())
		s.ask(t, conversation{session: "c", stream: stream}, carryontest.Text(plan), edit())
		got := s.report(t)
		assert.Equal(t, results{ToolCall: 2, NothingOpen: 1}, got.Counts.Results)
		assert.Equal(t, 2, got.Counts.Questions)
		require.Len(t, got.Entries, 3)
		for i, want := range []shownTurn{{Result: resultToolCall}, {Result: resultToolCall, Asked: true}, {Result: resultNothingOpen, Asked: true}} {
			turns := got.Entries[i].Turns
			require.Len(t, turns, 2)
			assert.Equal(t, resultText, turns[0].Result)
			assert.False(t, turns[0].Asked)
			assert.Equal(t, want, shownTurn{Result: turns[1].Result, Asked: turns[1].Asked})
		}
	})
}

// A reason's text is shown without a search for options of Go.
func TestNoReasonNamesAnOption(t *testing.T) {
	t.Parallel()
	seen := 0
	for r := reasons.None; r.Code() != "unknown"; r++ {
		assert.Equal(t, asFlags().Replace(r.String()), reasonText(r), "%s", r.Code())
		seen++
	}
	assert.Greater(t, seen, 20)
}
