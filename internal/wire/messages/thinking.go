package messages

import (
	"strconv"
	"strings"
)

// mayThink reports whether there may be signed thinking, in the history or in
// what the model says next. The newest models bind a block of it to everything
// that stands before it: system prompt, tools and messages. A request with such
// a block behind something else is refused. So nothing may be added there, not
// even for one call: the caller's next request would lack it.
func (p *parser) mayThink() bool {
	switch {
	case p.conversation.thought:
		return true
	case p.thinking != "":
		return p.thinking != "disabled"
	}
	return thinksUnasked(p.facts.Model)
}

// thinksUnasked reports whether a model is known to think where the request does
// not mention it: those of Anthropic's do from 5.1 on. One without a version in
// its name is taken for the newest.
func thinksUnasked(model string) bool {
	_, name, isClaude := strings.Cut(strings.ToLower(model), "claude")
	if !isClaude {
		return false
	}
	major, minor, known := versionIn(name)
	return !known || major > 5 || major == 5 && minor >= 1
}

// versionIn returns the version in a model's name, such as -opus-5-5-20260801,
// -opus-5.5@20260801 or -3-7-sonnet-latest.
func versionIn(name string) (major, minor int, ok bool) {
	name, _, _ = strings.Cut(name, "-v") // the revision of a deployment
	numbers := strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	version := make([]int, 0, 2)
	for _, number := range numbers {
		if n, err := strconv.Atoi(number); err == nil && len(number) < len("2026") && len(version) < cap(version) {
			version = append(version, n)
			continue
		}
		break // a date
	}
	switch len(version) {
	case 0:
		return 0, 0, false
	case 1:
		return version[0], 0, true
	}
	return version[0], version[1], true
}
