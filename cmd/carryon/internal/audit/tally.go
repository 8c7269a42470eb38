package audit

import (
	"cmp"
	"errors"
	"hash/maphash"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/handback"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/todo"
)

// Counts are what the transcripts of an agent, or of all of them, show.
type Counts struct {
	Sessions  int `json:"sessions"`
	UserTurns int `json:"user_turns"` // messages of the user
	Ended     int `json:"ended"`      // turns of the model that ended in text
	WithList  int `json:"with_list"`  // of these, with a todo list that was read
	Open      int `json:"open"`       // of these, with work left

	Asked       int `json:"asked"`       // of the open ones: the model asked the user something
	Waits       int `json:"waits"`       // it waited for work of others
	Untouched   int `json:"untouched"`   // it did not write the list in that user turn
	Unticked    int `json:"unticked"`    // it neither asked nor announced a step: often the work was done, and not ticked off
	Stalled     int `json:"stalled"`     // it announced a step, broke off, or wrote nothing
	Interrupted int `json:"interrupted"` // the user or an error stopped it
	Other       int `json:"other"`       // anything else that carryon leaves alone

	Unreadable    int `json:"unreadable"`     // turns with a list that could not be read
	TypedContinue int `json:"typed_continue"` // messages of the user that only say go on, after a turn with work left

	Standard Would `json:"standard"` // what carryon would have done in standard mode
	YOLO     Would `json:"yolo"`     // and in YOLO mode
}

// Would is what carryon would have sent: the first continuation of each turn.
type Would struct {
	Continuations int               `json:"continuations"`
	Estimate      middleware.Tokens `json:"estimate"`
	Money         *float64          `json:"money,omitempty"` // for that, in the currency of -price; nil without it
}

// Skipped are things that were not read, or not judged.
type Skipped struct {
	Files     int `json:"files"`      // no known transcripts, or of an unknown version
	Empty     int `json:"empty"`      // files in which carryon found no session
	Failed    int `json:"failed"`     // files and folders that could not be opened or read to their end
	Continued int `json:"continued"`  // sessions that carryon has continued: a continued turn is one turn in a transcript
	Lines     int `json:"lines"`      // broken, or of an unknown kind
	LongLines int `json:"long_lines"` // of more than 16 MiB
	Copies    int `json:"copies"`     // turns that a transcript repeats from another one
	Turns     int `json:"turns"`      // of sessions with more than 1,000
}

// Unread is a file or a folder that could not be read.
type Unread struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Turn is a turn that ended with work left.
type Turn struct {
	Agent  string   `json:"agent"`
	File   string   `json:"file"`
	Kind   string   `json:"kind"` // the name of one of the counts
	User   string   `json:"user"` // the user's message before it
	Answer string   `json:"answer"`
	Todos  []string `json:"todos"` // that were left
	Said   string   `json:"said"`  // what the user wrote after it, if that only says go on

	id      string // of the answer
	telling int
}

// maxTurns is how many turns are shown.
const maxTurns = 10

// tally counts. It may be used by several goroutines.
type tally struct {
	mu      sync.Mutex
	agents  map[string]*Counts
	skipped Skipped
	unread  []Unread
	seed    maphash.Seed
	seen    map[uint64]bool // hashes of the ids of messages
	turns   []Turn          // the most telling ones, best first
}

func newTally() *tally {
	return &tally{agents: map[string]*Counts{}, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
}

// of calls f with the counts of an agent.
func (t *tally) of(agent string, f func(*Counts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := t.agents[agent]
	if counts == nil {
		counts = new(Counts)
		t.agents[agent] = counts
	}
	f(counts)
}

// count adds what a judge has counted.
func (t *tally) count(agent string, j *judge) {
	t.of(agent, func(counts *Counts) {
		counts.Sessions++
		counts.add(&j.counts)
	})
	t.skip(func(s *Skipped) {
		s.Turns += j.skipped.Turns
		s.Copies += j.skipped.Copies
	})
	for i := range j.turns {
		t.show(&j.turns[i])
	}
}

// fail counts a file or a folder that could not be read.
func (t *tally) fail(path string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.skipped.Failed++
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		path, err = inPath.Path, inPath.Err
	}
	t.unread = append(t.unread, Unread{path, err.Error()})
}

func (t *tally) skip(f func(*Skipped)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.skipped)
}

