//go:build !unix

package proxy

import "os"

// switchSignals returns no signals: this system has none for the switch.
func switchSignals() []os.Signal { return nil }

// reloadSignals returns no signals either.
func reloadSignals(*Config) []os.Signal { return nil }

func (*control) obey(os.Signal) {}
