package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// checkImage checks the Dockerfile with BuildKit's parser and linter, and that it finds what it copies in an unpacked
// archive. It pulls no base image and runs nothing.
func (r *release) checkImage(context.Context) error {
	text, err := os.ReadFile(filepath.Join(r.root, commandDir, "Dockerfile"))
	if err != nil {
		return err
	}
	file, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var warnings []error
	for _, w := range file.Warnings {
		warnings = append(warnings, errors.New(w.Short))
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		warnings = append(warnings, fmt.Errorf("%s: %s", rule, message))
	}})
	stages, _, err := instructions.Parse(file.AST, lint)
	if err != nil {
		return err
	}
	if err := errors.Join(warnings...); err != nil {
		return err
	}
	return checkStage(&stages[len(stages)-1])
}

// checkStage checks that the last stage starts the program that it has copied, and has the licences beside it.
func checkStage(stage *instructions.Stage) error {
	var sources, copies, entry []string
	user := ""
	for _, command := range stage.Commands {
		switch c := command.(type) {
		case *instructions.CopyCommand:
			for _, source := range c.SourcePaths {
				if !slices.Contains([]string{"carryon", "LICENSE", noticesFile}, source) {
					return fmt.Errorf("it copies %s, which is not in the build context", source)
				}
			}
			sources = append(sources, c.SourcePaths...)
			copies = append(copies, strings.TrimSuffix(c.DestPath, "/"), path.Join(c.DestPath, "carryon"))
		case *instructions.EntrypointCommand:
			entry = c.CmdLine
		case *instructions.UserCommand:
			user = c.User
		}
	}
	if len(entry) == 0 || !slices.Contains(copies, entry[0]) {
		return fmt.Errorf("its entry point %q is not what it copies", entry)
	}
	for _, file := range []string{"LICENSE", noticesFile} {
		if !slices.Contains(sources, file) {
			return fmt.Errorf("it has no %s", file)
		}
	}
	if user == "" || strings.HasPrefix(user, "root") || strings.HasPrefix(user, "0") {
		return errors.New("it runs as root")
	}
	return nil
}
