package background

import (
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// launchOf returns the launch that a result announces, and the names in it.
func launchOf(result string) (launch *agents.Launch, names [3]string, ok bool) {
	if len(result) > maxResult {
		return nil, names, false
	}
	for at, first := 0, true; at < len(result); first = false {
		line := result[at:]
		if launch = launchAt(line); launch != nil {
			if names, ok = promise(line, launch); ok && (first || names[idOfWork] != "") {
				return launch, names, true
			}
		}
		next := strings.IndexByte(line, '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return nil, names, false
}

// launchAt returns the launch that a line begins like, or nil.
func launchAt(line string) *agents.Launch {
	if !known().begins[line[0]|' '] {
		return nil
	}
	for i := range known().launches {
		if l := &known().launches[i]; hasPrefixFold(line, l.Begins) {
			return l
		}
	}
	return nil
}

// promise reports whether a text, which begins as the launch does, promises a report, and
// returns the names of the work.
func promise(text string, l *agents.Launch) (names [3]string, ok bool) {
	lower := lowerASCII(text)
	promises := func(alternative string) bool { return strings.Contains(lower, alternative) }
	if !slices.ContainsFunc(strings.Split(l.Promise, "|"), promises) {
		return names, false
	}
	next := idOfWork
	for label := range strings.SplitSeq(l.IDs, "|") {
		at := strings.Index(lower, label)
		if at < 0 || at > 0 && isWord(lower[at-1]) {
			continue
		}
		if id := idAt(text[at+len(label):]); id != "" {
			names[next] = id
			if l.Lead == "" || next == nameOfMember {
				break
			}
			next = nameOfMember
		}
	}
	if l.Lead != "" && names[nameOfMember] == "" {
		names[nameOfMember], _, _ = strings.Cut(names[idOfWork], "@")
	}
	return names, true
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// lowerASCII returns a text in lower case, with the same length, so that indexes stay
// right.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return rawjson.View(lower)
}

func isWord(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c|' ' && c|' ' <= 'z' }

// idAt returns the id that a text begins with, without quotes.
func idAt(text string) string {
	text = strings.TrimLeft(text, " \t`'\"*=")
	end := strings.IndexFunc(text, func(c rune) bool {
		return c != '-' && c != '@' && c != '.' && c != ':' && c != '/' && (c > 'z' || !isWord(byte(c)))
	})
	if end < 0 {
		end = len(text)
	}
	return strings.TrimRight(text[:end], ".:/")
}

// hasWord reports whether an id stands in a text, and not only as a part of a longer word.
func hasWord(text, id string) bool {
	if id == "" {
		return false
	}
	for {
		at := strings.Index(text, id)
		if at < 0 {
			return false
		}
		end := at + len(id)
		if (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
		text = text[end:]
	}
}
