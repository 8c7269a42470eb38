package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
)

// change is a change of a package, or of one of its names.
type change struct {
	pkg        string // its last element, as programs write it
	name       string // of the package, type, field, method, function, constant or variable
	message    string // apidiff's
	compatible bool
}

func (c change) String() string {
	if c.compatible {
		return c.pkg + ": " + c.message
	}
	return "incompatible: " + c.pkg + ": " + c.message
}

// nameOf finds the name in a message such as "(*Manager).Find: removed".
var nameOf = regexp.MustCompile(`^[^:]*?(\w+)\)?:`)

// compare returns what changed between two releases, in order.
func compare(before, now packagesByPath) (changes []change) {
	paths := maps.Clone(before)
	maps.Copy(paths, now)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		pkg := path[strings.LastIndex(path, "/")+1:]
		switch {
		case before[path] == nil:
			changes = append(changes, change{pkg, pkg, "added", true})
			continue
		case now[path] == nil:
			changes = append(changes, change{pkg, pkg, "removed", false})
			continue
		}
		for _, c := range apidiff.Changes(before[path], now[path]).Changes {
			name := pkg
			if m := nameOf.FindStringSubmatch(c.Message); m != nil {
				name = m[1]
			}
			changes = append(changes, change{pkg, name, c.Message, c.Compatible})
		}
	}
	return changes
}

// unmentioned returns the changes whose name is not, as code, in the changelog's section Unreleased.
func unmentioned(changes []change, changelog string) (missing []string) {
	_, unreleased, _ := strings.Cut(changelog, "\n## [Unreleased]\n")
	unreleased, _, _ = strings.Cut(unreleased, "\n## [")
	words := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(unreleased, -1) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(code, -1) {
			words[word] = true
		}
	}
	for _, c := range changes {
		if name := c.pkg + "." + c.name; !words[c.name] && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// count returns how many names each package exports: constants, variables, types, functions, and methods of its types.
// Fields, methods of interfaces, and methods that a type gets from an embedded one do not count.
func count(all packagesByPath) string {
	var b strings.Builder
	total := 0
	for _, path := range slices.Sorted(maps.Keys(all)) {
		n := len(exported(all[path]))
		total += n
		fmt.Fprintf(&b, "%4d  %s\n", n, strings.TrimPrefix(path, modulePath+"/"))
	}
	return fmt.Sprintf("%s%4d  exported names in %d packages\n", b.String(), total, len(all))
}
