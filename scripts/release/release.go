package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// release is one version of the repository's modules.
type release struct {
	root    string // the repository, in which the version is written or tagged
	version string // with its v
	date    time.Time
	work    string // for modules and what is built
	tools   string // the folder of this module
	out     io.Writer
}

// commandDir is the module of the command, below the root.
const commandDir = "cmd/carryon"

// check makes the release in a clone of the last commit, and tries it as its users would.
func (r *release) check(ctx context.Context) error {
	if status, err := output(ctx, r.root, nil, "git", "status", "--porcelain"); err != nil {
		return err
	} else if len(status) > 0 {
		r.say("The working tree has changes that are not committed. They are not in this check.")
	}
	clone := filepath.Join(r.work, "clone")
	if err := os.RemoveAll(clone); err != nil {
		return err
	}
	if _, err := output(ctx, r.work, nil, "git", "clone", "-q", "--no-local", r.root, clone); err != nil {
		return err
	}
	c := *r
	c.root = clone
	var tags []string
	return c.steps(ctx, []step{
		{"versions, changelog and tags", func(ctx context.Context) (err error) {
			tags, err = c.prepare(ctx)
			if err != nil {
				return err
			}
			return c.tag(ctx, tags)
		}},
		{"the modules, from the tags in an empty folder", func(ctx context.Context) error { return c.tryModules(ctx, tags) }},
		{"the modules, in a clone of the tags", func(ctx context.Context) error { return c.tryClone(ctx, tags) }},
		{"archives, checksums, SBOMs, notes", func(ctx context.Context) error { return c.build(ctx, filepath.Join(c.work, "dist")) }},
		{"the image's Dockerfile (no image is built)", func(ctx context.Context) error { return c.checkImage(ctx) }},
	})
}

// step is a part of a check.
type step struct {
	name string
	run  func(context.Context) error
}

// steps runs them in order, until one fails.
func (r *release) steps(ctx context.Context, steps []step) error {
	for _, s := range steps {
		begin := time.Now()
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.say("ok  %s, %s", s.name, time.Since(begin).Round(time.Second/10))
	}
	return nil
}

func (r *release) say(format string, args ...any) {
	fmt.Fprintf(r.out, format+"\n", args...) //nolint:errcheck // the standard output
}

// tag commits the release in a clone and gives it its tags.
func (r *release) tag(ctx context.Context, tags []string) error {
	identity := []string{"-c", "user.name=release", "-c", "user.email=release@localhost", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}
	if _, err := output(ctx, r.root, nil, "git", "add", "--all"); err != nil {
		return err
	}
	if _, err := output(ctx, r.root, nil, "git", append(identity, "commit", "-q", "-m", r.version)...); err != nil {
		return err
	}
	for _, tag := range tags {
		if _, err := output(ctx, r.root, nil, "git", append(identity, "tag", "-a", "-m", tag, tag)...); err != nil {
			return err
		}
	}
	return nil
}

// dirOf returns the folder of the module that a tag releases.
func (r *release) dirOf(tag string) string {
	return filepath.Join(r.root, filepath.FromSlash(strings.TrimSuffix(strings.TrimSuffix(tag, r.version), "/")))
}

// modulePath returns the path of the module in a folder.
func modulePath(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s: go.mod names no module", dir)
	}
	return string(found[1]), nil
}

// usersEnv is the environment of somebody who gets the modules from git. The address of the repository leads to the
// tagged clone. Other modules come from the machine's module cache or from its module proxy.
func (r *release) usersEnv(ctx context.Context) ([]string, error) {
	top, err := modulePath(r.root)
	if err != nil {
		return nil, err
	}
	known, err := output(ctx, r.root, nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, upstream, _ := strings.Cut(strings.TrimSpace(string(known)), "\n")
	return []string{
		"GOMODCACHE=" + filepath.Join(r.work, "modules"), "GOPATH=" + filepath.Join(r.work, "gopath"), "GOBIN=", "GOWORK=off",
		"GOFLAGS=-modcacherw", "CGO_ENABLED=0", "GOSUMDB=off", "GONOPROXY=" + top,
		"GODEBUG=goindex=0", // Go remembers which files a version has, and an earlier check may have had others
		"GOPROXY=file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download")) + "," + upstream,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + r.root + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + top,
	}, nil
}

// forget removes what an earlier check has kept of the repository's modules.
func (r *release) forget(top string) error {
	modules := filepath.Join(r.work, "modules")
	owner := filepath.FromSlash(top[:strings.LastIndex(top, "/")])
	return errors.Join(
		os.RemoveAll(filepath.Join(modules, owner)),
		os.RemoveAll(filepath.Join(modules, "cache", "download", owner)),
		os.RemoveAll(filepath.Join(modules, "cache", "vcs")),
	)
}

// tryModules gets every module in an empty folder, and builds all of its packages.
func (r *release) tryModules(ctx context.Context, tags []string) error {
	env, err := r.usersEnv(ctx)
	if err != nil {
		return err
	}
	top, err := modulePath(r.root)
	if err != nil {
		return err
	}
	if err := r.forget(top); err != nil {
		return err
	}
	for _, tag := range tags {
		module, err := modulePath(r.dirOf(tag))
		if err != nil {
			return err
		}
		if err := r.tryModule(ctx, env, module); err != nil {
			return fmt.Errorf("%s: %w", module, err)
		}
	}
	return nil
}

func (r *release) tryModule(ctx context.Context, env []string, module string) error {
	program, err := os.MkdirTemp(r.work, "program")
	if err != nil {
		return err
	}
	defer os.RemoveAll(program) //nolint:errcheck // a temporary folder
	for _, args := range [][]string{{"mod", "init", "program"}, {"get", module + "/...@" + r.version}, {"build", module + "/..."}} {
		if _, err := output(ctx, program, env, "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// tryClone builds every module where it stands in the tagged commit, with the go.sum that it has there.
func (r *release) tryClone(ctx context.Context, tags []string) error {
	env, err := r.usersEnv(ctx)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		if _, err := output(ctx, r.dirOf(tag), env, "go", "build", "-mod=readonly", "./..."); err != nil {
			return fmt.Errorf("%s: %w", tag, err)
		}
	}
	return nil
}

// output runs a command in a folder and returns its standard output. The error has what the command wrote to its error
// output.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s %s: %s%s", name, strings.Join(args, " "), text, exit.Stderr)
	}
	return text, err
}
