// Package separator separates the texts, and the reasoning, of two turns.
package separator

import "strings"

// Text stands between the texts of two turns if both have text. Line breaks at the
// end of the first text count as a part of it; see [After].
const Text = "\n\n"

// After returns the part of [Text] that text does not end in already: ""
// if it ends in a blank line.
func After(text string) string {
	missing := Text
	for missing != "" && strings.HasSuffix(text, "\n") {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		missing = missing[1:]
	}
	return missing
}

// End remembers how the text, or the reasoning, that was shown so far ends. The zero
// value means that there was none.
type End struct {
	some    bool
	missing uint8 // bytes of the Text that are missing at the end
}

// Add adds what was shown next.
func (r *End) Add(text string) {
	if text == "" {
		return
	}
	missing := len(After(text))
	if strings.Trim(text, "\r\n") == "" && r.some { // its line breaks add to earlier ones
		missing = max(0, int(r.missing)-(len(Text)-missing))
	}
	*r = End{some: true, missing: uint8(missing)} //nolint:gosec // as long as Text at most
}

// Separator returns what to put before that of another turn, or "" if there was none yet.
func (r End) Separator() string {
	return Text[len(Text)-int(r.missing):]
}
