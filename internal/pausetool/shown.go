package pausetool

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carryon-go/carryon/internal/terminal"
)

const noReason = "no reason given"

// Shown returns reason in a form that is safe to show to a user: one line of at most
// [MaxReason] characters, or "no reason given" if nothing visible is left. It removes
// terminal escape sequences and all control and format characters (such as those that
// change the direction of text or have no width), turns each run of white space into
// one space, and replaces bytes that are not UTF-8 by U+FFFD. Shown is idempotent.
func Shown(reason string) string {
	reason = oneLine(reason)
	if runes := []rune(reason); len(runes) > MaxReason {
		reason = strings.TrimSpace(string(runes[:MaxReason]))
	}
	return cmp.Or(reason, noReason)
}

// oneLine is Shown without the limit on the length and without the text for an empty
// reason.
func oneLine(reason string) string {
	reason = strings.ToValidUTF8(reason, string(utf8.RuneError))
	var b strings.Builder
	b.Grow(len(reason))
	e := terminal.Escapes{}
	space := false
	for len(reason) > 0 {
		if n := e.Length(reason); n > 0 {
			reason = reason[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(reason)
		reason = reason[size:]
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}
