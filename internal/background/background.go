// Package background reads from the history of a request which work the agent has begun
// in the background and not reported on yet, and how its team stands. It reads the words
// of agents, which are facts of package agents, and has no other state.
package background

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/adapter"
	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

// The bounds of the search. Work beyond them is not awaited.
const (
	maxCalls      = 256     // the newest calls
	maxLaunches   = 64      // the newest launches
	maxReports    = 1 << 10 // the newest reports
	maxResult     = 4 << 10 // bytes of a result that launches: a longer one, such as a file, quotes a promise
	maxWords      = 512     // bytes of a report whose words may name the work
	maxBehind     = 3       // messages of the user, behind which a launch is forgotten: its report was lost
	maxSilence    = 100     // calls and messages of the agent, behind which a launch is forgotten, where nobody writes
	messageWeight = 4       // of a message of the agent in maxSilence: it begins a turn, and a person watches 25 turns at most
)

// Work is what an agent waits for.
type Work struct {
	// Awaited has a name for each launch that has not reported, teammates at work included.
	// It is the same in each request of the session that has the launch.
	Awaited []string
	Team    Team
}

// Team is the team that an agent belongs to.
type Team struct {
	Role   Role
	Name   string   // of the agent in its team; "" if the history does not tell
	AtWork []string // the lead's teammates that are not idle
}

// Role is what an agent is in its team.
type Role uint8

// The roles.
const (
	Alone  Role = iota // there is no team
	Lead               // it has spawned the others
	Member             // its work comes to its mailbox
)

// Read reads a history, which may be nil. The time that it takes is linear in the size of
// the history.
func Read(history iter.Seq[adapter.Entry]) Work {
	if history == nil {
		return Work{}
	}
	var r reader
	for e := range history {
		r.full = r.full || r.calls == maxCalls
		switch {
		case e.FromUser:
			r.opens = ""
		case e.Automatic != "":
			r.readText(e.Automatic, false)
			r.silence += messageWeight
		case r.full && !r.mayBeMember():
			return r.work()
		default:
			r.readCall(&e.Call)
		}
	}
	return r.work()
}

// reader collects what has happened, from the newest entry of a history to the oldest.
type reader struct {
	events []event // the newest first
	full   bool    // there have been enough calls

	calls, launches, reports int

	silence int // calls and messages of the agent so far, in the unit of maxSilence

	opens   string // the oldest entry so far, if it is a message of a mailbox
	sender  string // of the newest message that the agent has sent to its team
	owner   string // the newest owner that the agent has written to a todo
	mailbox bool   // a message of the team has come
	leads   bool   // the agent has spawned a teammate, or sent a message as the lead
	lead    string // the name of leads in such teams
}

// mayBeMember reports whether the beginning of the conversation may say that the agent is
// a member of a team.
func (r *reader) mayBeMember() bool { return r.mailbox && !r.leads }

// event is something that has happened to the work of others.
type event struct {
	kind   eventKind
	names  [3]string // of the work: the id of the call, the id in its result, the name of an agent
	looked string    // the arguments of another call, which may look at the work, or the words of a report
	behind int       // messages of the user after it
	silent int       // calls and messages of the agent after it

	command, member bool
	inResult        bool // it stands at the end of a tool's result
}

type eventKind uint8

const (
	launched  eventKind = iota
	reported            // it has ended, and the agent has told the model
	stopped             // a call has ended it, or has seen its end
	endedAll            // all of it has ended
	acted               // the model went on with something else
	wrote               // a message to a teammate or an agent, which is at work from now on
	idle                // a teammate does nothing now
	disbanded           // the team has ended
)

// work replays the events and returns what is left.
func (r *reader) work() Work {
	var b board
	for i := range slices.Backward(r.events) {
		b.add(&r.events[i])
	}
	w := Work{Team: Team{Role: r.role()}}
	switch w.Team.Role {
	case Member:
		w.Team.Name = r.memberName()
	case Lead:
		w.Team.Name = r.lead
	case Alone:
	}
	for i := range b.workers {
		k := &b.workers[i]
		switch {
		case !k.isAwaited():
		case !k.member:
			w.Awaited = append(w.Awaited, k.name())
		case w.Team.Role == Lead:
			w.Awaited = append(w.Awaited, k.name())
			w.Team.AtWork = append(w.Team.AtWork, strings.Clone(k.names[nameOfMember]))
		}
	}
	return w
}

func (r *reader) role() Role {
	switch {
	case r.leads:
		return Lead
	case r.opens != "":
		return Member
	}
	return Alone
}

// board is the work that goes on, from the oldest launch to the newest.
type board struct {
	workers []worker
}

