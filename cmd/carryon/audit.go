package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
	"github.com/carryon-go/carryon/cmd/carryon/internal/audit"
	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
)

func auditCommand(stdout, stderr io.Writer) *cli.Command {
	var c audit.Config
	return &cli.Command{
		Name:      "audit",
		Usage:     "read the transcripts of your agents, and say what carryon would have done",
		ArgsUsage: "[PATHS]",
		Description: "Without PATHS, carryon reads the transcripts of Claude Code, Codex, opencode, qwen-code, Copilot CLI and gemini-cli.\n" +
			"It changes nothing, and sends nothing anywhere. It shows texts of conversations only with -content.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON", Destination: &c.JSON},
			&cli.StringFlag{Name: "price", Usage: "`dollars` per million tokens, to show what carryon would have cost: " + price.Usage, Destination: &c.Price},
			&cli.BoolFlag{Name: "content", Usage: "show the texts of ten turns: first those that the user answered with \"continue\", then stalls", Destination: &c.Content},
		},
		HideHelpCommand: true,
		Action: func(ctx context.Context, command *cli.Command) error {
			home, err := os.UserHomeDir()
			if err != nil {
				return err
			}
			c.Paths, c.Home, c.Getenv, c.Bar = command.Args().Slice(), home, os.Getenv, terminal(stderr)
			c.AtWork = atwork.File(os.Getenv, home)
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
			defer stop()
			report, err := audit.Run(ctx, &c)
			switch {
			case errors.Is(err, context.Canceled):
				return errors.New("interrupted")
			case err != nil:
				return err
			case c.JSON:
				return report.WriteJSON(stdout)
			}
			return report.WriteText(stdout)
		},
	}
}

// terminal returns w if it is a terminal, or nil.
func terminal(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) { //nolint:gosec // descriptors are small
		return w
	}
	return nil
}
