//go:build unix

package proxy

import (
	"os"
	"syscall"
)

// The signals of an operator. SIGHUP ends a proxy without -settings, as it ends other
// programs.
const (
	signalReload = syscall.SIGHUP
	signalOff    = syscall.SIGUSR1
	signalOn     = syscall.SIGUSR2
)

// switchSignals returns the signals that switch continuing off and on.
func switchSignals() []os.Signal { return []os.Signal{signalOff, signalOn} }

// reloadSignals returns the signal that makes the proxy read its settings again.
func reloadSignals(c *Config) []os.Signal {
	if c.Settings == "" {
		return nil
	}
	return []os.Signal{signalReload}
}

// obey does what a signal asks for.
func (c *control) obey(s os.Signal) {
	switch s {
	case signalReload:
		c.reload()
	case signalOff:
		c.switchTo(false, "SIGUSR1")
	case signalOn:
		c.switchTo(true, "SIGUSR2")
	}
}
