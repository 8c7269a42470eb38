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

// signalsOf returns the signals that the proxy obeys.
func signalsOf(c *Config) []os.Signal {
	if c.Settings == "" {
		return []os.Signal{signalOff, signalOn}
	}
	return []os.Signal{signalReload, signalOff, signalOn}
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
