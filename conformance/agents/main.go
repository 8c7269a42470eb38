// Command agents runs unmodified agents against a scripted model that stalls, once without carryon and once under
// "carryon run". For each, it prints how many files it wrote, what carryon added, and whether a prompt of carryon's got
// into its history.
//
//	npm install --no-save --prefix conformance/agents
//	make agents
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "run the agents whose `names` contain one of these, separated by commas")
	folder := flag.String("agents", "conformance/agents", "the `folder` of the agents")
	verbose := flag.Bool("v", false, "show what the agents print")
	document := flag.String("write", "", "write the table into this `document`, between its marks")
	flag.Parse()
	if err := run(*folder, *only, *document, *verbose); err != nil {
		log.Fatal(err)
	}
}

// errUnfinished is the failure of a run under carryon.
var errUnfinished = errors.New("an agent did not finish its list, has lost tools, or has a prompt of carryon's in its history")

func run(folder, only, document string, verbose bool) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "carryon-bin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin) //nolint:errcheck // the system's to clean up
	r := runner{agents: folder, bin: bin, carryon: filepath.Join(bin, "carryon")}
	if verbose {
		r.log = os.Stderr
	}
	ctx := context.Background()
	if err := r.build(ctx); err != nil {
		return err
	}
	var table strings.Builder
	unfinished, err := r.table(ctx, io.MultiWriter(os.Stdout, &table), append(npmAgents(), goAgents()...), only)
	if err == nil && document != "" {
		err = write(document, table.String())
	}
	if err == nil && unfinished {
		err = errUnfinished
	}
	return err
}

// table prints a line for each agent that is installed.
func (r runner) table(ctx context.Context, w io.Writer, agents []agent, only string) (unfinished bool, err error) {
	if _, err := fmt.Fprintln(w, "| agent | run | protocol | files, of 3, without | with | extra requests | prompts in its history | carryon says |\n"+
		"|---|---|---|---|---|---|---|---|"); err != nil {
		return false, err
	}
	for _, a := range agents {
		version := r.versionOf(a)
		if version == "" || !named(a, only) {
			continue
		}
		alone, err := r.run(ctx, a, false)
		if err != nil {
			return false, err
		}
		with, err := r.run(ctx, a, true)
		if err != nil {
			return false, err
		}
		if _, err := fmt.Fprintf(w, "| %s %s | %s | %s | %d | %d | %d | %d | %s |\n",
			a.name, version, a.kind(), a.protocol, alone.files, with.files, with.added, with.prompts, with.says); err != nil {
			return false, err
		}
		lost := slices.DeleteFunc(slices.Clone(alone.tools), func(tool string) bool { return slices.Contains(with.tools, tool) })
		if len(lost) > 0 {
			log.Printf("%s offers no %s under carryon", a.name, strings.Join(lost, ", "))
		}
		unfinished = unfinished || with.files != len(files) || with.prompts > 0 || len(lost) > 0
	}
	return unfinished, nil
}

// named reports whether an agent's name contains one of these texts, which commas separate.
func named(a agent, only string) bool {
	for part := range strings.SplitSeq(strings.ToLower(only), ",") {
		if part = strings.TrimSpace(part); (part != "" || only == "") && strings.Contains(strings.ToLower(a.name), part) {
			return true
		}
	}
	return false
}

// The marks around the table in a document.
const (
	begin = "<!-- agents: written by make agents -->\n"
	end   = "<!-- agents: end -->\n"
)

// write puts the table into a document.
func write(document, table string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no marks for the table", document)
	}
	return os.WriteFile(document, []byte(before+begin+table+end+after), 0o600)
}
