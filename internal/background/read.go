package background

import (
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/todo"
)

// known are the facts that the reader needs, put together once.
var known = sync.OnceValue(func() *facts { //nolint:gochecknoglobals // facts
	k := &facts{
		launches: agents.Collect(func(a *agents.Agent) []agents.Launch { return a.Launches }),
		tools:    map[string]tool{}, mailboxes: map[string]*agents.Mailbox{},
	}
	for i := range k.launches {
		k.begins[k.launches[i].Begins[0]] = true
	}
	add := func(name string, t tool) {
		var room [maxName]byte
		k.tools[string(fold(room[:0], name))] = t
	}
	for _, c := range agents.Collect(func(a *agents.Agent) []agents.Call { return a.Stops }) {
		add(c.Tool, tool{does: stops, ids: c.IDs})
	}
	for _, c := range agents.Collect(func(a *agents.Agent) []agents.Call { return a.Looks }) {
		add(c.Tool, tool{does: looks, ids: c.IDs})
	}
	for _, t := range agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools }) {
		if t.Kind == agents.UpdatesItems {
			add(t.Name, tool{does: updates})
		}
	}
	for _, m := range agents.Collect(func(a *agents.Agent) []agents.Mailbox { return a.Mailboxes }) {
		k.mailboxes[m.Element] = &m
		add(m.Send.Tool, tool{does: sends, ids: m.Send.IDs, mailbox: &m})
		add(m.Disband, tool{does: disbands, mailbox: &m})
	}
	return k
})

type facts struct {
	launches  []agents.Launch
	begins    [256]bool       // the bytes with which one of them begins
	tools     map[string]tool // by name, in lower case and without "_" and "-"
	mailboxes map[string]*agents.Mailbox
}

// tool is a tool that has to do with the work of others.
type tool struct {
	does    effect
	ids     string // the arguments that name the work
	mailbox *agents.Mailbox
}

type effect uint8

const (
	nothing effect = iota
	stops
	looks
	sends
	disbands
	updates // a todo, which may get an owner
)

// maxName is the length of a tool's name that is looked up.
const maxName = 64

// fold appends a tool's name in the spelling of the facts.
func fold(to []byte, name string) []byte {
	for i := range min(len(name), maxName) {
		switch c := name[i]; {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			to = append(to, c+'a'-'A')
		default:
			to = append(to, c)
		}
	}
	return to
}

// readCall reads a call and its result.
func (r *reader) readCall(c *todo.Call) {
	r.opens = ""
	if r.full {
		return
	}
	r.calls++
	if tail := automatic.Tail(c.Result); tail != "" {
		r.readText(tail, true)
	}
	launch, names, ok := launchOf(c.Result)
	if !ok {
		r.readUse(c)
		return
	}
	if r.launches++; r.launches > maxLaunches {
		return
	}
	names[idOfCall] = c.ID
	isMember := launch.Lead != ""
	if isMember {
		r.leads, r.lead = true, launch.Lead
	} else {
		names[nameOfMember] = argument(c.Arguments, "name") // messages may go to it
	}
	r.events = append(r.events, event{
		kind: launched, names: names, behind: c.UserMessagesAfter, command: launch.Command, member: isMember,
	})
}

// readUse reads a call that launches nothing.
func (r *reader) readUse(c *todo.Call) {
	var room [maxName]byte
	t := known().tools[string(fold(room[:0], c.Name))]
	e := event{kind: acted, looked: c.Arguments[:min(len(c.Arguments), maxResult)], behind: c.UserMessagesAfter}
	switch t.does {
	case stops:
		e.kind, e.names[idOfWork] = stopped, argument(c.Arguments, t.ids)
		if e.names[idOfWork] == "" && argument(c.Arguments, "all") == "true" {
			e.kind = endedAll
		}
	case looks:
		e.kind, e.names[idOfWork] = stopped, argument(c.Arguments, t.ids)
		if !isOver(c.Result) {
			return // the model waits
		}
	case sends:
		if !r.readMessage(c, &t, &e) {
			return
		}
	case disbands:
		if !failed(c.Result) {
			e.kind = disbanded
		}
	case updates:
		if r.owner == "" {
			r.owner = strings.Clone(argument(c.Arguments, "owner"))
		}
	case nothing:
	}
	r.events = append(r.events, e)
}

// readMessage reads a message that the agent has sent. It reports whether it was sent to
// somebody who works for it.
func (r *reader) readMessage(c *todo.Call, t *tool, e *event) bool {
	routing := rawjson.Member([]byte(c.Result), "routing")
	sender := rawjson.TextOf(rawjson.Member(routing, t.mailbox.Sender))
	if r.sender == "" {
		r.sender = sender
	}
	to := argument(c.Arguments, t.ids)
	r.lead, r.leads = t.mailbox.Lead, r.leads || sender == t.mailbox.Lead
	e.kind, e.names[idOfWork], e.member = wrote, to, sender == t.mailbox.Lead
	return to != t.mailbox.Lead && !failed(c.Result)
}

// failed reports whether the result of a call says that it had no effect.
func failed(result string) bool {
	return strings.HasPrefix(result, "Error") || strings.HasPrefix(result, "<tool_use_error>") ||
		string(rawjson.Member([]byte(result[:min(len(result), maxResult)]), "success")) == "false"
}

// argument returns the first of the named arguments that is there, or "".
func argument(arguments, names string) string {
	if len(arguments) > maxArguments {
		return ""
	}
	object := []byte(arguments)
	for name := range strings.SplitSeq(names, "|") {
		switch raw := rawjson.Member(object, name); {
		case rawjson.IsNull(raw):
		case rawjson.IsString(raw):
			return rawjson.TextOf(raw)
		default:
			return string(raw)
		}
	}
	return ""
}

// maxArguments is how many bytes of arguments are read. Messages may be long.
const maxArguments = 256 << 10

// memberName returns the name of an agent in its team, or "".
func (r *reader) memberName() string {
	if r.sender != "" && r.sender != r.lead {
		return r.sender
	}
	if name := nameIn(r.opens); name != "" {
		return name
	}
	return r.owner
}

// nameIn returns the name that a first message gives the agent: "You are NAME", with a
// mark behind the name, or quotes around it.
func nameIn(text string) string {
	_, rest, ok := strings.Cut(text[:min(len(text), maxResult)], "You are ")
	if !ok {
		return ""
	}
	bare := strings.TrimLeft(rest, "*`\"'@")
	name := strings.TrimRight(idAt(bare), "-")
	behind := bare[min(len(name), len(bare)):]
	if bare != rest || behind == "" || strings.ContainsRune(".,;:!(\n", rune(behind[0])) ||
		strings.HasPrefix(behind, " on ") || strings.HasPrefix(behind, " in ") || strings.HasPrefix(behind, " —") {
		return strings.Clone(name)
	}
	return ""
}
