// Modproxy shows the modules of this repository to the go command as a release
// would: it writes a module proxy of files, in which every module that is
// published has the given version and requires the others in that version, without
// replace directives.
//
//	go run ./internal/testkit/modproxy -version v0.0.0-check -o /tmp/proxy
//	GOPROXY=file:///tmp/proxy,https://proxy.golang.org GONOSUMDB=github.com/carryon-go go get github.com/carryon-go/carryon@v0.0.0-check
//
// With -edit instead of -o, it writes the version into the go.mod files of the
// working tree, which is the commit to tag, and prints the tags.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
)

func main() {
	version := flag.String("version", "", "the `version` of all modules, such as v1.2.3")
	out := flag.String("o", "", "write a module proxy into this `folder`")
	edit := flag.Bool("edit", false, "write the version into the go.mod files of the working tree")
	root := flag.String("root", ".", "the `folder` of the repository")
	flag.Parse()
	if err := run(os.Stdout, *root, *version, *out, *edit); err != nil {
		fmt.Fprintln(os.Stderr, "modproxy:", err)
		os.Exit(1)
	}
}

var validVersion = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func run(w io.Writer, root, version, out string, edit bool) error {
	switch {
	case !validVersion.MatchString(version):
		return fmt.Errorf("%q is not a version like v1.2.3", version)
	case (out != "") == edit:
		return errors.New("one of -o and -edit is needed")
	}
	repo, err := readRepository(root)
	if err != nil {
		return err
	}
	for _, m := range repo.modules {
		if edit {
			err = repo.edit(m, version)
			fmt.Fprintln(w, path.Join(m.dir, version)) //nolint:errcheck // the standard output
		} else {
			err = repo.publish(m, version, out)
			fmt.Fprintln(w, m.path+"@"+version) //nolint:errcheck // the standard output
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
	}
	return nil
}

// isPublished reports whether the module in a folder of the repository is meant
// for other programs.
func isPublished(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return top != "conformance" && top != "examples" && top != "scripts" && !strings.Contains(dir, "testdata")
}
