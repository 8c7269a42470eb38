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
	elements                     map[string]agents.Element
	banners, trailers, reporting []agents.Fact
	headings                     []string  // whole lines
	begins                       [256]bool // the bytes with which an automatic text begins
}

// known are the facts, put together once.
var known = sync.OnceValue(func() *facts { //nolint:gochecknoglobals // facts
	k := &facts{
		elements:  make(map[string]agents.Element),
		banners:   agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Banners }),
		trailers:  agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Trailers }),
		reporting: agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Reports }),
	}
	for _, f := range agents.Collect(func(a *agents.Agent) []agents.Fact { return a.Headings }) {
		k.headings = append(k.headings, f.Text+"\n")
	}
	for _, e := range agents.Collect(func(a *agents.Agent) []agents.Element { return a.Elements }) {
		k.elements[e.Name] = e
	}
	k.begins['<'], k.begins['['] = true, true
	for _, f := range k.banners {
		k.begins[f.Text[0]] = true
	}
	return k
})

// Is reports whether the agent has written a whole text: it consists only of known
// elements, with a banner before them or a trailer behind them.
func Is(text string) bool {
	return mayBe(text) && read(text, func(Part) bool { return true })
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

// Parts calls yield for the parts of an automatic text, in order, those inside of
// reminders included, until it returns false. It does nothing for any other text.
func Parts(text string, yield func(Part) bool) {
	if !Is(text) {
		return
	}
	read(text, func(p Part) bool {
		if known().elements[p.Name].Kind != agents.Wraps {
			return yield(p)
		}
		goesOn := true
		switch {
		case Is(p.Body):
			read(p.Body, func(inner Part) bool {
				goesOn = yield(inner)
				return goesOn
			})
		case reports(trim(p.Body)):
			goesOn = yield(Part{Body: trim(p.Body), Reports: true})
		}
		return goesOn
	})
}

// read reads the parts of a text, and reports whether the text has nothing else.
func read(text string, yield func(Part) bool) bool {
	rest, found := trim(text), false
	for rest != "" {
		var part Part
		var ok bool
		switch {
		case rest[0] == '<' && !strings.HasPrefix(rest, "<!"):
			part, rest, ok = cutElement(rest)
		case reports(rest) && rest[0] == '[':
			part, rest, ok = cutLines(rest)
		case hasBanner(rest):
			part, rest, ok = cutPreamble(rest)
		case found && hasPrefix(rest, known().trailers):
			rest = trim(after(rest, "\n\n", "\x00", "\n<"))
			continue
		}
		if !ok || !yield(part) {
			return false
		}
		rest, found = trim(rest), true
	}
	return found
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
	p.Body, rest, ok = strings.Cut(inside[open+1:], "</"+p.Name+">")
	return p, rest, ok
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
	return strings.IndexByte(text, '>')
}

// cutPreamble cuts a banner, the prose behind it, and the element behind that.
func cutPreamble(text string) (p Part, rest string, ok bool) {
	at := strings.Index(text[:min(len(text), maxPreamble)], "\n<")
	if at < 0 {
		return p, text, false
	}
	return cutElement(text[at+1:])
}

// cutLines cuts the first paragraph of a text, which reports.
func cutLines(text string) (p Part, rest string, ok bool) {
	rest = after(text, "\n\n", "\x00")
	body := text[:len(text)-len(rest)]
	line, more, _ := strings.Cut(trim(body), "\n")
	ok = strings.HasSuffix(strings.TrimSpace(line), "]") && (more == "" || reports(trim(more)))
	return Part{Body: body, Reports: true}, rest, ok
}

// after returns what follows in a text from the first of some marks on. It looks no further
// than that mark: a text may have as many as it likes.
func after(text string, marks ...string) string {
	for at := range len(text) {
		for _, mark := range marks {
			if text[at] == mark[0] && strings.HasPrefix(text[at:], mark) {
				return text[at:]
			}
		}
	}
	return ""
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
		before, ok := cutLast(cutTrailer(strings.TrimRight(end[:start], blank)))
		if !ok {
			break
		}
		start = before
	}
	return end[start:]
}

// cutTrailer cuts the last paragraph of a text if it is a trailer.
func cutTrailer(text string) string {
	at := strings.LastIndex(text[max(0, len(text)-maxPreamble):], "\n\n")
	if at < 0 {
		return text
	}
	at += max(0, len(text)-maxPreamble)
	if !hasPrefix(text[at+len("\n\n"):], known().trailers) {
		return text
	}
	return strings.TrimRight(text[:at], blank)
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
