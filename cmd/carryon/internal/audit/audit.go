// Package audit reads the transcripts that agents leave on the disk, and says how their turns ended and what carryon would
// have done. It decides as carryon does, because it asks carryon's own engine. It changes nothing, and nothing leaves the
// machine.
package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/carryon-go/carryon/cmd/carryon/internal/atwork"
	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
	"github.com/carryon-go/carryon/internal/rawjson"
)

// Config says what is read, and what is shown.
type Config struct {
	Paths   []string // files and folders; without them, the transcripts of all known agents
	JSON    bool
	Content bool   // show the texts of the most telling turns
	Price   string // of a million tokens, see package price; "" if it is not known
	Home    string
	Getenv  func(string) string
	AtWork  string    // the record of what carryon has continued, see package atwork; "" if there is none
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
	Unread  []Unread           `json:"unread,omitempty"` // what was counted as failed
	Turns   []Turn             `json:"turns,omitempty"`
}

// Run reads the transcripts, and returns what they show.
func Run(ctx context.Context, c *Config) (*Report, error) {
	prices, err := price.Parse(c.Price)
	if err != nil {
		return nil, err
	}
	a := auditor{tally: newTally(), engine: newEngine()}
	found, err := find(c.Home, c.Getenv, c.Paths, a.tally.fail)
	if err != nil {
		return nil, err
	}
	if c.AtWork != "" {
		if a.continued, err = atwork.Read(c.AtWork); err != nil {
			return nil, fmt.Errorf("nobody knows what carryon itself has done: %w", err)
		}
	}
	switch {
	case len(a.tally.unread) > 0: // the report says so
	case len(found) == 0 && len(c.Paths) > 0:
		return nil, ErrNoneThere
	case len(found) == 0:
		return nil, ErrNone
	}
	began := time.Now()
	slices.SortFunc(found, func(a, b transcript) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path)) })
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
		Agents: a.tally.agents, Skipped: a.tally.skipped, Unread: a.tally.unread,
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
	tally     *tally
	engine    *engine
	continued atwork.Continued
	progress  progress
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
	switch {
	case isDatabase(t.path):
		err = a.readDatabase(ctx, t)
	case isWhole(t.path):
		err = a.readWhole(t)
	default:
		err = a.readLines(ctx, t.path)
	}
	switch {
	case errors.Is(err, errUnknown), errors.Is(err, errDatabase):
		a.tally.skip(func(s *Skipped) { s.Files++ })
	case errors.Is(err, errEmpty):
		a.tally.skip(func(s *Skipped) { s.Empty++ })
	case err != nil && ctx.Err() == nil:
		a.tally.fail(t.path, err)
	}
}

// readDatabase reads the sessions of a database.
func (a *auditor) readDatabase(ctx context.Context, t transcript) error {
	left, sessions := t.size, false
	err := readOpencode(ctx, t.path, func(id string) *conversation {
		return a.conversation("opencode", t.path+" "+id)
	}, func(bytes int) {
		n := min(left, int64(bytes))
		left -= n
		a.progress.add(n)
	}, func(c *conversation) { sessions = a.finish(c) || sessions })
	a.progress.add(left)
	if err == nil && !sessions && ctx.Err() == nil {
		return errEmpty
	}
	return err
}

// maxWhole is the size of a transcript that is read as a whole.
const maxWhole = 64 << 20

// readWhole reads a transcript that is one JSON object with the messages.
func (a *auditor) readWhole(t transcript) error {
	defer a.progress.add(t.size)
	raw, err := files.Read(t.path, maxWhole)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(formats(), func(f format) bool { return f.whole && mayBe(t.path, &f) })
	f := formats()[at]
	chat := membersOf(raw, "sessionId", "messages")
	if chat["messages"] == nil {
		return errUnknown
	}
	reader, c := f.reader(), a.conversation(f.agent, t.path)
	c.seen(chat.text("sessionId"), "")
	broken := 0
	for _, message := range rawjson.Elements(chat["messages"]) {
		if reader.line(message, c) != nil {
			broken++
		}
	}
	a.count(0, broken)
	return a.end(reader, c, io.EOF)
}

// Bounds of what may come before the first line that tells whose a transcript is.
const (
	maxUnknown     = 100       // lines
	maxUnknownLine = 256 << 10 // bytes of one that is kept
)

// readLines reads a transcript that has a line for each event.
func (a *auditor) readLines(ctx context.Context, path string) error {
	file, err := files.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	lines := newLineReader(counted{file, &a.progress})
	t := lineTranscript{}
	for {
		line, err := lines.next()
		if err != nil {
			a.count(lines.long, t.broken)
			return a.end(t.reader, t.conversation, err)
		}
		if t.reader == nil {
			if f := formatOf(line); f != nil {
				t.reader, t.conversation = f.reader(), a.conversation(f.agent, path)
			}
		}
		err = t.read(line)
		switch {
		case errors.Is(err, errSkip), errors.Is(err, errUnknown):
			a.progress.add(restOf(file))
			if errors.Is(err, errSkip) {
				return nil
			}
			return errUnknown
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// lineTranscript is a transcript that is being read.
type lineTranscript struct {
	reader       reader // nil until a line tells whose the transcript is
	conversation *conversation
	before       [][]byte // the lines until then
	broken       int      // lines
}

// read reads a line. It fails if there is no use in reading on.
func (t *lineTranscript) read(line []byte) error {
	if t.reader == nil {
		if len(t.before) == maxUnknown {
			return errUnknown
		}
		if len(line) > maxUnknownLine {
			line = nil
		}
		t.before = append(t.before, bytes.Clone(line))
		return nil
	}
	for _, earlier := range t.before {
		if err := t.readKnown(earlier); err != nil {
			return err
		}
	}
	t.before = nil
	return t.readKnown(line)
}

func (t *lineTranscript) readKnown(line []byte) error {
	err := t.reader.line(line, t.conversation)
	if errors.Is(err, errUnknown) {
		t.broken++
		return nil
	}
	return err
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
	found := a.finish(c)
	switch {
	case !errors.Is(problem, io.EOF):
		return problem
	case !found:
		return errEmpty
	}
	return nil
}

// conversation returns a conversation whose turns are counted.
func (a *auditor) conversation(agent, file string) *conversation {
	return newConversation(agent, file, &judge{engine: a.engine, tally: a.tally})
}

// finish ends a conversation, and reports whether it is a session. What carryon has
// continued is not counted: its transcript does not show where the turns ended.
func (a *auditor) finish(c *conversation) bool {
	c.end()
	j, ok := c.listener.(*judge)
	switch {
	case !ok || !c.isSession():
		return false
	case a.continued.Has(c.name, c.began, c.last):
		a.tally.skip(func(s *Skipped) { s.Continued++ })
	default:
		a.tally.count(c.agent, j)
	}
	return true
}
