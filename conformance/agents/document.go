package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tried is a row of the table in the document: the runs of one version of an agent that ended alike.
type tried struct {
	agent, without, with, added string
	ways                        []string
}

// condensed makes the table of the document from the table of all runs: a row for each agent, with the ways in which it
// was run.
func condensed(table string) string {
	var rows []*tried
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) < 6 || strings.HasPrefix(line, "| agent |") {
			continue
		}
		agent, way := runOf(strings.TrimSpace(cells[0]), cells[1])
		row := tried{agent: agent, without: cells[3], with: cells[4], added: cells[5]}
		i := slices.IndexFunc(rows, func(r *tried) bool {
			return r.agent == row.agent && r.without == row.without && r.with == row.with && r.added == row.added
		})
		if i < 0 {
			i, rows = len(rows), append(rows, &row)
		}
		rows[i].ways = append(rows[i].ways, way)
	}
	var b strings.Builder
	b.WriteString("| agent | how it was run | files, of 3, alone | with carryon | requests added |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.agent, strings.Join(r.ways, "; "), r.without, r.with, r.added)
	}
	return b.String()
}

// runOf splits the name of a run into the agent with its version, and the way in which it was run.
func runOf(name, kind string) (agent, way string) {
	at := strings.LastIndexByte(name, ' ')
	version := name[at+1:]
	agent, way, _ = strings.Cut(name[:at], ", ")
	switch {
	case strings.Contains(kind, "in a terminal"):
		way = strings.TrimPrefix(way+", in a terminal", ", ")
	case strings.Contains(kind, "company"):
		way = strings.TrimPrefix(way+", behind a company's proxy", ", ")
	case strings.Contains(kind, "plain HTTP"):
		way = cmp.Or(way, "a key") + " (plain HTTP)"
	}
	if way == "" {
		way = "as its user runs it"
	}
	return agent + " " + version, way
}
