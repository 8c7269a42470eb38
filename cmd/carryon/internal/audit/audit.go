// Package audit reads the transcripts that agents leave on the disk, and says how their turns ended and what carryon would
// have done. It decides as carryon does, because it asks carryon's own engine. It changes nothing, and nothing leaves the
// machine.
package audit

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
)

// Config says what is read, and what is shown.
type Config struct {
	Paths   []string // files and folders; without them, the transcripts of all known agents
	JSON    bool
	Content bool   // show the texts of the most telling turns
	Price   string // of a million tokens, see package price; "" if it is not known
	Home    string
	Getenv  func(string) string
	Bar     io.Writer // a terminal for a progress bar, or nil
}

// What an audit says if there is nothing to read.
var (
	ErrNone      = errors.New("there is no transcript of an agent that carryon knows; name files or folders")
	ErrNoneThere = errors.New("there is no transcript in these places: the name of one ends in .jsonl or .db")
)

// Report is the result of an audit.
type Report struct {
	Files   int                `json:"files"`
	Bytes   int64              `json:"bytes"`
	Seconds float64            `json:"seconds"`
	All     Counts             `json:"all"`
	Agents  map[string]*Counts `json:"agents"`
	Skipped Skipped            `json:"skipped"`
	Turns   []Turn             `json:"turns,omitempty"`
}

// Run reads the transcripts, and returns what they show.
func Run(ctx context.Context, c *Config) (*Report, error) {
	prices, err := price.Parse(c.Price)
	if err != nil {
		return nil, err
	}
	found, err := find(c.Home, c.Getenv, c.Paths)
	if err != nil {
		return nil, err
	}
	switch {
	case len(found) == 0 && len(c.Paths) > 0:
		return nil, ErrNoneThere
	case len(found) == 0:
		return nil, ErrNone
	}
	began := time.Now()
	slices.SortFunc(found, func(a, b transcript) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path)) })
	a := auditor{tally: newTally(), engine: newEngine()}
	for _, t := range found {
		a.progress.total += t.size
	}
	if c.Bar != nil {
		remove := a.progress.show(c.Bar)
		defer remove()
	}
	a.readAll(ctx, found)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report := &Report{
		Files: len(found), Bytes: a.progress.total, Seconds: time.Since(began).Seconds(),
		Agents: a.tally.agents, Skipped: a.tally.skipped,
	}
	for _, counts := range report.Agents {
		report.All.add(counts)
		counts.charge(prices)
	}
	report.All.charge(prices)
	if c.Content {
		report.Turns = a.tally.turns
	}
	return report, nil
}

// auditor reads transcripts.
type auditor struct {
	tally    *tally
	engine   *engine
	progress progress
}

// readAll reads transcripts on all processors.
func (a *auditor) readAll(ctx context.Context, found []transcript) {
	queue := make(chan transcript)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(found)) {
		workers.Go(func() {
			for t := range queue {
				a.read(ctx, t)
			}
		})
	}
	for _, t := range found {
		queue <- t
	}
	close(queue)
	workers.Wait()
}

// read reads a transcript, and counts it as failed if that is not possible.
func (a *auditor) read(ctx context.Context, t transcript) {
	var err error
	if isDatabase(t.path) {
		err = a.readDatabase(ctx, t)
	} else {
		err = a.readLines(ctx, t.path)
	}
	switch {
	case errors.Is(err, errUnknown), errors.Is(err, errDatabase):
		a.tally.skip(func(s *Skipped) { s.Files++ })
	case err != nil && ctx.Err() == nil:
		a.tally.skip(func(s *Skipped) { s.Failed++ })
	}
}

// readDatabase reads the sessions of a database.
func (a *auditor) readDatabase(ctx context.Context, t transcript) error {
	left := t.size
	err := readOpencode(ctx, t.path, func(id string) *conversation {
		return a.conversation("opencode", t.path+" "+id)
	}, func(bytes int) {
		n := min(left, int64(bytes))
		left -= n
		a.progress.add(n)
	}, a.finish)
	a.progress.add(left)
	return err
}

// maxUnknown is how many lines at the beginning of a transcript may be of an unknown kind.
const maxUnknown = 20

// readLines reads a transcript that has a line for each event.
func (a *auditor) readLines(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	lines := newLineReader(counted{file, &a.progress})
	var reader reader
	var c *conversation
	broken := 0
	for number := 0; ; number++ {
		line, err := lines.next()
		if err != nil {
			a.count(lines.long, broken)
			return a.end(reader, c, err)
		}
		if reader == nil {
			switch f := formatOf(line); {
			case f != nil:
				reader, c = f.reader(), a.conversation(f.agent, path)
			case number >= maxUnknown:
				a.progress.add(restOf(file))
				return errUnknown
			default:
				broken++
				continue
			}
		}
		err = reader.line(line, c)
		switch {
		case errors.Is(err, errSkip):
			a.progress.add(restOf(file))
			return nil
		case err != nil:
			broken++
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// count counts lines that were not read.
func (a *auditor) count(long, broken int) {
	a.tally.skip(func(s *Skipped) {
		s.LongLines += long
		s.Lines += broken
	})
}

// restOf returns how many bytes of a file were not read.
func restOf(file *os.File) int64 {
	at, err := file.Seek(0, io.SeekCurrent)
	info, err2 := file.Stat()
	if err != nil || err2 != nil {
		return 0
	}
	return info.Size() - at
}

// end ends a transcript. problem is io.EOF, or why it could not be read to its end.
func (a *auditor) end(r reader, c *conversation, problem error) error {
	if r == nil {
		return errUnknown
	}
	r.end(c)
	a.finish(c)
	if errors.Is(problem, io.EOF) {
		return nil
	}
	return problem
}

// conversation returns a conversation whose turns are counted.
func (a *auditor) conversation(agent, file string) *conversation {
	return newConversation(agent, file, &judge{engine: a.engine, tally: a.tally})
}

// finish ends a conversation.
func (a *auditor) finish(c *conversation) {
	c.end()
	if c.users > 0 {
		a.tally.of(c.agent, func(counts *Counts) { counts.Sessions++ })
	}
}
