package pause

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxReason is how many characters (runes) a reason may have, trimmed.
	MaxReason = 500

	// MinReasonBytes is how many bytes [Strict] asks of a reason, trimmed.
	// Bytes, so that short reasons in dense scripts pass.
	MinReasonBytes = 10

	// specificFrom is the length in runes from which a reason is taken to say
	// something specific, whatever words it uses.
	specificFrom = 50
)

const (
	problemLong  = "Reason too long (max 500 characters)"
	problemBrief = "Reason too brief (min 10 characters for clarity)"
	problemVague = "Please provide a more specific explanation of the blocking issue"
	problemDone  = "The task is not blocked: update its status in the todo list instead"
	problemEmpty = "Reason cannot be empty"
)

// Policy judges a reason: nil accepts it, an error rejects it and its text is
// told to the model after "Invalid pause reason: ". [Parse] and [JudgePrinted]
// call it with a reason that is trimmed and not empty, of any length. It may be
// called concurrently.
type Policy func(reason string) error

// Lenient is the [Policy] that accepts every reason of 1 to [MaxReason]
// characters.
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

// Strict is the default [Policy]. It rejects what [Lenient] rejects, a reason
// under [MinReasonBytes], and a reason under 50 characters that is vague or
// only reports that the task is completed.
//
// Vague is one that holds, as whole words in any case, "can't continue",
// "stuck", "don't know", "confused", "need help" or "not sure". A report of
// completion holds "finished", "complete", "completed" or "done" and besides
// nothing but the words that go with it, so "The task is now complete!" is
// one, and "Cannot complete the task: no disk" and "Task done, push denied"
// are not.
func Strict(reason string) error {
	reason = strings.TrimSpace(reason)
	if err := Lenient(reason); err != nil {
		return err
	}
	if len(reason) < MinReasonBytes {
		return reject(problemBrief)
	}
	if utf8.RuneCountInString(reason) >= specificFrom {
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

// plainWords returns the words of a reason in lower case, with straight
// apostrophes inside them and none around them.
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
	words := fields[:0]
	for _, field := range fields {
		if word := strings.Trim(field, "'"); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// isVague reports whether one of the phrases that name no issue is among words.
func isVague(words []string) bool {
	text := " " + strings.Join(words, " ") + " "
	for _, phrase := range [...]string{
		" can't continue ", " stuck ", " don't know ", " confused ", " need help ", " not sure ",
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// reportsCompletion reports whether words say that something is done and
// nothing else. A closed vocabulary is used rather than a search for "task is
// done", because any word outside it (cannot, until, half, 403) may be the
// very issue that blocks.
func reportsCompletion(words []string) bool {
	done := false
	for i, word := range words {
		switch {
		case meansDone(word):
			done = true
		case goesWithDone(word):
		case i > 0 && numbersTask(words[i-1], word):
		default:
			return false
		}
	}
	return done
}

func meansDone(word string) bool {
	switch word {
	case "finished", "complete", "completed", "done":
		return true
	}
	return false
}

func goesWithDone(word string) bool {
	switch word {
	case "task", "tasks", "todo", "todos", "item", "items", "list", "work", "job", "everything", "it", "that", "this",
		"the", "my", "all", "every", "each", "both", "current", "whole", "entire", "requested", "assigned",
		"i", "i've", "i'm", "we", "we've", "it's", "that's",
		"is", "are", "am", "was", "were", "been", "has", "have", "had", "seems", "appears",
		"now", "already", "just", "fully", "completely", "entirely", "successfully", "finally", "successful",
		"and", "so", "with", "of", "ok", "okay", "yes", "tests", "pass", "passed", "passing", "verified":
		return true
	}
	return false
}

// numbersTask reports whether word is the number of the task named before it,
// as in "task 3". Other numbers may be the issue, such as a status code.
func numbersTask(before, word string) bool {
	switch before {
	case "task", "todo", "item":
		_, err := strconv.Atoi(word)
		return err == nil
	}
	return false
}
