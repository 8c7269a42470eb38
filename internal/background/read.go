package background

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/rawjson"
	"github.com/carryon-go/carryon/internal/toolcall"
	"github.com/carryon-go/carryon/todo"
)

// known are the facts that the reader needs, put together once.
var known = sync.OnceValue(func() *facts { //nolint:gochecknoglobals // facts
	k := &facts{
		launches: agents.Collect(func(a *agents.Agent) []agents.Launch { return a.Launches }),
		tools:    map[toolcall.Name]tool{}, mailboxes: map[string]*agents.Mailbox{},
	}
	for i := range k.launches {
		k.begins[k.launches[i].Begins[0]] = true
	}
	k.wrappers = agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools })
	k.wrappers = slices.DeleteFunc(k.wrappers, func(t agents.Tool) bool { return t.Kind != agents.CallsTool })
	for _, f := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Ends }) {
		k.ends = append(k.ends, f.Text)
	}
	add := func(name string, t tool) { k.tools[toolcall.NewName(name)] = t }
	for _, c := range agents.Collect(func(a *agents.Agent) []agents.Call { return a.Stops }) {
		add(c.Tool, tool{does: stops, ids: c.IDs})
	}
	for _, c := range agents.Collect(func(a *agents.Agent) []agents.Call { return a.Looks }) {
		add(c.Tool, tool{does: looks, ids: c.IDs})
	}
	for _, t := range agents.Collect(func(a *agents.Agent) []agents.Tool { return a.Tools }) {
		switch t.Kind {
		case agents.UpdatesItems:
			add(t.Name, tool{does: updates})
		case agents.NoList, agents.CallsTool:
		default:
			add(t.Name, tool{does: lists})
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
	ends      []string      // how texts begin that say that work has ended
	begins    [256]bool     // the bytes with which one of them begins
	wrappers  []agents.Tool // that call another tool, which their arguments name
	tools     map[toolcall.Name]tool
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
	lists   // todos, in another way
)

// commonName is a length that few names of tools exceed.
const commonName = 64

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
	launch, names, ok := launchOf(toolOf(c), c.Result)
	if !ok {
		r.silence++
		r.readUse(c)
		return
	}
	r.launches++
	if r.launches > maxLaunches {
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
		kind: launched, names: names, behind: c.UserMessagesAfter, silent: r.silence, command: launch.Command, member: isMember,
	})
}

