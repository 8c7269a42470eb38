// Command api compares the exported API of the published modules with that of the last release, and fails if the
// changelog does not name a change. apidiff finds the changes.
//
//	go run . -root ../.. -base /tmp/v1.2.3  compare with a checkout of the release
//	go run . -root ../..                    count the exported names; there is no release yet
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "folder of the repository")
	base := flag.String("base", "", "folder of the last release's checkout; without it, nothing is compared")
	flag.Parse()
	report, err := run(*root, *base)
	fmt.Print(report)
	if err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

const modulePath = "github.com/carryon-go/carryon"

// run returns a report, and an error if the changelog is not complete.
func run(root, base string) (report string, err error) {
	now, err := load(root)
	if err != nil {
		return "", err
	}
	if err := sameNames(now); err != nil || base == "" {
		return count(now), err
	}
	before, err := load(base)
	if err != nil {
		return "", err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	changes := compare(before, now)
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintln(&b, c)
	}
	b.WriteString(count(now))
	if missing := unmentioned(changes, string(changelog)); len(missing) > 0 {
		return b.String(), errors.New("CHANGELOG.md does not name, as code under Unreleased: " + strings.Join(missing, ", "))
	}
	return b.String(), nil
}
