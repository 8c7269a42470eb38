package agent

import (
	"slices"
	"strings"
)

// modes are the ways in which an agent can run without somebody at the keyboard.
// Each is a list of the words that choose it in a command: a flag such as
// "--print", a flag with its value such as "--approval-mode=yolo", or a subcommand
// such as "exec".
type modes struct {
	oneShot    []string // it answers one prompt, and ends
	unattended []string // it acts without asking for permission
}

// Mode says how a command runs its agent.
type Mode struct {
	OneShot    bool // nobody can answer a question
	Unattended bool // nobody is asked for permission
}

// Mode returns how a command of this agent runs it. The command and position are
// those of [Of].
func (a Agent) Mode(command []string, position int) Mode {
	words := command[position:]
	return Mode{OneShot: anyOf(words, a.modes.oneShot), Unattended: anyOf(words, a.modes.unattended)}
}

// anyOf reports whether an agent's words contain one of these flags or subcommands.
func anyOf(words, chosen []string) bool {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end] // what follows is text
	}
	return slices.ContainsFunc(chosen, func(choice string) bool {
		flag, value, hasValue := strings.Cut(choice, "=")
		switch {
		case !strings.HasPrefix(choice, "-"):
			return hasSubcommand(words, choice)
		case hasValue:
			return flagValue(words, flag) == value
		}
		return slices.ContainsFunc(words, func(word string) bool { return word == flag || strings.HasPrefix(word, flag+"=") })
	})
}

// hasSubcommand reports whether an agent's words begin with a subcommand, apart from
// flags and their values.
func hasSubcommand(words []string, name string) bool {
	afterFlag := false
	for _, word := range words {
		switch isFlag := strings.HasPrefix(word, "-"); {
		case word == name:
			return true
		case !isFlag && !afterFlag:
			return false // another subcommand, or text
		default:
			afterFlag = isFlag && !strings.Contains(word, "=")
		}
	}
	return false
}

// flagValue returns the value of the first of these flags in the words, or "".
func flagValue(words []string, flags ...string) string {
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		switch {
		case !slices.Contains(flags, name):
		case joined:
			return value
		case i+1 < len(words):
			return words[i+1]
		}
	}
	return ""
}
