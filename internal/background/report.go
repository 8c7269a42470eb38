package background

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carryon-go/carryon/internal/agents"
	"github.com/carryon-go/carryon/internal/automatic"
	"github.com/carryon-go/carryon/internal/rawjson"
)

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
	slices.Reverse(r.events[from:])
	if !inResult && opens != "" {
		r.opens = opens
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
	if !hasEndWord(status) {
		return
	}
	r.addReport(event{kind: reported, looked: body[:min(len(body), maxWords)], names: [3]string{
		child(body, "tool-use-id"), child(body, "task-id"), cmp.Or(attribute(p.Attributes, "id"), attribute(p.Attributes, "sessionID")),
	}})
}

// readLines reads lines in brackets, and the id behind them.
func (r *reader) readLines(body string) {
	e, over := event{kind: reported}, false
	for line := range strings.Lines(body) {
		lower := strings.Trim(lowerASCII(line), " \t\r\n[]")
		what, isAll := strings.CutPrefix(lower, "all ")
		if isAll = isAll || strings.HasPrefix(lower, "all background"); isAll && hasEndWord(what) {
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
	_, text, ok := strings.Cut(body, "<"+name+">")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "</"+name+">")
	return strings.TrimSpace(text)
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
		if _, body, ok = strings.Cut(inside, "</"+name+">"); !ok {
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
