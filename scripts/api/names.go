package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// oneName has the type names that several packages may share, with the reason.
func oneName() map[string]string {
	return map[string]string{
		"Option":     "the options of a package's only constructor",
		"Definition": "one type",
		"Client":     "wrappers of a type that the SDK or the queue calls Client",
		"Engine":     "a program uses only one",
		"Call":       "join.Call is for adapters",
		"Stream":     "join.Stream is for adapters",
		"Request":    "adapter.Request is for adapters, carryontest.Request for tests",
	}
}

// sameNames fails if two packages that a program may import have a type of the same name.
func sameNames(all packagesByPath) error {
	packagesOf := map[string][]string{}
	for path, pkg := range all {
		for _, name := range pkg.Scope().Names() {
			if object, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && object.Exported() {
				packagesOf[name] = append(packagesOf[name], path[strings.LastIndex(path, "/")+1:])
			}
		}
	}
	var names []string
	for name, in := range packagesOf {
		if len(in) > 1 && oneName()[name] == "" {
			slices.Sort(in)
			names = append(names, fmt.Sprintf("%s (%s)", name, strings.Join(in, ", ")))
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		return fmt.Errorf("types of one name in several packages: %s", strings.Join(names, "; "))
	}
	return nil
}
