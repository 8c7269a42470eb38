// Package automatic reads the texts that agents write to their models themselves, with
// the role of the user or the system, or at the end of a tool's result. They consist of
// elements such as <system-reminder>…</system-reminder>.
package automatic

import (
	"strings"
	"sync"

	"github.com/carryon-go/carryon/internal/agents"
)

const (
	maxTag      = 1 << 10 // bytes of an element's first tag whose quotes are looked at
	maxPreamble = 4 << 10 // bytes of prose between a banner and an element
	maxTail     = 64      // elements at the end of a result
	maxElements = 64      // in a message of the system, before the one that reports: each may be as long as the rest
	maxDepth    = 4       // nesting depth: an inner element is read once per level
)

// Part is an element of an automatic text, or lines that report without one.
type Part struct {
	Name       string // of the element; "" for lines
	Attributes string // of the element, as they stand
	Body       string
	Reports    bool // how work in the background goes on, or that it has ended
}

// facts are what the rules need to know of agents.
type facts struct {
	elements                      map[string]agents.Element
	banners, reporting, summaries []agents.Fact
	headings                      []string  // whole lines
	begins                        [256]bool // the bytes with which an automatic text begins
}

// known are the facts, put together once.
var known = sync.OnceValue(func() *facts { //nolint:gochecknoglobals // facts
	k := &facts{
		elements:  make(map[string]agents.Element),
		banners:   agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Banners }),
		reporting: agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Reports }),
		summaries: agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Summaries }),
	}
	for _, f := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Headings }) {
		k.headings = append(k.headings, f.Text+"\n")
	}
	for _, e := range agents.Collect(func(a *agents.Agent) []agents.Element { return a.Elements }) {
		k.elements[e.Name] = e
	}
	k.begins['<'], k.begins['['] = true, true
	for _, facts := range [...][]agents.Fact{k.banners, k.summaries} {
		for _, f := range facts {
			k.begins[f.Text[0]] = true
		}
	}
	return k
})

// Is reports whether the agent, and not its user, has written a message. That is so if each
// of its texts, which zero bytes separate, begins with a banner or an element of an agent,
// whatever follows there.
func Is(message string) bool {
	if !mayBe(message) {
		return false
	}
	found := false
	for text, rest := cutText(message); text != "" || rest != ""; text, rest = cutText(rest) {
		if text == "" {
			continue
		}
		if !begins(text) {
			return false
		}
		found = true
	}
	return found
}

// mayBe reports whether a text begins like an automatic one. Most texts of users do not,
// and cost no more.
func mayBe(text string) bool {
	for i := range len(text) {
		if strings.IndexByte(blank, text[i]) < 0 {
			return known().begins[text[i]]
		}
	}
	return false
}

// cutText cuts the first text of a message.
func cutText(message string) (text, rest string) {
	text, rest, _ = strings.Cut(message, "\x00")
	return trim(text), rest
}

// begins reports whether a text begins as those of agents do. An element that agents put
// before the user's words says nothing about what follows it.
func begins(text string) bool {
	for text != "" {
		switch {
		case text[0] == '<' && !strings.HasPrefix(text, "<!"):
			part, rest, ok := cutElement(text)
			if !ok {
				return IsSummary(text)
			}
			if text = trim(rest); text == "" || known().elements[part.Name].Kind != agents.Precedes {
				return true
			}
		case text[0] == '[' && reports(text):
			_, _, ok := cutLines(text)
			return ok
		default:
			return hasBanner(text) || IsSummary(text)
		}
	}
	return false
}

// IsSummary reports whether a message begins as those do with which agents go on once they
// have shortened a conversation.
func IsSummary(message string) bool {
	return mayBe(message) && hasPrefix(trim(message), known().summaries)
}

// InSystem returns the automatic text in a message of the system, or "". The agent has
// written all of such a message: words may stand before a report, too.
func InSystem(text string) string {
	if Is(text) {
		return text
	}
	elements := 0
	for at := 0; at < len(text) && elements < maxElements; at = nextLine(text, at) {
		switch rest := text[at:]; {
		case rest[0] == '<':
			part, _, ok := cutElement(rest)
			if ok && part.Reports {
				return rest
			}
			if ok || isOpen(part) {
				elements++
			}
		case rest[0] == '[' && (hasBanner(rest) || reports(rest)) && begins(rest):
			return rest
		}
	}
	return ""
}