// readUse reads a call that launches nothing.
func (r *reader) readUse(c *todo.Call) {
	var room [commonName]byte
	t := known().tools[toolcall.Name(toolcall.AppendName(room[:0], c.Name))]
	e := event{kind: acted, looked: c.Arguments[:min(len(c.Arguments), maxResult)], behind: c.UserMessagesAfter, silent: r.silence}
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
		if !toolcall.ReportsFailure(c.Result) {
			e.kind = disbanded
		}
	case updates:
		if r.owner == "" {
			r.owner = strings.Clone(argument(c.Arguments, "owner"))
		}
	case nothing, lists:
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
	return to != t.mailbox.Lead && !toolcall.ReportsFailure(c.Result)
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

// readText reads an automatic text.
func (r *reader) readText(text string, inResult bool) {
	from, opens := len(r.events), ""
	automatic.Parts(text, func(p automatic.Part) bool {
		if m := known().mailboxes[p.Name]; m != nil {
			r.mailbox, r.lead = true, m.Lead
			if opens == "" {
				opens = p.Body
			}
			r.readMailbox(m, &p)
		} else if p.Reports {
			r.readReport(&p)
		}
		return true
	})
	if inResult {
		r.keepNamed(from)
	}
	slices.Reverse(r.events[from:])
	if !inResult && opens != "" {
		r.opens = opens
	}
}

// keepNamed removes the events at the end that a file may have put into a result: it does
// not know the names of the work.
func (r *reader) keepNamed(from int) {
	kept := slices.DeleteFunc(r.events[from:], func(e event) bool { return e.kind == endedAll })
	r.events = r.events[:from+len(kept)]
	for i := range kept {
		kept[i].inResult = true
	}
}

// readMailbox reads a message of the team.
func (r *reader) readMailbox(m *agents.Mailbox, p *automatic.Part) {
	body := strings.TrimSpace(p.Body)
	if !strings.HasPrefix(body, "{") || len(body) > maxResult {
		return
	}
	object := []byte(body)
	kind := rawjson.TextOf(rawjson.Member(object, "type"))
	name := ""
	switch {
	case kind == "":
	case slices.Contains(strings.Split(m.Idle, "|"), kind):
		name = attribute(p.Attributes, m.From)
	case slices.Contains(strings.Split(m.Gone, "|"), kind):
		name, _, _ = strings.Cut(rawjson.TextOf(rawjson.Member(object, "message")), " ")
	}
	if name != "" {
		r.addReport(event{kind: idle, names: [3]string{nameOfMember: name}})
	}
}

// attribute returns an attribute of an element, or "".
func attribute(attributes, name string) string {
	_, value, ok := strings.Cut(attributes, name+`="`)
	if !ok {
		return ""
	}
	value, _, _ = strings.Cut(value, `"`)
	return value
}

// addReport adds an event that a report tells of.
func (r *reader) addReport(e event) {
	if r.full || r.reports == maxReports {
		return
	}
	r.reports++
	r.events = append(r.events, e)
}

// readReport reads a report.
func (r *reader) readReport(p *automatic.Part) {
	if p.Name == "" {
		r.readLines(p.Body)
		return
	}
	body := p.Body
	for _, quotes := range [...]string{"<result", "<event", "<output>", "<task_result", "<task_error"} { // what others say
		body, _, _ = strings.Cut(body, quotes)
	}
	status := child(body, "status")
	if status == "" {
		status = cmp.Or(attribute(p.Attributes, "status"), attribute(p.Attributes, "state"))
	}
	if status == "" {
		status = ownWords(body)
	}
	if !hasEndWord(status) && !saysEnd(child(p.Body, "event")) {
		return
	}
	id, rest := cutChild(body, "task-id")
	r.addReport(event{kind: reported, looked: body[:min(len(body), maxWords)], names: [3]string{
		child(body, "tool-use-id"), id, cmp.Or(attribute(p.Attributes, "id"), attribute(p.Attributes, "sessionID")),
	}})
	for id, rest = cutChild(rest, "task-id"); id != ""; id, rest = cutChild(rest, "task-id") { // all that an end of the agent has stopped
		r.addReport(event{kind: reported, names: [3]string{idOfWork: id}})
	}
}

// saysEnd reports whether a text begins with words of an agent that say that work has
// ended.
func saysEnd(text string) bool {
	return slices.ContainsFunc(known().ends, func(words string) bool { return hasPrefixFold(text, words) })
}

// readLines reads lines in brackets, and the id behind them.
func (r *reader) readLines(body string) {
	e, over := event{kind: reported}, false
	for line := range strings.Lines(body) {
		lower := strings.Trim(lowerASCII(line), " \t\r\n[]")
		what, isAll := strings.CutPrefix(lower, "all ")
		isAll = isAll || strings.HasPrefix(lower, "all background")
		if isAll && hasEndWord(what) {
			r.addReport(event{kind: endedAll})
			return
		}
		switch {
		case strings.HasPrefix(lower, "background task"):
			over = over || hasEndWord(lower)
			if id := idAt(strings.TrimSpace(strings.Trim(line, " \t\r\n[]")[len("background task"):])); !hasEndWord(id) {
				e.names[idOfWork] = id
			}
		case e.names[idOfWork] == "":
			if at := strings.Index(lower, "id:"); at >= 0 && at < len("**task id:") {
				e.names[idOfWork] = idAt(line[strings.Index(lowerASCII(line), "id:")+len("id:"):])
			}
		}
	}
	if over {
		r.addReport(e)
	}
}

// child returns the text of an element inside of another, or "".
func child(body, name string) string {
	text, _ := cutChild(body, name)
	return text
}

// cutChild is child, and returns what follows the element.
func cutChild(body, name string) (text, rest string) {
	_, text, _ = strings.Cut(body, "<"+name+">")
	text, rest, _ = strings.Cut(text, "</"+name+">")
	return strings.TrimSpace(text), rest
}

// ownWords returns a text without the elements in it.
func ownWords(body string) string {
	var words strings.Builder
	for {
		before, tag, found := strings.Cut(body, "<")
		words.WriteString(before)
		name, inside, ok := strings.Cut(tag, ">")
		if !found || !ok {
			return words.String()
		}
		words.WriteByte(' ')
		_, body, ok = strings.Cut(inside, "</"+name+">")
		if !ok {
			return words.String()
		}
	}
}

// endWords are the statuses of work that has ended.
var endWords = map[string]bool{ //nolint:gochecknoglobals // constant
	"completed": true, "complete": true, "finished": true, "done": true, "failed": true, "error": true, "killed": true,
	"stopped": true, "cancelled": true, "canceled": true, "terminated": true, "aborted": true, "interrupted": true, "timeout": true, "expired": true,
	"success": true, "succeeded": true,
}

// hasEndWord reports whether one of the words of a text says that the work has ended.
func hasEndWord(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c > 'z' || !isWord(byte(c)) }) {
		if endWords[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

// isOver reports whether the result of a call that looked at work says that it has ended.
func isOver(result string) bool {
	head := result[:min(len(result), maxResult)]
	if saysEnd(head) {
		return true
	}
	if status := child(head, "status"); status != "" {
		return hasEndWord(status)
	}
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimLeft(line, " \t*-{\""), ":")
		if ok && strings.EqualFold(strings.Trim(name, "*\" "), "status") {
			return hasEndWord(value)
		}
	}
	return false
}
