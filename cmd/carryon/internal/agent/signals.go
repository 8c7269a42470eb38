package agent

import (
	"os"
	"slices"
	"syscall"

	"golang.org/x/term"
)

// fromTerminal returns the signals that a terminal sends.
func fromTerminal() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGQUIT} }

// fromOthers returns the signals that other processes send to this process alone.
func fromOthers() []os.Signal { return []os.Signal{syscall.SIGTERM, syscall.SIGHUP} }

func isFromTerminal(s os.Signal) bool { return slices.Contains(fromTerminal(), s) }

// HasTerminal reports whether the standard input is a terminal, at which somebody may
// answer an agent.
func HasTerminal() bool { return isTerminal(os.Stdin) }

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) } //nolint:gosec // descriptors are small