// nextLine returns where the next line begins.
func nextLine(text string, at int) int {
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return len(text)
	}
	return at + end + 1
}

// Parts calls yield for the parts of an automatic text, in order, those inside of
// reminders included, until it returns false. It does nothing for any other text.
func Parts(message string, yield func(Part) bool) {
	if !Is(message) {
		return
	}
	for text, rest := cutText(message); text != "" || rest != ""; text, rest = cutText(rest) {
		if !read(text, maxDepth, yield) {
			return
		}
	}
}

// read reads the parts of a text, with those inside of reminders, down to a depth. It
// reports whether yield wants more.
func read(text string, depth int, yield func(Part) bool) bool {
	for rest := text; rest != ""; {
		part, behind, ok := cutPart(rest)
		switch {
		case !ok && isOpen(part):
			return true // an element that never ends
		case !ok:
			rest = trim(rest[nextLine(rest, 0):])
			continue
		case known().elements[part.Name].Kind == agents.Wraps:
			part.Body = trim(part.Body)
			if depth > 0 && begins(part.Body) && !read(part.Body, depth-1, yield) {
				return false
			}
			if part = (Part{Body: part.Body, Reports: true}); part.Body != "" && part.Body[0] != '[' && reports(part.Body) && !yield(part) {
				return false
			}
		case !yield(part):
			return false
		}
		rest = trim(behind)
	}
	return true
}

// cutPart cuts the part that a text begins with.
func cutPart(text string) (p Part, rest string, ok bool) {
	switch {
	case text[0] == '<' && !strings.HasPrefix(text, "<!"):
		return cutElement(text)
	case text[0] == '[' && reports(text):
		return cutLines(text)
	}
	return p, text, false
}

// isOpen reports whether a part that was not cut is a known element.
func isOpen(p Part) bool {
	_, isKnown := known().elements[p.Name]
	return isKnown
}

// cutElement cuts the element that a text begins with.
func cutElement(text string) (p Part, rest string, ok bool) {
	end := strings.IndexAny(text[1:min(len(text), maxTag)], "> \t\r\n")
	if end < 0 {
		return p, text, false
	}
	p.Name = text[1 : 1+end]
	element, ok := known().elements[p.Name]
	if !ok {
		return p, text, false
	}
	inside := text[1+end:]
	open := tagEnd(inside)
	if open < 0 {
		return p, text, false
	}
	p.Attributes, p.Reports = inside[:open], element.Kind == agents.Reports
	if !strings.Contains(p.Attributes, element.Needs) {
		return p, text, false
	}
	inside = inside[open+1:]
	end = closing(inside, p.Name)
	if end < 0 {
		return p, text, false
	}
	return Part{Name: p.Name, Attributes: p.Attributes, Body: inside[:end], Reports: p.Reports}, inside[end+len("</>")+len(p.Name):], true
}

// closing returns where the closing tag of an element stands, or -1. That is the last one
// before another element of that name begins: what a job has put out may hold such tags.
func closing(inside, name string) int {
	last := -1
	for at := 0; ; at++ {
		next := strings.IndexAny(inside[at:], "<\x00")
		if next < 0 || inside[at+next] == 0 {
			return last
		}
		at += next
		switch tag := inside[at+1:]; {
		case isTag(tag, "/", name) && tag[len("/")+len(name)] == '>':
			last = at
		case last >= 0 && isTag(tag, "", name) && beginsLine(inside[last:at], name):
			return last
		}
	}
}

// isTag reports whether a text begins with a name behind a mark, and the name ends there.
func isTag(text, mark, name string) bool {
	rest, ok := strings.CutPrefix(text, mark)
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(rest, name)
	return ok && rest != "" && strings.IndexByte("> \t\r\n", rest[0]) >= 0
}

// beginsLine reports whether only white space stands before the end of a text on its line,
// or between the closing tag with which it begins and its end.
func beginsLine(text, name string) bool {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.Trim(line, blank) == "" || strings.Trim(text[len("</>")+len(name):], blank) == ""
}

// tagEnd returns the index of the > that ends a tag, outside of quotes if it can.
func tagEnd(text string) int {
	quoted := false
	for i := range min(len(text), maxTag) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '>' && !quoted:
			return i
		}
	}
	return strings.IndexByte(text[:min(len(text), maxPreamble)], '>')
}

