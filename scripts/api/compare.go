package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// change is a change of one name of a package.
type change struct {
	pkg    string // its last element, as programs write it
	symbol string // Type, Type.Field, Type.Method, Func
	what   string // added, removed, changed
}

func (c change) String() string { return fmt.Sprintf("%s: %s.%s", c.what, c.pkg, c.symbol) }

// compare returns what changed between two listings, in order. It leaves out the fields and methods of a type that was
// added or removed.
func compare(before, now map[string][]string) (changes []change) {
	paths := maps.Clone(before)
	maps.Copy(paths, now)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		pkg := path[strings.LastIndex(path, "/")+1:]
		was, is := bySymbol(before[path]), bySymbol(now[path])
		symbols := maps.Clone(was)
		maps.Copy(symbols, is)
		for _, symbol := range slices.Sorted(maps.Keys(symbols)) {
			owner, _, member := strings.Cut(symbol, ".")
			if member && (was[owner] == "") != (is[owner] == "") {
				continue
			}
			switch {
			case was[symbol] == is[symbol]:
			case was[symbol] == "":
				changes = append(changes, change{pkg, symbol, "added"})
			case is[symbol] == "":
				changes = append(changes, change{pkg, symbol, "removed"})
			default:
				changes = append(changes, change{pkg, symbol, "changed"})
			}
		}
	}
	return changes
}

var symbolOf = regexp.MustCompile(`^(?:const|var|func|type|field|method|interface method) ([\w.]+)`)

func bySymbol(lines []string) map[string]string {
	all := map[string]string{}
	for _, line := range lines {
		if m := symbolOf.FindStringSubmatch(line); m != nil {
			all[m[1]] = line
		}
	}
	return all
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
		if name := c.symbol[strings.LastIndex(c.symbol, ".")+1:]; !words[name] {
			missing = append(missing, c.pkg+"."+c.symbol)
		}
	}
	return missing
}
