package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is a process that carries the mark of a run.
type process struct {
	id          int
	command     []string
	environment []string
}

// name returns how a user knows the process.
func (p process) name() string { return filepath.Base(p.command[0]) + " (" + strconv.Itoa(p.id) + ")" }

// has reports whether a variable is set in the process's environment.
func (p process) has(variable string) bool {
	return slices.ContainsFunc(p.environment, func(set string) bool { return strings.HasPrefix(set, variable+"=") })
}

// Leftovers ends the helper that a run has started for itself, and returns the names of
// the other processes that go on after it. They still use the run's proxy, which is gone.
func (l *Launch) Leftovers(run string) (names []string) {
	for _, p := range marked(run) {
		if l.helper != nil && p.has(l.helper.mark) {
			if found, err := os.FindProcess(p.id); err == nil && found.Kill() == nil {
				continue
			}
		}
		names = append(names, p.name())
	}
	return names
}
