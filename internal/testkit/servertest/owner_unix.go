//go:build unix

package servertest

import (
	"os/exec"
	"syscall"
)

// apply runs cmd as the owner.
func (o *owner) apply(cmd *exec.Cmd) {
	if o != nil {
		credential := &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)} //nolint:gosec // ids are small
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	}
}
