package httprr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// Recorded returns the calls of Chat Completions that langchaingo's module has recorded with various providers. It
// is an error if there are none.
func Recorded(ctx context.Context) ([]Chat, error) {
	dir, err := ModuleDir(ctx, "github.com/tmc/langchaingo")
	if err != nil {
		return nil, err
	}
	exchanges, err := Find(dir)
	if err != nil {
		return nil, err
	}
	chats, err := Chats(exchanges)
	if err == nil && len(chats) == 0 {
		err = fmt.Errorf("no recordings of chats in %s", dir)
	}
	return chats, err
}

// ModuleDir returns the folder of a module's source, in the version that the module around the working directory
// requires. It asks the go command.
func ModuleDir(ctx context.Context, module string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return "", fmt.Errorf("go list -m %s: %w: %s", module, err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	dir := string(bytes.TrimSpace(out))
	if dir == "" {
		return "", fmt.Errorf("go list -m %s: the module is required but not downloaded", module)
	}
	return dir, nil
}
