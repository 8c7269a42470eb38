package proxy

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// The minimum lengths, in bytes, of texts that count as secrets. Shorter keys are
// placeholders such as "none" or "ollama".
const (
	leastSecret   = 8
	leastPassword = 4  // in Basic credentials, which contain no placeholders
	leastSegment  = 16 // in the path of the upstream's base URL
)

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
			s.add(segment, leastSegment)
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
