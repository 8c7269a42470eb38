package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/carryon-go/carryon/cmd/carryon/internal/numbers"
	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
)

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// line is a line of the table.
type line struct {
	name string
	of   func(*Counts) int

	money func(*Counts) *float64 // in place of a count; nil without a price
}

// cell returns what the line says of an agent, or "" without a price.
func (l *line) cell(c *Counts) string {
	if l.money == nil {
		return numbers.Grouped(l.of(c))
	}
	if money := l.money(c); money != nil {
		return price.Dollars(*money)
	}
	return ""
}

// lines are the lines of the table.
func lines() []line {
	return []line{
		{name: "sessions", of: func(c *Counts) int { return c.Sessions }},
		{name: "messages of the user", of: func(c *Counts) int { return c.UserTurns }},
		{name: "turns that ended in text", of: func(c *Counts) int { return c.Ended }},
		{name: "  with a todo list", of: func(c *Counts) int { return c.WithList }},
		{name: "    and work left on it", of: func(c *Counts) int { return c.Open }},
		{name: "      the model asked something", of: func(c *Counts) int { return c.Asked }},
		{name: "      it waited for others", of: func(c *Counts) int { return c.Waits }},
		{name: "      it had not touched the list", of: func(c *Counts) int { return c.Untouched }},
		{name: "      done and not ticked off, or unclear", of: func(c *Counts) int { return c.Unticked }},
		{name: "      it stalled", of: func(c *Counts) int { return c.Stalled }},
		{name: "      it was interrupted", of: func(c *Counts) int { return c.Interrupted }},
		{name: "      other", of: func(c *Counts) int { return c.Other }},
		{name: "  with a list that could not be read", of: func(c *Counts) int { return c.Unreadable }},
		{name: "\"continue\" typed with work left", of: func(c *Counts) int { return c.TypedContinue }},
		{name: "carryon would have continued", of: func(c *Counts) int { return c.Standard.Continuations }},
		{name: "  tokens for that, estimated", of: func(c *Counts) int { return c.Standard.Estimate.Total() }},
		{name: "  price of that, estimated", money: func(c *Counts) *float64 { return c.Standard.Money }},
		{name: "in YOLO mode", of: func(c *Counts) int { return c.YOLO.Continuations }},
		{name: "  tokens for that, estimated", of: func(c *Counts) int { return c.YOLO.Estimate.Total() }},
		{name: "  price of that, estimated", money: func(c *Counts) *float64 { return c.YOLO.Money }},
	}
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "carryon has read %s, %s, in %.1f s.\n\n", numbers.Of(r.Files, "file"), size(r.Bytes), r.Seconds)
	r.tables(&b)
	b.WriteString(r.verdict() + "\n")
	r.skips(&b)
	for i := range r.Turns {
		r.Turns[i].write(&b, i+1)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// across is how many columns of counts a terminal of 80 characters has room for.
const across = 3

// tables write the counts of all agents, then a column for each.
func (r *Report) tables(b *strings.Builder) {
	names, columns := make([]string, 0, len(r.Agents)+1), make([]*Counts, 0, len(r.Agents)+1)
	if len(r.Agents) != 1 {
		names, columns = append(names, "all"), append(columns, &r.All)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Agents)) {
		names, columns = append(names, name), append(columns, r.Agents[name])
	}
	for from := 0; from < len(names); from += across {
		to := min(from+across, len(names))
		writeTable(b, names[from:to], columns[from:to])
		b.WriteString("\n")
	}
}

func writeTable(b *strings.Builder, names []string, columns []*Counts) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)
	width := 0
	for _, l := range lines() {
		width = max(width, len(l.name))
	}
	row := func(name string, cells []string) {
		_, _ = fmt.Fprintf(table, "%-*s\t%s\t\n", width, name, strings.Join(cells, "\t")) // a Builder does not fail
	}
	row("", names)
	for _, l := range lines() {
		cells := make([]string, len(columns))
		for i, counts := range columns {
			cells[i] = l.cell(counts)
		}
		if cells[0] != "" {
			row(l.name, cells)
		}
	}
	_ = table.Flush() // likewise
}

// verdict says what the counts mean, and on how much that rests.
func (r *Report) verdict() string {
	if r.All.Sessions == 0 {
		return "No session could be judged, so this says nothing about your agents."
	}
	basis := fmt.Sprintf(" This rests on %s with %s", numbers.Of(r.All.Sessions, "session"), numbers.Of(r.All.Ended, "turn"))
	if left := r.Skipped.Files + r.Skipped.Failed; left > 0 {
		basis += "; " + numbers.Of(left, "file or folder", "files or folders") + " could not be read"
	}
	if r.Skipped.Continued > 0 {
		basis += "; carryon itself was at work in " + numbers.Of(r.Skipped.Continued, "other session")
	}
	if r.All.Stalled == 0 {
		basis += ". Sessions that carryon has continued elsewhere, or before it kept a record, look as if no turn had stalled"
	}
	return r.finding() + basis + "."
}

