package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
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

func TestListHasAllThatIsExported(t *testing.T) {
	t.Parallel()
	got := strings.Join(list(parse(t, "example.com/tasks", `package tasks

import "errors"

const Limit = 5
const hidden = 1
var ErrLimit = errors.New("limit")

type State string
const Stored Kind = 1
type Kind int
func (Kind) MarshalText() ([]byte, error) { return nil, nil }
type Alias = State
type Task struct {
	ID   string `+"`json:\"id\"`"+`
	note string
}
func (Task) Ended() bool { return false }
func (*Task) End(err error) {}
func (*Task) lose() {}
type List[T any] struct{ Items []T }
type Source interface {
	Tasks(after string) ([]Task, error)
	sealed()
}
type Func func(Task) error
func Start[T any](name string, opts ...func(*T)) (*Task, error) { return nil, nil }
`)), "\n")
	const want = `const Limit untyped int = 5
const Stored Kind
field List.Items []T
field Task.ID string ` + "`json:\"id\"`" + `
func Start[T any](name string, opts ...func(*T)) (*Task, error)
interface method Source.Tasks(after string) ([]Task, error)
method Kind.MarshalText() ([]byte, error) of Kind
method Task.End(err error) of *Task
method Task.Ended() bool of Task
type Alias = State
type Func func(Task) error
type Kind int
type List[T any] struct
type Source interface, which no other package implements
type State string
type Task struct
var ErrLimit error`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestWhatChangedMustStandInTheChangelog(t *testing.T) {
	t.Parallel()
	before := map[string][]string{
		"m/kept": {"func Same()", "func Gone()", "type Task struct", "field Task.ID string"},
		"m/lost": {"func Lost()"},
	}
	now := map[string][]string{
		"m/kept": {"func Same()", "type Task struct", "field Task.ID int", "type New struct", "field New.ID string", "method New.End() of New"},
		"m/come": {"func Come()"},
	}
	var got []string
	changes := compare(before, now)
	for _, c := range changes {
		got = append(got, c.String())
	}
	const want = "added: come.Come; removed: kept.Gone; added: kept.New; changed: kept.Task.ID; removed: lost.Lost"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}

	changelog := "# Changelog\n\n## [Unreleased]\n\n- `Come`, and `kept.New`.\n- `Task.ID` is a number. Gone.\n\n## [1.0.0]\n\n- `Gone`, `Lost`\n"
	if text := strings.Join(unmentioned(changes, changelog), " "); text != "kept.Gone lost.Lost" {
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

	report, err := run(changed, old, false)
	if err == nil || err.Error() != "CHANGELOG.md does not name, as code under Unreleased: tasks.Start" {
		t.Error(err)
	}
	for _, want := range []string{
		"incompatible: github.com/carryon-go/carryon/tasks: Start: changed from func(int) to func(string)",
		"changed: tasks.Start", "added: tasks.Stop",
	} {
		if !strings.Contains(report, want+"\n") {
			t.Errorf("%q is not in\n%s", want, report)
		}
	}

	// The same comparison with the files in api/.
	if _, err := run(old, "", true); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(old, "api"), filepath.Join(changed, "api")); err != nil {
		t.Fatal(err)
	}
	_, again := run(changed, "", false)
	if again == nil || again.Error() != err.Error() {
		t.Error(again)
	}
	if _, err := run(changed, "", true); err != nil {
		t.Fatal(err)
	}
	if _, err := run(changed, "", false); err != nil {
		t.Errorf("nothing has changed since: %v", err)
	}
}
