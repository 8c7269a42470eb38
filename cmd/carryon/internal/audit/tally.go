package audit

import (
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/handback"
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
	Continuations int `json:"continuations"`
	Tokens        int `json:"tokens_estimated"` // of their requests, most of them cached
}

// Skipped are things that were not read.
type Skipped struct {
	Files     int `json:"files"`      // no known transcripts, or of an unknown version
	Failed    int `json:"failed"`     // files that could not be opened or read to their end
	Lines     int `json:"lines"`      // broken, or of an unknown kind
	LongLines int `json:"long_lines"` // of more than 16 MiB
	Copies    int `json:"copies"`     // turns that a transcript repeats from another one
}

// Turn is a turn that ended with work left.
type Turn struct {
	Agent   string   `json:"agent"`
	File    string   `json:"file"`
	Kind    string   `json:"kind"` // the name of one of the counts
	User    string   `json:"user"` // the user's message before it
	Answer  string   `json:"answer"`
	Todos   []string `json:"todos"` // that were left
	Said    string   `json:"said"`  // what the user wrote after it, if that only says go on
	telling int
}

// maxTurns is how many turns are shown.
const maxTurns = 10

// tally counts. It may be used by several goroutines.
type tally struct {
	mu      sync.Mutex
	agents  map[string]*Counts
	skipped Skipped
	seen    map[string]bool // ids of answers
	turns   []Turn          // the most telling ones, best first
}

func newTally() *tally { return &tally{agents: map[string]*Counts{}, seen: map[string]bool{}} }

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

func (t *tally) skip(f func(*Skipped)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.skipped)
}

// isNew reports whether a turn was not counted yet. A session that is resumed or forked may repeat older turns.
func (t *tally) isNew(agent, id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := agent + " " + id
	if id != "" && t.seen[key] {
		t.skipped.Copies++
		return false
	}
	t.seen[key] = id != ""
	return true
}

// show keeps a turn if it is one of the most telling ones.
func (t *tally) show(turn *Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turns = append(t.turns, *turn)
	slices.SortStableFunc(t.turns, func(a, b Turn) int {
		if a.telling != b.telling {
			return b.telling - a.telling
		}
		return strings.Compare(a.File, b.File) // the order in which files are read does not matter
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
	w.Tokens += other.Tokens
}

// newTurn returns a turn that may be shown.
func newTurn(c *conversation, kind string, todos []todo.Todo) *Turn {
	turn := &Turn{Agent: c.agent, File: c.file, Kind: kind, User: beginning(c.user), Answer: ending(string(c.answer.text)), telling: slices.Index(kinds, kind)}
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
	text = strings.TrimSpace(text)
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