// worker is one launch.
type worker struct {
	names   [3]string
	behind  int
	silent  int
	done    bool // it has ended, or is idle
	movedOn bool // the model went on with something else
	roused  int  // how often it was set to work again

	command, member bool
}

// Indexes of the names of a worker.
const (
	idOfCall = iota
	idOfWork
	nameOfMember
)

func (w *worker) isAwaited() bool {
	return !w.done && w.behind < maxBehind && w.silent < maxSilence && (!w.command || !w.movedOn)
}

// name tells a launch from the others of its session.
func (w *worker) name() string {
	return strings.Join(w.names[:], "\x00") + "\x00" + strconv.Itoa(w.roused)
}

// rouse sets it to work again, as of an event.
func (w *worker) rouse(e *event) {
	w.done, w.behind, w.silent = false, e.behind, e.silent
	w.roused++
}

func (w *worker) has(name string) bool { return name != "" && slices.Contains(w.names[:], name) }

// add adds the next event.
func (b *board) add(e *event) {
	switch e.kind {
	case launched:
		b.launch(e)
	case reported:
		b.report(e)
	case stopped:
		if w := b.find(e); w != nil {
			w.done = true
		}
	case endedAll:
		b.each(func(w *worker) { w.done = true })
	case acted:
		b.moveOn(e)
	case wrote:
		b.moveOn(e)
		b.rouse(e)
	case idle:
		if w := b.find(e); w != nil && w.member {
			w.done = true
		}
	case disbanded:
		b.each(func(w *worker) { w.done = w.done || w.member })
	}
}

func (b *board) each(f func(w *worker)) {
	for i := range b.workers {
		f(&b.workers[i])
	}
}

// find returns the newest worker with one of the event's names, or nil.
func (b *board) find(e *event) *worker {
	for i := range slices.Backward(b.workers) {
		for _, name := range e.names {
			if b.workers[i].has(name) {
				return &b.workers[i]
			}
		}
	}
	return nil
}

func (b *board) launch(e *event) {
	launch := worker{
		names: e.names, behind: e.behind, silent: e.silent, command: e.command, member: e.member,
	}
	if w := b.find(&event{names: [3]string{e.names[nameOfMember]}}); w != nil && e.member {
		*w = launch // spawned again
		return
	}
	b.workers = append(b.workers, launch)
}

// report ends the work that a report names. One that names none ends the oldest, so that
// the waiting ends, unless it stands in a result, where a file may have put it.
func (b *board) report(e *event) {
	w := b.find(e)
	if e.names == [3]string{} && !e.inResult {
		w = b.named(e.looked)
		for i := range b.workers {
			if k := &b.workers[i]; w == nil && !k.member && !k.done {
				w = k
			}
		}
	}
	if w == nil || w.member {
		return
	}
	w.done = true
	if !w.command { // the model works again, whatever its servers do
		b.each(func(k *worker) { k.movedOn = true })
	}
}

// named returns the work whose id stands in the words of a report, or nil.
func (b *board) named(words string) *worker {
	if words == "" {
		return nil
	}
	for i := range b.workers {
		if w := &b.workers[i]; !w.done && !w.member && hasWord(words, w.names[idOfWork]) {
			return w
		}
	}
	return nil
}

// moveOn records that the model went on with something else, unless the call looks at
// what it waits for.
func (b *board) moveOn(e *event) {
	for i := range b.workers {
		if w := &b.workers[i]; !w.done && hasWord(e.looked, w.names[idOfWork]) {
			return
		}
	}
	b.each(func(w *worker) { w.movedOn = true })
}

// rouse sets those to work that a message goes to.
func (b *board) rouse(e *event) {
	to := e.names[idOfWork]
	if to == "" || to == "*" {
		b.each(func(w *worker) {
			if w.member {
				w.rouse(e)
			}
		})
		return
	}
	switch w := b.find(e); {
	case w != nil && !w.command:
		w.rouse(e)
	case w == nil && e.member: // spawned in a part of the history that was cut
		b.workers = append(b.workers, worker{names: [3]string{nameOfMember: to}, behind: e.behind, silent: e.silent, member: true})
	}
}

