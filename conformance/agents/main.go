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
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "run the agents with a row in the table that this `regular expression` matches, such as 'claude.*terminal|pi'")
	folder := flag.String("agents", "conformance/agents", "the `folder` of the agents")
	verbose := flag.Bool("v", false, "show what the agents print")
	document := flag.String("write", "", "write the table into this `document`, between its marks")
	record := flag.String("record", "", "write what the terminal of the last agent in one was sent into this `file`")
	bin := flag.String("bin", "", "the `folder` of the built programs, for the process whose network is cut off")
	flag.Parse()
	matching, err := regexp.Compile("(?i)" + *only)
	if err == nil {
		*folder, err = filepath.Abs(*folder)
	}
	r := runner{agents: *folder, bin: *bin, only: matching, record: *record}
	if *verbose {
		r.log = os.Stderr
	}
	switch {
	case err != nil:
	case *bin == "":
		err = r.buildAndRun(*document)
	case enableLoopback() != nil:
		os.Exit(codeNoLoopback)
	default:
		r.named = nameAll(*bin) == nil
		err = r.runAll(*document)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode()) // it has said why
	}
	if err != nil {
		log.Fatal(err)
	}
}

// codeNoLoopback is the exit code where the system allows a network of one's own, but no loopback in it.
const codeNoLoopback = 75

// errUnfinished is the failure of a run under carryon.
var errUnfinished = errors.New("an agent did not finish its list, has lost tools, or has a prompt of carryon's in its history")

// errChanged is the failure of a run that fails in another way than without carryon.
var errChanged = errors.New("what an agent says about its trouble, or its exit code, is not the same with carryon")

// errClaimed is the failure of a run whose model claimed to be done too early.
var errClaimed = errors.New("an agent that claimed to be done did not finish, or the command of -until was asked elsewhere than at its ends")

// buildAndRun builds the programs, which may need the network, and runs all agents in a process that has none but a
// loopback.
func (r runner) buildAndRun(document string) error {
	bin, err := os.MkdirTemp("", "carryon-bin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin) //nolint:errcheck // the system's to clean up
	r.bin = bin
	if err := r.build(context.Background()); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, append(os.Args[1:], "-bin", bin)...) //nolint:noctx // it ends by itself
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	started := cutOff(c) && c.Start() == nil
	if started {
		err = c.Wait()
		if c.ProcessState.ExitCode() != codeNoLoopback {
			return err
		}
	}
	log.Print("This system cannot cut the network off: only their variables keep the agents from it.")
	return r.runAll(document)
}

// nameAll gives the vendors' hosts the address of this machine, where the stand-in serves them.
func nameAll(dir string) error {
	all := hosts()
	lines := append(make([]string, 0, len(all)+2), "127.0.0.1 localhost", "::1 localhost")
	for _, host := range all {
		lines = append(lines, "127.0.0.1 "+host)
	}
	file := filepath.Join(dir, "hosts")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // all read it
		return err
	}
	if err := nameHosts(file); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", vendorAddress)
	if err != nil {
		return err // the system keeps this port for others
	}
	return listener.Close()
}

// runAll runs the agents, and writes the table into the document if one is named.
func (r runner) runAll(document string) error {
	var table strings.Builder
	unfinished, err := r.table(context.Background(), io.MultiWriter(os.Stdout, &table))
	changed, wrong := false, false
	if err == nil {
		changed, err = r.troubleTable(context.Background(), os.Stdout)
	}
	if err == nil {
		wrong, err = r.claimTable(context.Background(), os.Stdout)
	}
	if err == nil && document != "" {
		err = write(document, table.String())
	}
	switch {
	case err != nil:
		return err
	case unfinished:
		return errUnfinished
	case changed:
		return errChanged
	case wrong:
		return errClaimed
	}
	return nil
}

// table prints a line for each run of each agent that is installed.
func (r runner) table(ctx context.Context, w io.Writer) (unfinished bool, err error) {
	if _, err := fmt.Fprintln(w, "| agent | run | protocol | files, of 3, without | with | extra requests | prompts in its history | carryon says |\n"+
		"|---|---|---|---|---|---|---|---|"); err != nil {
		return false, err
	}
	for _, a := range allAgents() {
		version := r.versionOf(a)
		for _, way := range a.runs() {
			if version == "" || !r.only.MatchString(way.name+" "+way.kind()) {
				continue
			}
			failed, err := r.row(ctx, w, way, version)
			if err != nil {
				return false, err
			}
			unfinished = unfinished || failed
		}
	}
	return unfinished, nil
}

// row runs an agent without carryon and with it, and prints a line. It reports whether carryon has not done its part.
func (r runner) row(ctx context.Context, w io.Writer, a agent, version string) (unfinished bool, err error) {
	alone, err := r.run(ctx, a, false)
	if err != nil {
		return false, err
	}
	with, err := r.run(ctx, a, true)
	if err != nil {
		return false, err
	}
	lost := slices.DeleteFunc(slices.Clone(alone.tools), func(tool string) bool { return slices.Contains(with.tools, tool) })
	if len(lost) > 0 {
		log.Printf("%s offers no %s under carryon", a.name, strings.Join(lost, ", "))
	}
	_, err = fmt.Fprintf(w, "| %s %s | %s | %s | %d | %d | %d | %d | %s |\n",
		a.name, version, a.kind(), a.protocol, alone.files, with.files, with.added, with.prompts, with.says)
	if a.unreached {
		return with.files != alone.files || !strings.Contains(with.says, "never used carryon"), err
	}
	return with.files != len(files) || with.prompts > 0 || len(lost) > 0, err
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
	return os.WriteFile(document, []byte(before+begin+condensed(table)+end+after), 0o600)
}
