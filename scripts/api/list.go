package main

import (
	"go/types"
	"slices"
)

type packagesByPath map[string]*types.Package

// exported returns the names that a package exports, methods as Type.Method.
func exported(pkg *types.Package) (names []string) {
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		names = append(names, name)
		named, ok := object.Type().(*types.Named)
		if _, isType := object.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				names = append(names, name+"."+m.Name())
			}
		}
	}
	slices.Sort(names)
	return names
}
