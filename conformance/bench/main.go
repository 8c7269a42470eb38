// Command bench measures what carryon promises of its speed and size, and exits
// with 1 if a promise is not kept. What is compared with a bare client is
// measured in the same run, in pairs that take turns, so that whatever else the
// machine does hits both alike.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
)

// bar is a promise, and how to measure whether it is kept.
type bar struct {
	name    string
	promise string
	measure func(pairs int) figure
}

// figure is what was measured.
type figure struct {
	text string
	kept bool
}

func main() {
	pairs := flag.Int("pairs", 400, "how many pairs are measured where carryon is compared with a bare client; 200 or more")
	only := flag.String("only", "", "measure only what has this in its name")
	flag.Parse()
	if *pairs < minPairs || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if missed := run(os.Stdout, bars(), *only, *pairs); missed > 0 {
		fmt.Fprintf(os.Stderr, "Missed: %d\n", missed)
		os.Exit(1)
	}
}

// tries is how often a bar is measured before it counts as missed: what else a
// machine does for a while can only make things slower.
const tries = 3

// run measures the bars and writes a table. It returns how many were missed.
func run(w io.Writer, all []bar, only string, pairs int) (missed int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) }
	row("WHAT", "PROMISED", "MEASURED", "")
	for _, b := range all {
		if !strings.Contains(b.name, only) {
			continue
		}
		f := b.measure(pairs)
		for again := 1; !f.kept && again < tries; again++ {
			f = b.measure(pairs)
		}
		verdict := "ok"
		if !f.kept {
			verdict = "MISSED"
			missed++
		}
		row(b.name, b.promise, f.text, verdict)
	}
	_ = table.Flush()
	_, _ = fmt.Fprintf(w, "\n%s, %s/%s, %d processors. Ratios and added times: median of %d pairs that take turns, with its 95 %% interval;\n"+
		"missed means that all of the interval is beyond the promise, three times in a row.\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), pairs)
	return missed
}

// bars are all promises.
func bars() []bar {
	all := typedBars()
	all = append(all, wireBars()...)
	all = append(all, langchaingoBars()...)
	return append(all, stateBars()...)
}

// must is for what cannot fail in a benchmark unless carryon is broken.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
