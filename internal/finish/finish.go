// Package finish says after which finish reasons carryon may continue. Add a
// new spelling of a plain stop here and nowhere else.
package finish

import "strings"

// IsPlainStop reports whether a provider's finish reason says that the model
// simply stopped. It is an allow-list: an unknown reason is more likely a new
// failure than a new word for stop. Spellings that occur: "stop", "STOP",
// "end_turn", "eos", "eos_token", "stop_sequence", "COMPLETE",
// "FINISH_REASON_STOP", "FinishReasonStop".
func IsPlainStop(reason string) bool {
	switch reason {
	case "stop": // the common case needs no normalising
		return true
	case "", "tool_calls", "length": // nor do these
		return false
	}
	word := strings.Map(letter, reason)
	switch strings.TrimPrefix(word, "finishreason") {
	case "stop", "endturn", "eos", "eostoken", "stopsequence", "complete":
		return true
	}
	return false
}

// letter maps ASCII letters to lower case and drops everything else.
func letter(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return -1
}
