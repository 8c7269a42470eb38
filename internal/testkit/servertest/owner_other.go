//go:build !unix

package servertest

import "os/exec"

// apply does nothing: only Unix has a root user.
func (o *owner) apply(*exec.Cmd) {}
