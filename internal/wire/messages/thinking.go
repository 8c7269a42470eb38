package messages

import (
	"strconv"
	"strings"
)

// mayThink reports whether the history or the next answer may have signed
// thinking. The newest models bind a block of thinking to everything before it:
// system prompt, tools and messages. The API refuses a request with such a
// block after anything else. So carryon must not add anything before the block,
// not even for one call: the caller's next request would lack the addition.
func (p *parser) mayThink() bool {
	switch {
	case p.conversation.thought:
		return true
	case p.thinking != "":
		return p.thinking != "disabled"
	}
	return thinksUnasked(p.facts.Model)
}

// thinksUnasked reports whether a model may think although the request does not
// ask for it: Anthropic's models do from version 5.1 on. A model without a
// version in its name counts as the newest.
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
