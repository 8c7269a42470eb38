package wire

import "strings"

// sideCalls returns how agents begin the prompts of side calls, which are not
// part of their work. Such a request has the conversation and all of its tools,
// so that it hits the provider's cache, and no header identifies it.
func sideCalls() []string {
	return []string{
		"CRITICAL: Respond with TEXT ONLY",                        // Claude Code, to shorten the conversation, as the next ones
		"[SUGGESTION MODE:",                                       // to guess what the user may write next
		"<system-reminder>This is a side question from the user.", // to answer it while the work goes on
		"The user stepped away and is coming back. Recap",         // to say where the work stands
		"Generate a short kebab-case name",                        // to name the conversation
		"You are now acting as the memory extraction subagent.",   // to remember it
		"You are performing a CONTEXT CHECKPOINT COMPACTION.",     // Codex, to shorten the conversation
	}
}

// IsSideCall reports whether text, the last message of a request and the
// user's, is the prompt of a side call. The answer to a side call is not a turn
// of the work.
func IsSideCall(text string) bool {
	for _, begin := range sideCalls() {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
