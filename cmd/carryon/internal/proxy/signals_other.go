//go:build !unix

package proxy

import "os"

// signalsOf returns the signals that the proxy obeys: this system has none for it.
func signalsOf(*Config) []os.Signal { return nil }

func (*control) obey(os.Signal) {}
