package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"
)

func versionCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:            "version",
		Usage:           "print the version of this program",
		HideHelpCommand: true,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return unexpected(c.Args().First())
			}
			return printVersion(stdout)
		},
	}
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "carryon %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the version of the module that this program was built from. A
// build from a folder has no version.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "(built from a folder)"
}
