package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load loads the packages that programs may import, of all published modules below root.
func load(root string) (packagesByPath, error) {
	dirs, err := modules(root)
	if err != nil {
		return nil, err
	}
	all := packagesByPath{}
	for _, dir := range dirs {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedSyntax | packages.NeedTypesInfo,
			Dir:  dir,
			Env:  append(os.Environ(), "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, pkg := range loaded {
			if len(pkg.Errors) > 0 {
				return nil, fmt.Errorf("%s: %w", pkg.PkgPath, pkg.Errors[0])
			}
			if pkg.Name != "main" && !strings.Contains("/"+pkg.PkgPath+"/", "/internal/") {
				all[pkg.PkgPath] = pkg.Types
			}
		}
	}
	return all, nil
}

// modules returns the folders of the published modules: those outside of conformance, examples and scripts.
func modules(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case !entry.IsDir():
			if name == "go.mod" {
				dirs = append(dirs, filepath.Dir(path))
			}
		case path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "examples"),
			filepath.Dir(path) == filepath.Clean(root) && (name == "conformance" || name == "scripts"):
			return filepath.SkipDir
		}
		return nil
	})
	return dirs, err
}
