package proxy

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/carryontest"
)

// The forms in which a key can be sent, and quoted back.
func TestSecretsAreHiddenInWhateverFormTheyCame(t *testing.T) {
	t.Parallel()
	const key = "sk-secret/key+1=="
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	header := func(name string, values ...string) secrets {
		return secrets{header: http.Header{name: values}}
	}
	tests := map[string]struct {
		sent   secrets
		quoted string
	}{
		"Bearer":                        {header("Authorization", "Bearer "+key), key},
		"two blanks after Bearer":       {header("Authorization", "Bearer  "+key), key},
		"a tab after Bearer":            {header("Authorization", "Bearer\t"+key), key},
		"no scheme":                     {header("Authorization", key), key},
		"a second header line":          {header("Authorization", "Bearer none", "Bearer "+key), key},
		"another header":                {header("X-Portkey-Api-Key", key), key},
		"a header in parts":             {header("Authorization", `Custom id="a", token="`+key+`"`), key},
		"a cookie":                      {header("Cookie", "theme=dark; session="+url.QueryEscape(key)), key},
		"a cookie, as it was sent":      {header("Cookie", "theme=dark; session="+url.QueryEscape(key)), url.QueryEscape(key)},
		"a password":                    {header("Authorization", basic("user", key)), key},
		"a short password":              {header("Proxy-Authorization", basic("user", "hunter2")), "hunter2"},
		"a user name that is the key":   {header("Authorization", basic(key, "")), key},
		"both halves":                   {header("Authorization", basic("user", key)), "user:" + key},
		"a query":                       {secrets{query: "a=1&key=" + url.QueryEscape(key)}, key},
		"a query without a name":        {secrets{query: url.QueryEscape(key)}, key},
		"the upstream's query":          {secrets{upstream: &url.URL{RawQuery: "key=" + url.QueryEscape(key)}}, key},
		"the upstream's path":           {secrets{upstream: &url.URL{Path: "/" + "0123456789abcdef-secret" + "/v1"}}, "0123456789abcdef-secret"},
		"a short one in that path":      {secrets{upstream: &url.URL{Path: "/openai/hunter2/v1"}}, "hunter2"},
		"quoted in a URL":               {header("X-Api-Key", key), url.QueryEscape(key)},
		"quoted in a path":              {header("X-Api-Key", key), url.PathEscape(key)},
		"quoted in JSON":                {header("X-Api-Key", `sk-"secret"<key>`), `sk-\"secret\"\u003ckey\u003e`},
		"with another that begins like": {header("X-Api-Key", key, key+"-and-more-secret"), key + "-and-more-secret"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, "Bad key '[key]'.", test.sent.hide("Bad key '"+test.quoted+"'."))
		})
	}
	none := header("Authorization", "Bearer ollama")
	assert.Equal(t, "ollama is not running", none.hide("ollama is not running"), "a placeholder")
}

// What is shown of an address, whoever has put a key into it.
func TestAddressesAreShownWithoutKeys(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://api.example/v1":                           "https://api.example/v1",
		"https://api.example/v1beta/models/g:generateText": "https://api.example/v1beta/models/g:generateText",
		"https://gw.example/hunter2/openai/v1?key=k":       "https://gw.example/…/openai/v1",
		"https://gw.example/v1/4bf92f35/team/openai":       "https://gw.example/v1/…/…/openai",
		"https://gw.example/%2Fkey/v1/chat/completions":    "https://gw.example//…/v1/chat/completions",
		"http://127.0.0.1:11434/api":                       "http://127.0.0.1:11434/api",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		assert.Equal(t, want, shownURL(u))
	}
	for path, want := range map[string]string{
		"/v1/messages":                          "/v1/messages",
		"/sk-secret/v1/messages/count_tokens":   "/…/v1/messages/count_tokens",
		"/api/hello":                            "/api/hello",
		"/v1/files/file-0123456789abcdef":       "/v1/files/…",
		"/" + strings.Repeat("/", 200):          strings.Repeat("/", 100) + "...",
		"/v1/models/a-model-with-a-long-name-1": "/v1/models/a-model-with-a-long-name-1",
	} {
		assert.Equal(t, want, shownPath(path))
	}
}

