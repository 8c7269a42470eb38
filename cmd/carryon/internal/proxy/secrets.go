package proxy

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/wire/protocols"
)

// The minimum lengths, in bytes, of texts that count as secrets. Shorter keys are
// placeholders such as "none" or "ollama".
const (
	leastSecret   = 8
	leastPassword = 4  // in Basic credentials and in base URLs, which contain no placeholders
	longSegment   = 16 // of a path that may be anything
)

// plainSegments are what the paths of base URLs consist of. Gateways put keys, and names of
// accounts, between them.
var plainSegments = map[string]bool{ //nolint:gochecknoglobals // constant
	"": true, "anthropic": true, "api": true, "apps": true, "backend-api": true, "chat": true, "codex": true, "coding": true,
	"compat": true, "compatible-mode": true, "completions": true, "engines": true, "gemini": true, "google": true, "inference": true,
	"llm": true, "messages": true, "models": true, "openai": true, "openrouter": true, "paas": true, "proxy": true, "responses": true,
}

var version = regexp.MustCompile(`^v[0-9]{1,2}((alpha|beta)[0-9]{0,2})?$`)

// isPlain reports whether a segment of a path is no secret, as it is.
func isPlain(segment string) bool { return plainSegments[segment] || version.MatchString(segment) }

// shownURL returns a base URL, or a URL below one, as it may be shown.
func shownURL(u *url.URL) string {
	base, api := cutAPI(short(u.Path, maxText))
	return u.Scheme + "://" + u.Host + withoutKeys(base, 0) + api
}

// shownPath returns the path of a request as it may be shown. In front of what an API
// knows, only what is no secret for certain is shown; in paths of no known API, what is
// too short for a key.
func shownPath(path string) string {
	base, api := cutAPI(short(path, maxText))
	if api == "" {
		return short(withoutKeys(base, longSegment), maxName)
	}
	return short(withoutKeys(base, 0)+api, maxName)
}

// cutAPI returns what is in front of the path that an API knows, and that path.
func cutAPI(path string) (base, api string) {
	for at := range path {
		if path[at] == '/' && protocols.IsKnown(path[at:]) {
			return path[:at], path[at:]
		}
	}
	return path, ""
}

// withoutKeys returns a path without the segments of at least that length that may be
// secrets.
func withoutKeys(path string, least int) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if !isPlain(segment) && len(segment) >= least {
			segments[i] = "…"
		}
	}
	return strings.Join(segments, "/")
}

// secrets hides every header value and query parameter of a request, and those of
// the upstream's base URL, in texts of the upstream: providers quote the keys that
// they refuse. It does not try to tell keys from other values. It covers escaped
// and quoted forms too.
type secrets struct {
	header   http.Header
	query    string
	upstream *url.URL

	found    map[string]bool
	replacer *strings.Replacer // built by the first call of hide
}

// hide returns the text without the secrets.
func (s *secrets) hide(text string) string {
	if text == "" {
		return ""
	}
	if s.replacer == nil {
		s.replacer = s.newReplacer()
	}
	return s.replacer.Replace(text)
}

func (s *secrets) newReplacer() *strings.Replacer {
	s.found = make(map[string]bool)
	for _, values := range s.header {
		for _, value := range values {
			s.addHeader(value)
		}
	}
	s.addQuery(s.query)
	if s.upstream != nil {
		s.addQuery(s.upstream.RawQuery)
		for segment := range strings.SplitSeq(s.upstream.Path, "/") {
			if !isPlain(segment) {
				s.add(segment, leastPassword)
			}
		}
	}
	longestFirst := slices.SortedFunc(maps.Keys(s.found), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	pairs := make([]string, 0, 2*len(longestFirst))
	for _, secret := range longestFirst { // a secret may be part of another
		pairs = append(pairs, secret, "[key]")
	}
	s.found = nil
	return strings.NewReplacer(pairs...)
}

// addHeader adds the value of a header and each of its parts: the text after a
// scheme, the values of cookies, the halves of Basic credentials.
func (s *secrets) addHeader(value string) {
	s.add(value, leastSecret)
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t,;\"'", r) }) {
		s.add(part, leastSecret)
		s.addBasic(part)
		if _, after, ok := strings.Cut(part, "="); ok {
			s.add(after, leastSecret)
			s.addBasic(after)
		}
	}
}

// addBasic adds the halves of a user name and a password in base64.
func (s *secrets) addBasic(part string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		decoded, err := encoding.DecodeString(part)
		name, password, ok := strings.Cut(string(decoded), ":")
		if err != nil || !ok || !utf8.Valid(decoded) {
			continue
		}
		s.add(string(decoded), leastPassword)
		s.add(name, leastSecret)
		s.add(password, leastPassword)
	}
}

// addQuery adds the values of a query.
func (s *secrets) addQuery(query string) {
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		_, value, ok := strings.Cut(pair, "=")
		if !ok {
			value = pair
		}
		s.add(value, leastSecret)
	}
}

// add adds a secret if it has at least the length least: as it is, and as it may be
// written in a URL or in JSON.
func (s *secrets) add(secret string, least int) {
	forms := []string{secret}
	for _, unescape := range []func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
		if plain, err := unescape(secret); err == nil {
			forms = append(forms, plain)
		}
	}
	for _, form := range forms {
		if form = strings.TrimSpace(form); len(form) < least {
			continue
		}
		s.found[form] = true
		s.found[url.QueryEscape(form)] = true
		s.found[url.PathEscape(form)] = true
		if quoted, err := json.Marshal(form); err == nil {
			s.found[string(quoted[1:len(quoted)-1])] = true
		}
	}
}
