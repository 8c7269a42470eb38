package continuation

import "strings"

// EndsPlainly reports whether a provider's finish reason says that the model
// had simply finished. It is an allow-list, because an unknown reason is more
// likely a new kind of trouble than a new word for stop. Spellings that occur:
// "stop", "STOP", "end_turn", "eos", "eos_token", "stop_sequence", "COMPLETE",
// "FINISH_REASON_STOP", "FinishReasonStop".
func EndsPlainly(finish string) bool {
	switch finish {
	case "stop": // the common case needs no normalising
		return true
	case "", "tool_calls", "length": // and so are these
		return false
	}
	word := strings.Map(letter, finish)
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
