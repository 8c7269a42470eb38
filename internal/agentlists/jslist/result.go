package jslist

import "strings"

// State is how far a script has come.
type State uint8

// The states of a script.
const (
	Unknown   State = iota // the result does not say
	Running                // it goes on, and the tool wait asks for its result
	Failed                 // it has ended with an error
	Completed              // it has run to its end
)

// StateOf returns the state of a script according to a result of exec or wait. While
// the script runs, cell names it.
func StateOf(result string) (state State, cell string) {
	line, _, _ := strings.Cut(result, "\n")
	line = strings.TrimSpace(line)
	switch {
	case line == "Script completed":
		return Completed, ""
	case strings.HasPrefix(line, "Script failed"):
		return Failed, ""
	}
	if cell, running := strings.CutPrefix(line, "Script running with cell ID "); running {
		return Running, cell
	}
	return Unknown, ""
}
