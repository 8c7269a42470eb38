// Command release makes a release of the repository's modules and of the command, and rehearses one.
//
//	go run . check -version v0.1.0           rehearse it: on a clone of the last commit, all that a tag would do
//	go run . prepare -version v0.1.0         write the version into the working tree, and print the tags
//	go run . build -version v0.1.0 -o dist   make archives, checksums, SBOMs and notes, from the tags
//	go run . notices -o dist                 write the licences of the command and of what it contains
//
// The modules reach the go command from git, as they reach the module proxy after a release. So a rehearsal meets what
// users of the tags would meet. It needs the network only for modules that are not in the module cache, and it builds no
// image: it checks the Dockerfile with BuildKit's parser and linter.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("which of check, prepare, build and notices?")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	version := flags.String("version", "", "the `version`, such as v0.1.0")
	root := flags.String("root", "../..", "the `folder` of the repository")
	dist := flags.String("o", "", "write archives and notes into this `folder`")
	work := flags.String("work", "", "keep modules in this `folder`, for the next time")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	tools, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	r := release{version: *version, date: time.Now(), tools: tools, out: out}
	r.root, err = filepath.Abs(*root)
	if err != nil {
		return err
	}
	if *work == "" {
		*work, err = os.MkdirTemp("", "release")
		if err != nil {
			return err
		}
		defer os.RemoveAll(*work) //nolint:errcheck // a temporary folder
	}
	r.work, err = filepath.Abs(*work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.work, 0o755); err != nil { //nolint:gosec // others may read it
		return err
	}
	switch args[0] {
	case "check":
		return r.check(ctx)
	case "prepare":
		tags, err := r.prepare(ctx)
		for _, tag := range tags {
			fmt.Fprintln(out, tag) //nolint:errcheck // the standard output
		}
		return err
	case "build", "notices":
		if *dist == "" {
			return fmt.Errorf("%s needs -o", args[0])
		}
		if args[0] == "notices" {
			return r.writeNotices(ctx, *dist)
		}
		return r.build(ctx, *dist)
	}
	return fmt.Errorf("there is no %q: check, prepare, build or notices", args[0])
}