// A key in the path of the upstream stands nowhere, whether that answers or not.
func TestKeyInThePathOfTheUpstream(t *testing.T) {
	t.Parallel()
	const key = "hunter2"
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no "+r.URL.Path, http.StatusNotFound)
	}))
	t.Cleanup(upstream.Close)
	for _, address := range []string{upstream.URL, "http://" + nobody(t)} {
		s := sceneAt(t, address+"/"+key+"/v1", "-metrics", "-content")
		got := s.send(post(t, s.base, conversation{}))
		direct := s.send(post(t, strings.TrimSuffix(s.base, prefix)+"/"+key+"/v1", conversation{}))
		require.NoError(t, errors.Join(got.err, direct.err))
		s.served.wait()
		told := s.told(t)
		told["metrics"] = s.get(t, metricsPath).body
		if got.status == http.StatusBadGateway {
			told["error"] = got.body
		}
		for place, text := range told {
			assert.NotContains(t, text, key, place)
		}
		var greeting bytes.Buffer
		c := parsed(t, "-upstream", address+"/"+key+"/v1")
		for _, out := range []console{{&greeting, loggerTo(&greeting), false}, {&greeting, loggerTo(&greeting), true}} {
			out.greet(c, &net.TCPAddr{}, "")
			out.warn(c.Probe(t.Context()))
		}
		assert.NotContains(t, greeting.String(), key)
	}
}

// The same through a whole proxy.
func TestQuotedKeysAreNotOnThePage(t *testing.T) {
	t.Parallel()
	upstream := carryontest.NewServer(t)
	s := sceneAt(t, upstream.URL()+"?key=secret-upstream", "-content")
	s.upstream = upstream
	const quoting = `{"error":{"message":"Bad key: secret-header secret-cookie secret-query secret-upstream secret-password"}}`
	for _, stream := range []bool{false, true} {
		s.upstream.Append(carryontest.Text(plan), carryontest.Status(http.StatusForbidden, quoting))
		r := post(t, s.base, conversation{stream: stream})
		r.URL.RawQuery = "key=secret-query"
		r.Header = http.Header{
			"Content-Type": r.Header["Content-Type"], "X-Custom": {"a", "secret-header"}, "Cookie": {"a=b; c=secret-cookie"},
			"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("me:secret-password"))},
		}
		require.NoError(t, s.send(r).err)
	}
	for place, text := range s.told(t) {
		assert.NotContains(t, text, "secret-", place)
		if place == "JSON" {
			assert.Contains(t, text, "Bad key: [key] [key] [key] [key] [key]", place)
		}
	}
}

// Go quotes an answer that is no HTTP in its errors, however long it is.
func TestAnswersThatAreNoHTTPAreNotQuoted(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"status":            "HTTP/1.1 KEY OK\r\n\r\n",
		"header":            "HTTP/1.1 200 OK\r\nKEY\r\n\r\n",
		"length":            "HTTP/1.1 200 OK\r\nContent-Length: KEY\r\n\r\n",
		"transfer encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: KEY\r\n\r\n",
		"trailer":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nKEY\r\n\r\n",
		"long":              "HTTP/1.1 " + strings.Repeat("\x1b[31m", 1e5) + "\r\n\r\n",
	} {
		both(t, func(t *testing.T, stream bool) {
			s := sceneOf(t, func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					return
				}
				defer conn.Close()
				key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				_, _ = io.WriteString(conn, strings.ReplaceAll(answer, "KEY", key)) // the proxy may have enough
			})
			got := s.send(post(t, s.base, conversation{stream: stream}))
			s.served.wait()
			assert.Contains(t, s.logs.String(), "level=WARN", name)
			for _, text := range []string{got.body, s.logs.String()} {
				assert.NotContains(t, text, "sk-secret-key", name)
				assert.Less(t, len(text), 4<<10, name)
			}
		})
	}
}
