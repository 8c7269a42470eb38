package pausetool

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRequest is the most runes that a reason which only asks for permission has. Longer
// reasons mostly say what the model needs.
const maxRequest = 200

const problemPermission = "No permission is needed: go on with the task"

// NeedsNoPermission rejects a reason which only asks for permission to go on,
// such as "Awaiting confirmation to continue" or "Should I proceed with the next item?".
// It accepts every other reason, in particular one that names a choice, something
// missing, something that cannot be undone, an error, or work of others.
//
// Package middleware applies it after [Strict] in sessions whose approval mode is YOLO,
// where nobody can answer, to the first pause of a user turn.
func NeedsNoPermission(reason string) error {
	if len(reason) > maxRequest*utf8.UTFMax || utf8.RuneCountInString(reason) > maxRequest {
		return nil
	}
	words := plainWords(reason)
	if onlyAsksPermission(words) {
		return reject(problemPermission)
	}
	return nil
}

// onlyAsksPermission reports whether words ask for permission to go on and name nothing that
// only a person can decide.
func onlyAsksPermission(words []string) bool {
	if slices.ContainsFunc(words, namesObstacle) {
		return false
	}
	text := " " + strings.Join(words, " ") + " "
	contains := func(phrase string) bool { return strings.Contains(text, " "+phrase+" ") }
	goesOn := slices.ContainsFunc(goOnPhrases(), contains)
	return goesOn && slices.ContainsFunc(permissionPhrases(), contains) || onlyWaits(words)
}

// permissionPhrases ask for permission, if a phrase of goOnPhrases says what for.
func permissionPhrases() []string {
	return []string{
		"confirmation", "confirm", "confirms", "permission", "approval", "approve", "approves", "consent", "go ahead", "green light",
		"should i", "should we", "shall i", "shall we", "may i", "can i", "could i", "do i",
		"do you want me", "would you like me", "you'd like me", "you want me", "if i should", "whether i should", "whether to",
		"on your word", "your signal", "user to say", "tells me to", "tell me to", "told to", "asked to", "instructed to", "instructions to", "instruction to",
		"waiting for the user to continue", "ready to",
	}
}

// goOnPhrases say what the model asks permission for.
func goOnPhrases() []string {
	return []string{
		"continue", "continuing", "proceed", "proceeding", "go on", "going on", "go ahead", "move on", "moving on", "carry on", "resume",
		"start", "starting", "begin", "beginning", "next", "the rest", "remaining", "keep going",
	}
}

// namesObstacle reports whether a word names something that only a person can decide.
// The stems err on the side of pausing: an accepted reason costs the user one message,
// while a blocked model that is told to go on may do harm.
func namesObstacle(word string) bool {
	switch word {
	case "or", "which", "what", "who", "where", "why", "how", "either", "between", "not", "no", "rm", "pr", "ci", "pay", "sudo", "root", "key", "keys", "sure":
		return true
	}
	return slices.ContainsFunc(obstacleStems(), func(stem string) bool { return strings.HasPrefix(word, stem) })
}

func obstacleStems() []string {
	return []string{
		// a choice
		"option", "choice", "choos", "decid", "decision", "prefer", "alternativ", "approach", "clarif", "ambigu", "unclear", "conflict",
		// something missing
		"miss", "absent", "unavailab", "credential", "password", "token", "secret", "access", "install", "licen", "provid", "suppl", "upload", "login",
		// something that cannot be undone
		"delet", "remov", "drop", "overwrit", "forc", "reset", "wip", "destr", "irrevers", "deploy", "production", "publish", "releas", "push", "merg",
		"payment", "purchas", "spend", "truncat", "purg", "revok", "migrat", "rollback", "revert", "uninstall", "send", "email", "rewrit", "format",
		// an error
		"error", "fail", "denied", "deni", "cannot", "can't", "couldn't", "unable", "broke", "break", "timeout", "timed", "exception", "crash", "invalid", "block",
		"limit", "quota",
		// somebody else's work
		"agent", "subagent", "teammate", "worker", "background", "pipeline", "build", "job", "process", "server", "finish", "complet", "review", "team", "colleague",
	}
}

// onlyWaits reports whether words say only that the model waits for permission.
func onlyWaits(words []string) bool {
	asks := false
	for _, word := range words {
		switch word {
		case "confirmation", "confirm", "permission", "approval", "approve", "go-ahead", "consent":
			asks = true
		case "awaiting", "await", "waiting", "wait", "for", "from", "of", "to", "by", "on", "the", "a", "your", "user", "user's", "users", "you", "please",
			"i", "i'm", "am", "is", "need", "needs", "needed", "require", "required", "requires", "requesting", "request", "asking", "explicit", "further", "final", "now":
		default:
			return false
		}
	}
	return asks
}
