// Package jslist reads the todo list that Codex writes in JavaScript.
//
// In Codex's code mode, the model calls one tool, exec, with the source of a script,
// and the script calls all other tools:
//
//	const plan = [{step: "Write a", status: "completed"}, {step: 'Write b', status: "pending"}];
//	text(await tools.update_plan({plan}));
//
// The source is never evaluated. A call is read if the script runs it once in any
// case, waits for it, and its argument is a literal, or is made of constants that the
// script binds to literals. If a script may call update_plan in any other way, Read
// returns an error. It never guesses.
//
// It trusts the runtime: a script that replaces JavaScript's own functions under
// computed names deceives it, about a list that the same script could write as it
// likes.
package jslist

import (
	"errors"
	"strings"
)

// maxSource is the size in bytes of the longest script that is read.
const maxSource = 256 << 10

// Errors of Read.
var (
	errSyntax   = errors.New("its script has a syntax that carryon does not read")
	errComputed = errors.New("its script computes the list")
	errMaybe    = errors.New("its script does not call it in every case, or not with await")
	errIndirect = errors.New("its script may call it under another name")
	errTooLong  = errors.New("its script is too long")
)

const toolName = "update_plan"

// MayCall reports whether a script may call update_plan. It is fast, and may be wrong
// only if it returns true.
func MayCall(source string) bool {
	for _, text := range [...]string{toolName, `\u`, "eval", "Function", "constructor", "globalThis"} {
		if strings.Contains(source, text) {
			return true
		}
	}
	for rest := source; ; {
		_, after, found := strings.Cut(rest, "tools")
		if !found {
			return false
		}
		if !strings.HasPrefix(after, ".") {
			return true
		}
		rest = after
	}
}

// Read returns the argument of the last call of update_plan: a value of map[string]any,
// []any, string, json.Number, bool and nil, some of which may occur in it several times.
// It returns nil if the script does not call update_plan.
func Read(source string) (map[string]any, error) {
	if len(source) > maxSource {
		return nil, errTooLong
	}
	found, err := tokenize(source)
	if err != nil {
		return nil, err
	}
	s := script{tokens: found}
	return s.lastCall()
}
