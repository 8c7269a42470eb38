// Command bench measures what carryon promises about speed and size, and exits
// with 1 if a promise is broken.
//
// Promises are ratios, because absolute times vary by a factor of two between
// machines. Where the same work can be done without carryon, the promise is a
// ratio to that. Elsewhere the unit is a chunk: the time that encoding/json takes
// to decode one chunk of a stream. Both sides of a ratio run in turns, in one run.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// promise is a bound on speed or size, and the way to measure it.
type promise struct {
	name    string
	bound   string
	measure func(pairs int) result
}

// result is what was measured, and whether it keeps the promise.
type result struct {
	text string
	kept bool
}

func main() {
	pairs := flag.Int("pairs", 400, "how many pairs to measure for each ratio; 200 or more")
	only := flag.String("only", "", "measure only the promises with this in their names")
	command := flag.String("carryon", "", "the carryon command, whose proxy is measured; empty: none")
	document := flag.String("write", "", "write the table into this `document`, between its marks")
	list := flag.Bool("list", false, "print the promises, and measure nothing")
	part := flag.String("part", "", "run as a server for measuring the proxy: model or bare")
	upstream := flag.String("upstream", "", "the server behind bare")
	flag.Parse()
	if *part != "" {
		must(play(*part, *upstream))
		return
	}
	if *pairs < minPairs || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	all := append(promises(), proxyPromises(*command)...)
	if *list {
		for _, p := range all {
			fmt.Println(p.bounded() + " | " + p.name)
		}
		return
	}
	rows, broken := run(os.Stdout, all, *only, *pairs)
	if *document != "" && *only == "" {
		must(write(*document, rows))
	}
	if broken > 0 {
		fmt.Fprintf(os.Stderr, "Broken promises: %d\n", broken)
		os.Exit(1)
	}
}

// bounded returns the promise's bound in the words of a document.
func (p *promise) bounded() string {
	return strings.NewReplacer("<=", "≤", ">=", "≥").Replace(p.bound)
}

// The marks around the table in a document.
const (
	begin = "<!-- bench: written by make bench -->\n"
	end   = "<!-- bench: end -->\n"
)

// row is a promise and what was measured, for a document.
type row struct{ bound, text string }

// rowOf leaves the interval out.
func rowOf(p promise, r result) row {
	measured := regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(r.text, "")
	if !r.kept {
		measured += ", **missed**"
	}
	return row{p.bounded(), p.name + " = " + measured}
}

// write puts the rows into a document, those with the same bound together.
func write(document string, rows []row) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no marks for the table", document)
	}
	var bounds []string
	measured := make(map[string][]string)
	for _, r := range rows {
		if measured[r.bound] == nil {
			bounds = append(bounds, r.bound)
		}
		measured[r.bound] = append(measured[r.bound], r.text)
	}
	var table strings.Builder
	table.WriteString("| promised | what was measured |\n|---|---|\n")
	for _, bound := range bounds {
		fmt.Fprintf(&table, "| %s | %s |\n", bound, strings.Join(measured[bound], "; "))
	}
	return os.WriteFile(document, []byte(before+begin+table.String()+end+after), 0o600)
}

// tries is how often a promise is measured before it counts as broken. Other work on the machine can only make carryon
// look slower.
const tries = 3

// run measures the promises and writes a table. It returns the rows of the table for a document, and how many promises
// are broken.
func run(w io.Writer, all []promise, only string, pairs int) (rows []row, broken int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) }
	line("WHAT", "PROMISED", "MEASURED", "")
	for _, p := range all {
		if !strings.Contains(p.name, only) {
			continue
		}
		r := p.measure(pairs)
		for again := 1; !r.kept && again < tries; again++ {
			r = p.measure(pairs)
		}
		verdict := "ok"
		if !r.kept {
			verdict = "BROKEN"
			broken++
		}
		line(p.name, p.bound, r.text, verdict)
		rows = append(rows, rowOf(p, r))
	}
	_ = table.Flush()
	_, _ = fmt.Fprintf(w, "\n%s, %s/%s, %d processors. Every ratio is the median of %d pairs, with its 95%% interval.\n"+
		"A chunk is the time that encoding/json takes to decode one chunk of a stream: %v here.\n"+
		"A promise is broken if the whole interval is beyond it, three times in a row.\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), pairs, time.Duration(typicalChunkTime()))
	return rows, broken
}

// promises are all that carryon makes about speed and size.
func promises() []promise {
	all := typedPromises()
	all = append(all, wirePromises()...)
	all = append(all, messagesPromises()...)
	all = append(all, geminiPromises()...)
	all = append(all, responsesPromises()...)
	all = append(all, langchaingoPromises()...)
	return append(all, statePromises()...)
}

// must panics on an error, which only a broken carryon can cause here.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
