package proxy

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// shown returns everything that a scene shows: the page, the JSON and the log.
func (s *scene) shown(t *testing.T) map[string]string {
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
	s.ask(t, conversation{session: "b", stream: true}, carryontest.Text(plan), carryontest.Status(http.StatusTooManyRequests, refusal))
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
	for place, text := range s.shown(t) {
		for _, secret := range append(contents, messages...) {
			assert.NotContains(t, text, secret, place)
		}
		assert.NotContains(t, text, "No more than 5", place)
		assert.Contains(t, text, "429", place)
	}
}

func TestPageShowsTextsIfAsked(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-content")
	s.eventful(t)
	shown := s.shown(t)
	for _, content := range contents {
		assert.Contains(t, shown["page"], content)
		assert.Contains(t, shown["JSON"], content)
		assert.NotContains(t, shown["log"], content)
	}
	for place, text := range shown {
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
			for place, text := range s.shown(t) {
				assert.NotContains(t, text, "secret", place)
				assert.Contains(t, text, "401", place)
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
	for place, text := range s.shown(t) {
		assert.NotContains(t, text, "secret", place)
	}
}

func TestPageEscapesWhatOthersWrite(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-content")
	const attack = `"'><img src=x onerror=alert(1)></main><script>alert(2)</script>`
	s.ask(t, conversation{
		session: attack, todos: `{"todos":[{"content":"\"'><img src=x><script>alert(3)</script>","status":"pending"}]}`,
	}, carryontest.Text(plan), carryontest.Pause("The file is missing: "+attack))
	got := s.send(newRequest(t, http.MethodGet, s.base+"/%22%3E%3Cscript%3Ealert(4)%3C/script%3E", ""))
	require.NoError(t, got.err)

	page := s.shown(t)["page"]
	assert.Equal(t, 1, strings.Count(page, "<script"), "its own")
	assert.Equal(t, 1, strings.Count(page, "</main>"))
	assert.NotContains(t, page, "<img")
	assert.NotContains(t, page, `="'>`)
	for i := range 4 {
		assert.Contains(t, page, "alert("+string(rune('1'+i))+")")
	}
	assert.Equal(t, attack, s.report(t).Entries[1].Session)
}

func TestPageRunsNoScriptButItsOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var nonces []string
	for range 2 {
		got := s.get(t, pagePath)
		policy := got.header.Get("Content-Security-Policy")
		match := regexp.MustCompile(`script-src 'nonce-(\w{20,})'`).FindStringSubmatch(policy)
		require.Len(t, match, 2, policy)
		assert.True(t, strings.HasPrefix(policy, "default-src 'none';"))
		assert.Contains(t, policy, "style-src 'nonce-"+match[1]+"'")
		assert.Contains(t, got.body, `<script nonce="`+match[1]+`">`)
		assert.Contains(t, got.body, `<style nonce="`+match[1]+`">`)
		assert.Equal(t, "no-store", got.header.Get("Cache-Control"))
		nonces = append(nonces, match[1])
	}
	assert.NotEqual(t, nonces[0], nonces[1])
}

func TestPageIsWholeAtAnyTime(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	assert.Contains(t, s.get(t, pagePath).body, "Nothing yet.")
	s.eventful(t)
	page := s.get(t, pagePath).body
	assert.NotContains(t, page, "Nothing yet.")
	assert.Equal(t, 2, strings.Count(page, "<article>"))
	assert.Equal(t, 2, strings.Count(page, `<span class="dim">turn 1</span>`), "once per call")
	assert.True(t, strings.HasSuffix(page, "</html>\n"))
}