// launchOf returns the launch that the result of a tool announces, and the names in it. It
// counts only if the tool launches, and if the result names what it has begun: anybody can
// write a promise.
func launchOf(tool, result string) (launch *agents.Launch, names [3]string, ok bool) {
	if len(result) > maxResult {
		return nil, names, false
	}
	for at := 0; at < len(result); {
		line := result[at:]
		launch = launchAt(line)
		if launch != nil && canLaunch(tool, launch) {
			if names, ok = promise(result, at, launch); ok {
				return launch, names, true
			}
		}
		next := strings.IndexByte(line, '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return nil, names, false
}

// launchAt returns the launch that a line begins like, or nil.
func launchAt(line string) *agents.Launch {
	if !known().begins[line[0]|' '] {
		return nil
	}
	for i := range known().launches {
		if l := &known().launches[i]; hasPrefixFold(line, l.Begins) {
			return l
		}
	}
	return nil
}

// promise reports whether a result, in which a line begins as the launch does, promises a
// report and names the work, and returns the names. They stand behind the beginning of that
// line, or above it.
func promise(result string, line int, l *agents.Launch) (names [3]string, ok bool) {
	text := result[line:]
	lower := lowerASCII(text)
	promises := func(alternative string) bool { return strings.Contains(lower, alternative) }
	if !slices.ContainsFunc(strings.Split(l.Promise, "|"), promises) {
		return names, false
	}
	names = namesIn(text, lower, l)
	if names[idOfWork] == "" {
		names = namesIn(result[:line], lowerASCII(result[:line]), l)
	}
	if l.Lead != "" && names[nameOfMember] == "" {
		names[nameOfMember], _, _ = strings.Cut(names[idOfWork], "@")
	}
	return names, names[idOfWork] != ""
}

// namesIn returns the names of the work in a text, which is there in lower case as well.
func namesIn(text, lower string, l *agents.Launch) (names [3]string) {
	next := idOfWork
	for label := range strings.SplitSeq(l.IDs, "|") {
		at := strings.Index(lower, label)
		if at < 0 || at > 0 && isWord(lower[at-1]) {
			continue
		}
		if id := idAt(text[at+len(label):]); id != "" {
			names[next] = id
			if l.Lead == "" || next == nameOfMember {
				break
			}
			next = nameOfMember
		}
	}
	return names
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// lowerASCII returns a text in lower case, with the same length, so that indexes stay
// right.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return rawjson.View(lower)
}

func isWord(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c|' ' && c|' ' <= 'z' }

// idAt returns the id that a text begins with, without quotes.
func idAt(text string) string {
	text = strings.TrimLeft(text, " \t`'\"*=")
	end := strings.IndexFunc(text, func(c rune) bool {
		return c != '-' && c != '@' && c != '.' && c != ':' && c != '/' && (c > 'z' || !isWord(byte(c)))
	})
	if end < 0 {
		end = len(text)
	}
	return strings.TrimRight(text[:end], ".:/")
}

// hasWord reports whether an id stands in a text, and not only as a part of a longer word.
func hasWord(text, id string) bool {
	if id == "" {
		return false
	}
	for {
		at := strings.Index(text, id)
		if at < 0 {
			return false
		}
		end := at + len(id)
		if (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
		text = text[end:]
	}
}

// toolOf returns the name of the tool that a call calls, which may be an argument.
func toolOf(c *todo.Call) string {
	if c.Result == "" || len(c.Result) > maxResult {
		return c.Name // nothing is launched
	}
	for i := range known().wrappers {
		if c.Name == known().wrappers[i].Name {
			return argument(c.Arguments, "name")
		}
	}
	return c.Name
}

// canLaunch reports whether a tool makes launches of that kind: it is known for them, or its
// name says so, without the namespace before it. That may end in a mark of any client: the
// words of the result must promise a report as well.
func canLaunch(tool string, l *agents.Launch) bool {
	var room [commonName]byte
	name := string(toolcall.AppendName(room[:0], toolcall.Bare(tool[strings.LastIndexAny(tool, "./:")+1:])))
	for known := range strings.SplitSeq(l.Tools, "|") {
		if name == known {
			return true
		}
	}
	if known().tools[toolcall.Name(name)].does != nothing || hasOneOf(name, reading) {
		return false
	}
	if l.Command {
		return hasOneOf(name, running)
	}
	return hasOneOf(name, launching) || strings.Contains(name, "task") && (name == "task" || hasOneOf(name, starting))
}

// What stands in the names of tools, in lower case and without "_" and "-".
var (
	launching = []string{ //nolint:gochecknoglobals // constant
		"agent", "spawn", "delegat", "background", "dispatch", "workflow", "teammate", "subtask", "worker", "job", "launch", "async",
	}
	starting = []string{"run", "start", "begin", "new"} //nolint:gochecknoglobals // constant
	running  = []string{                                //nolint:gochecknoglobals // constant
		"bash", "shell", "command", "exec", "terminal", "process", "background", "monitor", "schedule",
	}
	reading = []string{ //nolint:gochecknoglobals // constant
		"read", "get", "list", "fetch", "view", "show", "search", "find", "output", "result", "status", "wait", "check", "stop", "kill", "cancel", "log",
	}
)

func hasOneOf(name string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