// cutLines cuts the first paragraph of a text, which reports in a line in brackets.
func cutLines(text string) (p Part, rest string, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(strings.TrimSpace(line), "]") {
		return p, text, false
	}
	body, rest, _ := strings.Cut(text, "\n\n")
	return Part{Body: body, Reports: true}, rest, true
}

// Own returns what the user has written in a message: the text without what an agent has
// put before it or behind it.
func Own(message string) string {
	own := trim(message)
	if strings.IndexByte(own, '\n') < 0 && strings.IndexByte(own, '<') < 0 { // most short messages
		return own
	}
	for _, heading := range known().headings {
		if before, after, ok := strings.Cut(own, heading); ok && (before == "" || strings.HasSuffix(before, "\n")) {
			own = trim(after)
		}
	}
	for strings.HasPrefix(own, "<") {
		_, rest, ok := cutElement(own)
		if !ok {
			break
		}
		own = trim(rest)
	}
	for {
		begin, ok := cutLast(own)
		if !ok {
			return own
		}
		own = trim(own[:begin])
	}
}

// Tail returns the automatic text at the end of a tool's result, or "". It needs a banner
// there, or the element of a reminder: a file may end in a report that it quotes.
func Tail(result string) string {
	if !strings.Contains(result, "</") { // most results; this is much faster than looking from the end
		return ""
	}
	end := strings.TrimRight(result, blank)
	start := len(end)
	for range maxTail {
		before, ok := cutLastMessage(strings.TrimRight(end[:start], blank))
		if !ok {
			break
		}
		start = before
	}
	return end[start:]
}

// cutLastMessage returns where the element begins in which a text ends, with its banner.
// The agent may have written a few words behind one that has a banner.
func cutLastMessage(text string) (begin int, ok bool) {
	if begin, ok = cutLast(text); ok {
		return begin, true
	}
	from := max(0, len(text)-maxTag)
	end := from + strings.LastIndexByte(text[from:], '>') + 1
	begin, ok = cutLast(text[:end])
	return begin, ok && text[begin] != '<'
}

// cutLast returns where the element begins in which a text ends, with its banner.
func cutLast(text string) (begin int, ok bool) {
	if !strings.HasSuffix(text, ">") {
		return 0, false
	}
	end := strings.LastIndex(text, "</")
	if end < 0 {
		return 0, false
	}
	name := text[end+len("</") : len(text)-1]
	element, isKnown := known().elements[name]
	if !isKnown { // a name may be as long as the text
		return 0, false
	}
	begin = strings.LastIndex(text[:end], "<"+name)
	if begin < 0 {
		return 0, false
	}
	if _, rest, whole := cutElement(text[begin:]); !whole || rest != "" {
		return 0, false
	}
	if element.Kind == agents.Wraps {
		return begin, true
	}
	return bannerBefore(text, begin)
}

// bannerBefore returns where the banner stands that belongs to an element.
func bannerBefore(text string, element int) (at int, ok bool) {
	from := max(0, element-maxPreamble)
	head := strings.TrimRight(text[from:element], blank)
	for end := len(head); end > 0; {
		line := strings.LastIndexByte(head[:end], '\n') + 1
		switch {
		case (line > 0 || from == 0) && hasBanner(head[line:]):
			return from + line, true
		case head[line] == '<':
			return 0, false // prose of something else
		}
		end = line - 1
	}
	return 0, false
}

// hasBanner reports whether a text begins with a line that says that no user wrote what
// follows.
func hasBanner(text string) bool {
	if text == "" {
		return false
	}
	if text[0] == '[' {
		line, _, _ := strings.Cut(text[:min(len(text), maxTag)], "\n")
		if end := strings.IndexByte(line, ']'); end >= 0 && strings.TrimSpace(line[end+1:]) == "" {
			return strings.Contains(strings.ToLower(line), "not user input")
		}
		return false
	}
	return hasPrefix(text, known().banners)
}

// reports tells whether a text begins with the line of a report.
func reports(text string) bool {
	for _, f := range known().reporting {
		if len(text) >= len(f.Text) && strings.EqualFold(text[:len(f.Text)], f.Text) {
			return true
		}
	}
	return false
}

func hasPrefix(text string, facts []agents.Fact) bool {
	for i := range facts {
		if strings.HasPrefix(text, facts[i].Text) {
			return true
		}
	}
	return false
}

// blank is white space, and the zero bytes that separate the parts of a message.
const blank = " \t\r\n\x00"

func trim(text string) string { return strings.Trim(text, blank) }
