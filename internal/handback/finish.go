package handback

import (
	"slices"
	"strings"
)

// IsPlainStop reports whether a provider's finish reason says that the model
// simply stopped. It is an allow-list: an unknown reason is more likely a new
// failure than a new word for stop. Spellings that occur: "stop", "STOP",
// "end_turn", "eos", "eos_token", "stop_sequence", "COMPLETE",
// "FINISH_REASON_STOP", "FinishReasonStop". They are compared by their letters:
// "eos_token" is listed as "eostoken".
func IsPlainStop(reason string) bool {
	switch reason {
	case "stop": // the common case needs no normalising
		return true
	case "", "tool_calls", "length": // nor do these
		return false
	}
	word := strings.Map(smallLetter, reason)
	switch strings.TrimPrefix(word, "finishreason") {
	case "stop", "endturn", "eos", "eostoken", "stopsequence", "complete":
		return true
	}
	return false
}

// IsRefusal reports whether a provider's finish reason says that the model or a filter
// has refused to answer. Providers have many words for it, so that a part of the word
// counts: "content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST",
// "RECITATION", "SPII", "LANGUAGE", "MODEL_ARMOR", "sensitive", "guardrail_intervened",
// "ERROR_TOXIC".
func IsRefusal(reason string) bool {
	switch reason {
	case "", "stop", "tool_calls", "length":
		return false
	}
	word := strings.Map(smallLetter, reason)
	return slices.ContainsFunc(refusalWords, func(part string) bool { return strings.Contains(word, part) })
}

var refusalWords = []string{ //nolint:gochecknoglobals // constant
	"filter", "refus", "safety", "prohibited", "block", "recitation", "spii", "language", "armor", "sensitive", "guardrail", "toxic", "moderat", "policy",
}

// smallLetter maps ASCII letters to lower case and drops everything else, digits too.
func smallLetter(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return -1
}
