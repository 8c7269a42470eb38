package pausetool

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxReason is the most characters (runes) that a trimmed reason may have.
	MaxReason = 500

	// minReasonBytes is the fewest bytes that Strict accepts in a trimmed reason. It
	// counts bytes, not runes, so that short reasons in dense scripts pass.
	minReasonBytes = 10

	// specificLength is the number of runes from which a reason counts as specific,
	// whatever words it uses.
	specificLength = 50
)

const (
	problemLong  = "Reason too long (max 500 characters)"
	problemBrief = "Reason too brief (min 10 characters for clarity)"
	problemVague = "Please provide a more specific explanation of the blocking issue"
	problemDone  = "The task is not blocked: update its status in the todo list instead"
	problemEmpty = "Reason cannot be empty"
)

// Policy is a pause.Policy, which says what a program may rely on. [Parse] and [Judge]
// call it with a trimmed, non-empty reason.
type Policy = func(reason string) error

// Lenient is pause.Lenient.
func Lenient(reason string) error {
	reason = strings.TrimSpace(reason)
	switch {
	case reason == "":
		return reject(problemEmpty)
	case utf8.RuneCountInString(reason) > MaxReason:
		return reject(problemLong)
	}
	return nil
}

// Strict is pause.Strict.
func Strict(reason string) error {
	reason = strings.TrimSpace(reason)
	if err := Lenient(reason); err != nil {
		return err
	}
	if len(reason) < minReasonBytes {
		return reject(problemBrief)
	}
	if utf8.RuneCountInString(reason) >= specificLength {
		return nil
	}
	words := plainWords(reason)
	switch {
	case isVague(words):
		return reject(problemVague)
	case reportsCompletion(words):
		return reject(problemDone)
	}
	return nil
}

// plainWords returns the words of a reason in lower case. Apostrophes inside a
// word become straight ones; those around a word are removed.
func plainWords(reason string) []string {
	reason = strings.Map(func(r rune) rune {
		if r == '\u2019' || r == '\u02bc' {
			return '\''
		}
		return unicode.ToLower(r)
	}, reason)
	fields := strings.FieldsFunc(reason, func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	for i, field := range fields {
		fields[i] = strings.Trim(field, "'")
	}
	return slices.DeleteFunc(fields, func(word string) bool { return word == "" })
}

// isVague reports whether words contain a phrase that names no issue.
func isVague(words []string) bool {
	text := " " + strings.Join(words, " ") + " "
	phrases := []string{" can't continue ", " stuck ", " don't know ", " confused ", " need help ", " not sure "}
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// reportsCompletion reports whether words only say that something is done. It checks
// that every word is in a closed vocabulary, instead of searching for "task is done":
// any other word (cannot, until, half, 403) may name the blocking issue.
func reportsCompletion(words []string) bool {
	done := false
	for i, word := range words {
		switch word {
		case "finished", "complete", "completed", "done":
			done = true
		case "task", "tasks", "todo", "todos", "item", "items", "list", "work", "job", "everything", "it", "that", "this",
			"the", "my", "all", "every", "each", "both", "current", "whole", "entire", "requested", "assigned",
			"i", "i've", "i'm", "we", "we've", "it's", "that's",
			"is", "are", "am", "was", "were", "been", "has", "have", "had", "seems", "appears",
			"now", "already", "just", "fully", "completely", "entirely", "successfully", "finally", "successful",
			"and", "so", "with", "of", "ok", "okay", "yes", "tests", "pass", "passed", "passing", "verified":
		default:
			if i == 0 || !numbersTask(words[i-1], word) {
				return false
			}
		}
	}
	return done
}

// numbersTask reports whether word is the number of a task, as in "task 3".
// Other numbers, such as a status code, may be the blocking issue.
func numbersTask(before, word string) bool {
	switch before {
	case "task", "todo", "item":
		_, err := strconv.Atoi(word)
		return err == nil
	}
	return false
}