// finding says what the counts mean.
func (r *Report) finding() string {
	all := &r.All
	switch {
	case all.WithList == 0 && all.Unreadable > 0:
		return "No todo list could be read, so carryon would have done nothing."
	case all.WithList == 0:
		return "No turn that was read had a todo list, so there was nothing for carryon to do. Some agents keep one only if they are told to: see carryon run -list."
	case all.Open == 0:
		return "Every turn with a todo list ended with all work done. carryon would have done nothing: it is not worth it here."
	case all.Stalled == 0 && all.TypedContinue == 0 && all.Standard.Continuations == 0:
		return fmt.Sprintf("No turn stalled, and nobody typed \"continue\". carryon would have sent nothing in standard mode, and %s in YOLO mode: it is hardly worth it here.", all.YOLO.requests())
	case all.Stalled == 0 && all.TypedContinue == 0:
		return fmt.Sprintf("No turn stalled, and nobody typed \"continue\". carryon would have sent %s, mostly where work was done and not ticked off: it is hardly worth it here.", all.Standard.requests())
	}
	return fmt.Sprintf("%s stalled with work left, and %s. carryon would have sent %s in standard mode, and %s in YOLO mode, at least: what comes after the first continuation of a turn cannot be seen here.",
		numbers.Of(all.Stalled, "turn"), typed(all.TypedContinue), all.Standard.requests(), all.YOLO.requests())
}

// requests says how many requests carryon would have sent, and what they would have cost.
func (w *Would) requests() string {
	sent, tokens := numbers.Of(w.Continuations, "request"), w.Estimate.Total()
	switch {
	case tokens == 0:
		return sent
	case w.Money == nil:
		return fmt.Sprintf("%s (about %s tokens)", sent, numbers.Grouped(tokens))
	}
	return fmt.Sprintf("%s (about %s tokens, %s)", sent, numbers.Grouped(tokens), price.Dollars(*w.Money))
}

// typed says how often the user had to say go on.
func typed(n int) string {
	switch n {
	case 0:
		return "nobody typed \"continue\" after a turn with work left"
	case 1:
		return "\"continue\" was typed once after a turn with work left"
	}
	return "\"continue\" was typed " + numbers.Grouped(n) + " times after turns with work left"
}

// skips writes what was not read.
func (r *Report) skips(b *strings.Builder) {
	for _, skip := range []struct {
		count int
		noun  string
		text  string
	}{
		{r.Skipped.Files, "file", "of no known kind or version"},
		{r.Skipped.Empty, "file", "in which carryon found no session"},
		{r.Skipped.Continued, "session", "that carryon has continued, because a continued turn is one turn in a transcript"},
		{r.Skipped.Lines, "line", "broken or of an unknown kind"},
		{r.Skipped.LongLines, "line", "of more than 16 MiB"},
		{r.Skipped.Copies, "turn", "that a transcript repeats from another one"},
		{r.Skipped.Turns, "turn", "of sessions with more than 1,000"},
	} {
		if skip.count > 0 {
			fmt.Fprintf(b, "Left out: %s %s.\n", numbers.Of(skip.count, skip.noun), skip.text)
		}
	}
	for i, one := range r.Unread {
		if i == maxUnread {
			fmt.Fprintf(b, "Left out: %s more that could not be read.\n", numbers.Grouped(len(r.Unread)-i))
			break
		}
		fmt.Fprintf(b, "Left out: %s, which could not be read: %s.\n", printable(one.Path), printable(one.Why))
	}
}

// maxUnread is how many files and folders that could not be read are named.
const maxUnread = 20

// write writes a turn.
func (t *Turn) write(b *strings.Builder, number int) {
	fmt.Fprintf(b, "\n%d. %s, %s\n   %s\n", number, printable(t.Agent), t.Kind, printable(t.File))
	fmt.Fprintf(b, "   user:  %s\n   model: %s\n", printable(t.User), printable(t.Answer))
	for _, left := range t.Todos {
		fmt.Fprintf(b, "   left:  %s\n", printable(left))
	}
	if t.Said != "" {
		fmt.Fprintf(b, "   user:  %s\n", printable(t.Said))
	}
}

// printable returns a text in one line, without characters that a terminal would act on.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == 0: // which separates texts
			return ' '
		case unicode.Is(unicode.C, r), r == '\u2028', r == '\u2029', r == unicode.ReplacementChar:
			return '\u00b7'
		}
		return r
	}, text)
}
