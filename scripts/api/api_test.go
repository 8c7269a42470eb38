package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, path, source string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "source.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check(path, fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func TestNamesAreCounted(t *testing.T) {
	t.Parallel()
	got := strings.Join(exported(parse(t, "example.com/tasks", `package tasks

import "errors"

const Limit, hidden = 5, 1
var ErrLimit = errors.New("limit")

type State string
const Stored State = "stored"
func (State) MarshalText() ([]byte, error) { return nil, nil }
type Alias = State
type Task struct { ID string; State }
func (Task) Ended() bool { return false }
func (*Task) End(err error) {}
func (*Task) lose() {}
type Source interface { Tasks(after string) ([]Task, error) }
func Start[T any](name string, opts ...func(*T)) (*Task, error) { return nil, nil }
`)), " ")
	const want = "Alias ErrLimit Limit Source Start State State.MarshalText Stored Task Task.End Task.Ended"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatChangedMustStandInTheChangelog(t *testing.T) {
	t.Parallel()
	before := packagesByPath{
		"m/kept": parse(t, "m/kept", `package kept
func Same() {}
func Gone() {}
type Task struct{ ID string }
func (*Task) End() {}
type Kind int
func (Kind) Old() {}
`),
		"m/lost": parse(t, "m/lost", "package lost\nfunc Lost() {}"),
	}
	now := packagesByPath{
		"m/kept": parse(t, "m/kept", `package kept
func Same() {}
type Task struct{ ID int }
type Kind int
type New struct{ ID string }
`),
		"m/come": parse(t, "m/come", "package come\nfunc Come() {}"),
	}
	changes := compare(before, now)
	all := unmentioned(changes, "")
	slices.Sort(all)
	if text := strings.Join(all, " "); text != "come.come kept.End kept.Gone kept.ID kept.New kept.Old lost.lost" {
		t.Errorf("changed: %s\n%v", text, changes)
	}
	changelog := "# Changelog\n\n## [Unreleased]\n\n- `come`, and `kept.New`.\n" +
		"- `Task.ID` is a number, `End` and `Old` go. Gone.\n\n## [1.0.0]\n\n- `Gone`, `lost`\n"
	if text := strings.Join(unmentioned(changes, changelog), " "); text != "kept.Gone lost.lost" {
		t.Errorf("not mentioned: %s", text)
	}
}

func TestTypesOfOneName(t *testing.T) {
	t.Parallel()
	a, b := parse(t, "m/a", "package a; type Option int; type State int; func Start() {}"), parse(t, "m/b", "package b; type Option int; type State int; func Start() {}")
	err := sameNames(packagesByPath{"m/a": a, "m/b": b})
	if err == nil || err.Error() != "types of one name in several packages: State (a, b)" {
		t.Error(err)
	}
}

// A release in another folder is compared as types, so that the report names what is incompatible.
func TestRunComparesWithACheckout(t *testing.T) {
	t.Parallel()
	repository := func(source, changelog string) string {
		root := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":                    "module " + modulePath + "\n\ngo 1.25.0\n",
			"CHANGELOG.md":              "# Changelog\n\n## [Unreleased]\n\n" + changelog + "\n",
			"tasks/tasks.go":            source,
			"tasks/internal/x/x.go":     "package x\n\nfunc Hidden() {}\n",
			"examples/program/main.go":  "package main\n\nfunc main() {}\n",
			"conformance/go.mod":        "module left.out\n",
			"testdata/module/go.mod":    "module left.out\n",
			"cmd/program/main.go":       "package main\n\nfunc main() {}\n",
			"cmd/program/nothing/no.go": "package nothing\n",
		} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return root
	}
	old := repository("package tasks\n\nfunc Start(n int) {}\n", "")
	changed := repository("package tasks\n\nfunc Start(n string) {}\n\nfunc Stop() {}\n", "- `Stop`.")

	report, err := run(changed, old)
	if err == nil || err.Error() != "CHANGELOG.md does not name, as code under Unreleased: tasks.Start" {
		t.Error(err)
	}
	for _, want := range []string{
		"incompatible: tasks: Start: changed from func(int) to func(string)", "tasks: Stop: added",
		"   2  tasks", "   2  exported names in 2 packages",
	} {
		if !strings.Contains(report, want+"\n") {
			t.Errorf("%q is not in\n%s", want, report)
		}
	}
	if report, err := run(old, ""); err != nil || report != "   0  cmd/program/nothing\n   1  tasks\n   1  exported names in 2 packages\n" {
		t.Error(report, err)
	}
}