// isNew reports whether a message was not seen yet. A session that is resumed or forked may repeat older ones. kind tells
// the messages of the user from answers; id may be "".
func (t *tally) isNew(agent, kind, id string) bool {
	if id == "" {
		return true
	}
	key := maphash.Comparable(t.seed, [3]string{agent, kind, id})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen[key] {
		return false
	}
	t.seen[key] = true
	return true
}

// show keeps a turn if it is one of the most telling ones.
func (t *tally) show(turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := func(other Turn) bool { return turn.id != "" && other.Agent == turn.Agent && other.id == turn.id }
	if at := slices.IndexFunc(t.turns, same); at >= 0 { // of a session that repeats it
		if t.turns[at].telling >= turn.telling {
			return
		}
		t.turns = slices.Delete(t.turns, at, at+1)
	}
	t.turns = append(t.turns, *turn)
	slices.SortStableFunc(t.turns, func(a, b Turn) int {
		return cmp.Or(b.telling-a.telling, strings.Compare(a.File, b.File)) // whatever the order in which files are read
	})
	t.turns = t.turns[:min(len(t.turns), maxTurns)]
}

// kinds are the kinds of turns that ended with work left, least telling first.
var kinds = []string{"other", "interrupted", "untouched", "waits", "asked", "unticked", "stalled"} //nolint:gochecknoglobals // constant

// count returns the count of a kind.
func (c *Counts) count(kind string) *int {
	switch kind {
	case "asked":
		return &c.Asked
	case "waits":
		return &c.Waits
	case "untouched":
		return &c.Untouched
	case "unticked":
		return &c.Unticked
	case "stalled":
		return &c.Stalled
	case "interrupted":
		return &c.Interrupted
	}
	return &c.Other
}

// add adds the counts of another agent.
func (c *Counts) add(other *Counts) {
	c.Sessions += other.Sessions
	c.UserTurns += other.UserTurns
	c.Ended += other.Ended
	c.WithList += other.WithList
	c.Open += other.Open
	for _, kind := range kinds {
		*c.count(kind) += *other.count(kind)
	}
	c.Unreadable += other.Unreadable
	c.TypedContinue += other.TypedContinue
	c.Standard.add(other.Standard)
	c.YOLO.add(other.YOLO)
}

func (w *Would) add(other Would) {
	w.Continuations += other.Continuations
	w.Estimate = w.Estimate.Plus(other.Estimate)
}

// charge says what carryon would have cost.
func (c *Counts) charge(p *price.Price) {
	c.Standard.Money, c.YOLO.Money = p.Of(c.Standard.Estimate), p.Of(c.YOLO.Estimate)
}

// newTurn returns a turn that may be shown.
func newTurn(c *conversation, kind string, todos []todo.Todo) *Turn {
	turn := &Turn{Agent: c.agent, File: c.file, Kind: kind, id: c.answer.id, User: beginning(automatic.Own(c.user)), Answer: ending(string(c.answer.text)), telling: slices.Index(kinds, kind)}
	for i := range todos {
		if todos[i].Status.Active() && len(turn.Todos) < maxTurns {
			turn.Todos = append(turn.Todos, beginning(todos[i].Content))
		}
	}
	return turn
}

// maxShown is how many bytes of a text are shown.
const maxShown = 400

func beginning(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\x00", "\n")) // between the texts of a message
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

func ending(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	if len(text) <= maxShown {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-maxShown:], "")
}

// stalls reports whether a turn that carryon would continue shows that it stopped in the middle.
func stalls(text []byte) bool {
	return len(strings.TrimSpace(string(text))) == 0 || handback.Of(string(text)) == handback.Announces
}
